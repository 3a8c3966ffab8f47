# connect(2) is made outside: by one that may do more than the program.
import os
import socket

from attack import attempt

place = os.environ.get("TMPDIR", "/tmp")


def connects(family, kind, address):
    with socket.socket(family, kind) as one:
        one.connect(address)


os.umask(0o777)
closed = socket.socket(socket.AF_UNIX)
closed.bind(f"{place}/closed")
closed.listen()
attempt("mode-0", lambda: connects(socket.AF_UNIX, socket.SOCK_STREAM, f"{place}/closed"))
attempt("netlink-of-a-process", lambda: connects(socket.AF_NETLINK, socket.SOCK_RAW, (os.getppid() + 1, 0)))
attempt("netlink-groups", lambda: connects(socket.AF_NETLINK, socket.SOCK_RAW, (0, 1)))
