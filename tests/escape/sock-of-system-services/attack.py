import socket

from attack import attempt
from attack_services import KINDS, SYSTEM, SYSTEM_DATAGRAMS
from attack_socket import reach


def send(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.sendto(b"", path)


for name, path in SYSTEM.items():
    attempt(name, lambda: reach(path, kind=KINDS.get(name, socket.SOCK_STREAM)))
for name, path in SYSTEM_DATAGRAMS.items():
    attempt(name, lambda: send(path))
