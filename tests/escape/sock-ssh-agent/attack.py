# The protocol of ssh-agent: which keys there are, a signature, and a lock that keeps
# the user out (draft-miller-ssh-agent).
import socket
import struct
import sys

from attack import attempt
from attack_socket import SECONDS


def text(value):
    return struct.pack(">I", len(value)) + value


def ask(path, request):
    with socket.socket(socket.AF_UNIX) as agent:
        agent.settimeout(SECONDS)
        agent.connect(path)
        agent.sendall(text(request))
        size = struct.unpack(">I", agent.recv(4))[0]
        return agent.recv(size)


def list_keys(path):
    answer = ask(path, b"\x0b")
    if answer[0] != 12 or struct.unpack(">I", answer[1:5])[0] != 1:
        raise OSError(2, "no key")
    size = struct.unpack(">I", answer[5:9])[0]
    return answer[9:9 + size]


def sign(path):
    if ask(path, b"\x0d" + text(list_keys(path)) + text(b"let me in") + b"\0\0\0\0")[0] != 14:
        raise OSError(1, "it does not sign")


def lock(path):
    if ask(path, b"\x16" + text(b"mine now"))[0] != 6:
        raise OSError(1, "it does not lock")


for where, path in zip(("tmp", "home", "workspace"), sys.argv[1:]):
    attempt(f"list-{where}", lambda: list_keys(path))
    attempt(f"sign-{where}", lambda: sign(path))
attempt("lock-workspace", lambda: lock(sys.argv[3]))
