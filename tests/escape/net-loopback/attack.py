# Services of the host's on the loopback interface, by each protocol and each call.
import ctypes
import errno
import os
import socket
import struct
import sys

from attack import alone, attempt, libc
from attack_socket import SECONDS, greeted, reach

tcp4, tcp6, wild, udp4, udp6, group, lite, multipath, sctp, dccp, smc = map(int, sys.argv[1:])
STREAM, DGRAM, V4, V6 = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.AF_INET, socket.AF_INET6
MPTCP, UDPLITE, SCTP, DCCP, SMC = 262, 136, 132, 33, 256
FASTOPEN, FASTOPEN_CONNECT = 0x20000000, 30
RECVERR4, RECVERR6 = (socket.IPPROTO_IP, 11), (socket.IPPROTO_IPV6, 25)  # that nobody is there
SILENCE = 0.2 if "ALONE" in os.environ else 10  # to nobody in a group
HERE4, HERE6 = ("127.0.0.1", tcp4), ("::1", tcp6)


def ask(address, family=V4, protocol=0, send=lambda one, address: one.sendto(b"?", address)):
    """A datagram, and the host's answer."""
    with socket.socket(family, DGRAM, protocol) as one:
        for option in (RECVERR4,) if family == V4 else (RECVERR4, RECVERR6):
            one.setsockopt(*option, 1)
        send(one, address)
        greeted(one, SILENCE)


def raw_address(address):
    return struct.pack("=H", V4) + struct.pack("!H", address[1]) + socket.inet_aton(address[0]) + b"\0" * 8


def by_sendmmsg(one, address):
    name = ctypes.create_string_buffer(raw_address(address), 16)
    part = (ctypes.c_void_p * 2)(ctypes.addressof(name), 1)
    head = (ctypes.c_void_p * 8)(ctypes.addressof(name), 16, ctypes.addressof(part), 1)
    if libc.sendmmsg(one.fileno(), head, 1, FASTOPEN if one.type == STREAM else 0) != 1:
        raise OSError(ctypes.get_errno(), "sendmmsg")


def connected(one, address):
    one.connect(address)
    one.send(b"?")


def at_first_byte(send):
    """A connection that the first bytes make: no connect(2)."""
    with socket.socket(V4, STREAM) as one:
        send(one, HERE4)
        greeted(one)


def late_connect():
    with socket.socket(V4, STREAM) as one:
        one.setsockopt(socket.IPPROTO_TCP, FASTOPEN_CONNECT, 1)
        connected(one, HERE4)
        greeted(one)


def not_blocking():
    with socket.socket(V4, STREAM | socket.SOCK_NONBLOCK) as one:
        number = one.connect_ex(HERE4)
        if number not in (0, errno.EINPROGRESS):
            raise OSError(number, "connect")
        one.settimeout(SECONDS)
        greeted(one)


def after_unspec():
    """Disconnected first, which needs no permission."""
    with socket.socket(V4, STREAM) as one:
        libc.connect(one.fileno(), b"\0" * 16, 16)
        one.connect(HERE4)
        greeted(one)


def wrong_family():
    """An address of IPv4 on a socket of IPv6, and the other way round."""
    with socket.socket(V6, STREAM) as one:
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        mapped = struct.pack("=H", V6) + struct.pack("!HI", tcp4, 0) + socket.inet_pton(V6, "::ffff:127.0.0.1") + b"\0" * 4
        if libc.connect(one.fileno(), mapped, len(mapped)):
            raise OSError(ctypes.get_errno(), "connect")
        greeted(one)


def to_group(one, address):
    one.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
    one.sendto(b"?", address)


def from_port(source):
    with socket.socket(V4, STREAM) as one:
        one.bind(("127.0.0.1", source))
        one.connect(HERE4)
        greeted(one)


def descended():
    """By a child, whose socket it is."""
    alone("child", lambda: reach(HERE4, V4))


attempt("tcp4", lambda: reach(HERE4, V4))
attempt("tcp6", lambda: reach(HERE6, V6))
attempt("mapped", lambda: reach(("::ffff:127.0.0.1", tcp4), V6))
attempt("mapped-raw", wrong_family)
attempt("any-address", lambda: reach(("0.0.0.0", wild), V4))
attempt("any-address6", lambda: reach(("::", tcp6), V6))
attempt("other-loopback", lambda: reach(("127.9.9.9", wild), V4))
attempt("not-blocking", not_blocking)
attempt("after-unspec", after_unspec)
attempt("bound-first", lambda: from_port(0))
descended()
attempt("fastopen-sendto", lambda: at_first_byte(lambda one, where: one.sendto(b"?", FASTOPEN, where)))
attempt("fastopen-sendmsg", lambda: at_first_byte(lambda one, where: one.sendmsg([b"?"], [], FASTOPEN, where)))
attempt("fastopen-sendmmsg", lambda: at_first_byte(by_sendmmsg))
attempt("fastopen-connect", late_connect)
attempt("mptcp", lambda: reach(("127.0.0.1", multipath), V4, protocol=MPTCP))
attempt("mptcp6", lambda: reach(("::ffff:127.0.0.1", multipath), V6, protocol=MPTCP))
attempt("sctp", lambda: reach(("127.0.0.1", sctp), V4, protocol=SCTP))
attempt("dccp", lambda: reach(("127.0.0.1", dccp), V4, 6, DCCP))
attempt("smc", lambda: reach(("127.0.0.1", smc), V4, protocol=SMC))
attempt("udp4", lambda: ask(("127.0.0.1", udp4)))
attempt("udp6", lambda: ask(("::1", udp6), V6))
attempt("udp-mapped", lambda: ask(("::ffff:127.0.0.1", udp4), V6))
attempt("udp-connected", lambda: ask(("127.0.0.1", udp4), send=connected))
attempt("udp-sendmsg", lambda: ask(("127.0.0.1", udp4), send=lambda one, where: one.sendmsg([b"?"], [], 0, where)))
attempt("udp-sendmmsg", lambda: ask(("127.0.0.1", udp4), send=by_sendmmsg))
attempt("udp-lite", lambda: ask(("127.0.0.1", lite), protocol=UDPLITE))
attempt("multicast", lambda: ask(("239.7.7.7", group), send=to_group))
