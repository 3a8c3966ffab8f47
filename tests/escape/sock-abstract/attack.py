import socket
import sys

from attack import attempt
from attack_socket import greeted, reach

mark = sys.argv[1]


def not_blocking():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as one:
        one.connect("\0" + mark)
        greeted(one)


def datagram():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.sendto(b"", f"\0{mark}-datagrams")


def bound():
    """It has a name of its own, which the kernel gives it."""
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("")
        one.connect("\0" + mark)
        greeted(one)


attempt("name", lambda: reach("\0" + mark))
attempt("zero-at-end", lambda: reach(f"\0{mark}\0"))
attempt("zero-within", lambda: reach(f"\0{mark}\0x"))
attempt("zeros-before", lambda: reach(f"\0\0\0{mark}"))
attempt("all-of-it", lambda: reach("\0" + mark.ljust(107, "x")))
attempt("like-a-path", lambda: reach(f"\0/run/user/{mark}"))
attempt("packets", lambda: reach(f"\0{mark}-packets", kind=socket.SOCK_SEQPACKET))
attempt("not-blocking", not_blocking)
attempt("datagram", datagram)
attempt("bound-itself", bound)
