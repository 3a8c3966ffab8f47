#!/usr/bin/python3
"""What listens on this side, as services of a host do: loopback, abstract names, paths,
netlink; and at 127.0.0.1:3128 a proxy without rules, which resolves whatever it is told
to the first NUL or blank.  usage: here.py DIR"""
import ctypes
import os
import pathlib
import re
import signal
import socket
import struct
import sys

from arrivals import Arrivals, bound, start

ABSTRACT, NETLINK_ID = "\0sbx-world", 4242
PATHS = ["/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve", "/tmp/world/socket"]


def relay(one, other):
    try:
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def connect(client, host, port, yes, no):
    host = re.split(rb"[\0 ]", host)[0].decode("latin-1")
    try:
        upstream = socket.create_connection((host, port), 5)
    except (OSError, UnicodeError):
        client.sendall(no)
        return
    client.sendall(yes)
    start(relay, upstream, client)
    relay(client, upstream)


def serve(client):
    """SOCKS5 with names, CONNECT, and absolute-form GET."""
    first = client.recv(1)
    if first == b"\x05":
        client.recv(client.recv(1)[0])
        client.sendall(b"\x05\x00")
        head = client.recv(5)
        name = client.recv(head[4])
        port, = struct.unpack("!H", client.recv(2))
        return connect(client, name, port, b"\x05\0\0\x01\0\0\0\0\0\0", b"\x05\x04\0\x01\0\0\0\0\0\0")
    head = first
    while b"\r\n\r\n" not in head:
        data = client.recv(1)
        if not data:
            return None
        head += data
    target = head.split(b"\r\n")[0].split(b" ", 1)[1].rpartition(b" ")[0]
    if head.startswith(b"CONNECT"):
        host, _, port = target.rpartition(b":")
        number = int(port) if port.isdigit() else 443
        return connect(client, host.strip(b"[]"), number, b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 502 No\r\n\r\n")
    host = target.split(b"/")[2]
    upstream = socket.create_connection((host.decode(), 80), 5)
    upstream.sendall(head)
    relay(upstream, client)
    return client.close()


def proxy(listener):
    def one(client):
        try:
            serve(client)
        except (OSError, IndexError, ValueError):
            client.close()
    listener.listen(64)
    while True:
        start(one, listener.accept()[0])


def main():
    place = pathlib.Path(sys.argv[1])
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    arrivals = Arrivals(place / "arrivals")
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        arrivals.listen(bound(family, socket.SOCK_STREAM, (address, 5432)), "loopback")
        arrivals.receive(bound(family, socket.SOCK_DGRAM, (address, 5432)), "loopback")
    arrivals.listen(bound(socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", 9999)), "any")
    arrivals.listen(bound(socket.AF_UNIX, socket.SOCK_STREAM, ABSTRACT), "abstract")
    arrivals.receive(bound(socket.AF_UNIX, socket.SOCK_DGRAM, ABSTRACT + "-datagrams"), "abstract")
    for path in map(pathlib.Path, PATHS):
        path.parent.mkdir(parents=True, exist_ok=True)
        arrivals.listen(bound(socket.AF_UNIX, socket.SOCK_STREAM, str(path)), "path")
        os.chmod(path, 0o666)
    arrivals.receive(bound(socket.AF_NETLINK, socket.SOCK_RAW, (NETLINK_ID, 0), 2), "netlink")  # NETLINK_USERSOCK
    start(proxy, bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 3128)))
    print("ready", flush=True)
    sys.stdin.read()


main()
