"""A DNS server, over UDP and TCP, that writes down each name it is asked for."""
import os
import socket
import struct

from arrivals import bound, start
from names import HOSTS, OTHER_RESOLVER, RESOLVER, lookup

A, AAAA = 1, 28


def question(packet):
    """The name asked for, its type, and where the question ends."""
    labels, at = [], 12
    while packet[at]:
        labels.append(packet[at + 1:at + 1 + packet[at]].decode("latin-1").lower())
        at += 1 + packet[at]
    return ".".join(labels), struct.unpack_from("!H", packet, at + 1)[0], at + 5


def answer(packet, log):
    name, kind, end = question(packet)
    os.write(log, f"{name!a}\n".encode())
    address = lookup(name)
    record = b""
    if address and kind == (AAAA if ":" in address else A):
        packed = socket.inet_pton(socket.AF_INET6 if kind == AAAA else socket.AF_INET, address)
        record = struct.pack("!HHHIH", 0xC00C, kind, 1, 60, len(packed)) + packed
    flags = 0x8180 | (0 if address else 3)
    return packet[:2] + struct.pack("!HHHHH", flags, 1, bool(record), 0, 0) + packet[12:end] + record


def serve_udp(server, log):
    while True:
        packet, peer = server.recvfrom(4096)
        try:
            server.sendto(answer(packet, log), peer)
        except (IndexError, struct.error):
            pass


def serve_tcp(server, log):
    while True:
        connection = server.accept()[0]
        start(serve_connection, connection, log)


def serve_connection(connection, log):
    with connection, connection.makefile("rb") as reader:
        try:
            while len(length := reader.read(2)) == 2:
                reply = answer(reader.read(struct.unpack("!H", length)[0]), log)
                connection.sendall(struct.pack("!H", len(reply)) + reply)
        except (IndexError, struct.error, OSError):
            pass


def serve(path):
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    # Bound one by one: what answers has to be the address that was asked.
    for address in (RESOLVER, OTHER_RESOLVER, HOSTS["six.test"]):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        start(serve_udp, bound(family, socket.SOCK_DGRAM, (address, 53)), log)
        listener = bound(family, socket.SOCK_STREAM, (address, 53))
        listener.listen(16)
        start(serve_tcp, listener, log)
