# Whatever the program says that it listens at, it is visited, and told so.
import os
import socket
import time

from attack_socket import GREETING

print("ready", flush=True)
seen = set()
while True:
    for name in sorted(os.listdir(".")):  # "at-workspace" is the last
        if not name.startswith("at-") or name in seen:
            continue
        kind, _, where = open(name).read().partition(" ")
        if not where.endswith("\n"):
            continue
        where = where.strip()
        seen.add(name)
        family = {"tcp": socket.AF_INET, "tcp6": socket.AF_INET6, "udp": socket.AF_INET}.get(kind, socket.AF_UNIX)
        one = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
        try:
            if family == socket.AF_UNIX:
                one.connect("\0" + where[1:] if where[0] == "@" else where)
            else:
                one.connect(("::1" if kind == "tcp6" else "127.0.0.1", int(where)))
            one.send(GREETING)
        except OSError:
            pass
    time.sleep(0.005)
