# Bare the peer is the attack itself, with which it may do as it likes.
import ctypes
import fcntl
import os
import socket
import struct

from attack import attempt, call

SO_PEERPIDFD = 77
PIDFD_GET_MNT_NAMESPACE = 0xFF03
SEND_SIGNAL, GET_FD, MADVISE = 424, 438, 440

private = os.environ.get("PRIVATE", "own")
os.mkdir(private)
listener = socket.socket(socket.AF_UNIX)
listener.bind(private + "/s")
listener.listen()
client = socket.socket(socket.AF_UNIX)
client.connect(private + "/s")
peer, _ = listener.accept()


def pidfd():
    return struct.unpack("i", peer.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD, 4))[0]


def advise():
    """MADV_COLD, of nothing."""
    vector = (ctypes.c_void_p * 2)(0, 0)
    call(MADVISE, pidfd(), vector, 1, 20, 0)


def by_number():
    pid = struct.unpack("iii", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    if pid == 0:  # it has no number here
        raise ProcessLookupError(3, "no such process")
    os.kill(pid, 0)


attempt("signal", lambda: call(SEND_SIGNAL, pidfd(), 0, None, 0))
attempt("descriptor", lambda: call(GET_FD, pidfd(), 0, 0))
attempt("memory", advise)
attempt("namespace", lambda: fcntl.ioctl(pidfd(), PIDFD_GET_MNT_NAMESPACE, 0))
attempt("by-number", by_number)
