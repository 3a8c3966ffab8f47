# What a client says first; a server that takes it lets it see every key pressed.
import os
import socket
import sys

from attack import attempt
from attack_socket import SECONDS


def greet(name):
    with socket.socket(socket.AF_UNIX) as server:
        server.settimeout(SECONDS)
        server.connect(name)
        server.sendall(b"l\0\x0b\0\0\0\0\0\0\0\0\0")
        if server.recv(8)[:1] != b"\1":
            raise OSError(13, "the server does not take us")


path = f"/tmp/.X11-unix/X{sys.argv[1]}"
attempt("path", lambda: greet(path))
attempt("abstract", lambda: greet("\0" + path))
attempt("cookie", lambda: open(os.path.expanduser("~/.Xauthority")).close())
