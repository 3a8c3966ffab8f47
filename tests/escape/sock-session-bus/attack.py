# The bus is asked, in its own words, to start a program or say who is there.
import os
import socket
import sys

from attack import attempt
from attack_socket import SECONDS


def ask(address):
    kind, _, rest = address.partition(":")[2].partition("=")
    name = rest.split(",")[0]
    with socket.socket(socket.AF_UNIX) as bus:
        bus.settimeout(SECONDS)
        bus.connect("\0" + name if kind == "abstract" else name)
        bus.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        if not bus.recv(256).startswith(b"OK"):
            raise OSError(95, "the bus does not take us")


for variant, address in zip(("path", "tmp", "abstract"), sys.argv[1:]):
    attempt(variant, lambda: ask(address))
