# Datagram sockets of the local family, however they are made.
import ctypes
import errno
import os
import socket
import sys
import time

from attack import attempt, call, libc
from attack_socket import GREETING

path = sys.argv[1]
SOCKET, SOCKETPAIR = {"x86_64": (41, 53), "aarch64": (198, 199)}[os.uname().machine]
UNIX, DGRAM, RAW = socket.AF_UNIX, socket.SOCK_DGRAM, socket.SOCK_RAW
count = 0


def received(send):
    """The host writes into the file that the datagram names."""
    global count
    count += 1
    name = f"{os.getcwd()}/answer{count}"
    send(name.encode())
    end = time.time() + 2
    while time.time() < end:
        if os.path.exists(name) and os.path.getsize(name) == len(GREETING):
            return
        time.sleep(0.002)
    raise OSError(errno.ENOMSG, "nobody had it")


def from_one(kind):
    with socket.socket(UNIX, kind) as one:
        received(lambda text: one.sendto(text, path))


def message(text):
    with socket.socket(UNIX, DGRAM) as one:
        one.sendmsg([text], [], 0, path)


def messages(text):
    """sendmmsg(2), one of them."""
    with socket.socket(UNIX, DGRAM) as one:
        address = ctypes.create_string_buffer((1).to_bytes(2, "little") + path.encode())
        words = ctypes.create_string_buffer(text, len(text))
        part = (ctypes.c_void_p * 2)(ctypes.addressof(words), len(text))
        head = (ctypes.c_void_p * 8)(ctypes.addressof(address), len(address), ctypes.addressof(part), 1)
        if libc.sendmmsg(one.fileno(), head, 1, 0) != 1:
            raise OSError(ctypes.get_errno(), "sendmmsg")


def connected(text):
    with socket.socket(UNIX, DGRAM) as one:
        one.connect(path)
        one.send(text)


def from_pair(kind, prepare=lambda one: None):
    one, other = socket.socketpair(UNIX, kind)
    prepare(one)
    received(lambda text: one.sendto(text, path))
    other.close()


def by_number(*words):
    one = socket.socket(fileno=call(SOCKET, *words))
    received(lambda text: one.sendto(text, path))


def pair_by_number():
    fds = (ctypes.c_int * 2)()
    call(SOCKETPAIR, UNIX | 1 << 33, DGRAM | 1 << 35, 0, fds)
    one = socket.socket(fileno=fds[0])
    received(lambda text: one.sendto(text, path))


attempt("sendto", lambda: from_one(DGRAM))
attempt("sendmsg", lambda: received(message))
attempt("sendmmsg", lambda: received(messages))
attempt("connected", lambda: received(connected))
attempt("raw", lambda: from_one(RAW))
attempt("pair", lambda: from_pair(DGRAM))
attempt("pair-raw", lambda: from_pair(RAW))
attempt("pair-bound", lambda: from_pair(DGRAM, lambda one: one.bind("bound")))
attempt("pair-unbound", lambda: from_pair(DGRAM, lambda one: libc.connect(one.fileno(), b"\0" * 16, 16)))
attempt("with-flags", lambda: from_one(DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK))
attempt("wide", lambda: by_number(UNIX | 1 << 32, DGRAM | 1 << 32, 1 << 32))
attempt("wide-pair", pair_by_number)
attempt("protocol", lambda: by_number(UNIX, DGRAM, 1))
