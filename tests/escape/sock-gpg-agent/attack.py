import socket
import sys

from attack import attempt
from attack_socket import SECONDS


def ask(name, question, answer):
    with socket.socket(socket.AF_UNIX) as agent:
        agent.settimeout(SECONDS)
        agent.connect(f"{sys.argv[1]}/{name}")
        if question:
            agent.sendall(question)
        if not agent.recv(256).startswith(answer):
            raise OSError(95, "another answer")


attempt("agent", lambda: ask("S.gpg-agent", b"", b"OK"))
attempt("extra", lambda: ask("S.gpg-agent.extra", b"", b"OK"))
attempt("ssh", lambda: ask("S.gpg-agent.ssh", b"\0\0\0\1\x0b", b"\0\0\0"))
