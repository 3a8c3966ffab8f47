"""What arrived where.  Each attempt to get out carries a token of its own; whoever
receives one writes a line, `PLACE TOKEN`."""
import os
import re
import socket
import threading

TOKEN = re.compile(rb"tok[0-9a-f]{13}")


class Arrivals:
    def __init__(self, path):
        self.fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def note(self, place, data):
        for token in TOKEN.findall(data):
            os.write(self.fd, f"{place} {token.decode()}\n".encode())

    def sniff(self, interface):
        """Every frame that comes in from outside of this namespace."""
        packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        packets.bind((interface, 0))
        start(self._receive, packets, "wire")

    def listen(self, listener, place):
        """Takes connections, answers each with a word, and notes what it reads."""
        listener.listen(64)
        start(self._accept, listener, place)

    def receive(self, datagrams, place):
        start(self._receive, datagrams, place)

    def _receive(self, datagrams, place):
        while True:
            data, peer = datagrams.recvfrom(65536)
            self.note(place, data)
            if datagrams.family in (socket.AF_INET, socket.AF_INET6):
                datagrams.sendto(b"welcome", peer)

    def _accept(self, listener, place):
        while True:
            connection = listener.accept()[0]
            start(self._read, connection, place)

    def _read(self, connection, place):
        try:
            connection.sendall(b"welcome\n")
            while data := connection.recv(65536):
                self.note(place, data)
        except OSError:
            pass
        connection.close()


def start(function, *arguments):
    threading.Thread(target=function, args=arguments, daemon=True).start()


def bound(family, kind, address, protocol=0):
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    made.bind(address)
    return made
