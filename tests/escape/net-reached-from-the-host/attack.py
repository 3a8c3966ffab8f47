import os
import socket

from attack import name_of
from attack_socket import GREETING

V4, V6, LOCAL = socket.AF_INET, socket.AF_INET6, socket.AF_UNIX
private = os.environ.get("PRIVATE", "own")
os.mkdir(private)


def visited(variant, kind, family, address, bind=True):
    """Listens, says where, and waits for the host."""
    try:
        one = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if bind:
            one.bind(address)
        if kind != "udp":
            one.listen()
        where = one.getsockname() if family == LOCAL else one.getsockname()[1]
        if isinstance(where, bytes):
            where = "@" + where[1:].decode()
        with open(f"at-{variant}", "w") as file:
            file.write(f"{kind} {where}\n")
        one.settimeout(0.25)
        text = one.recv(64) if kind == "udp" else one.accept()[0].recv(64)
        print(variant, "done" if text == GREETING else "no", flush=True)
    except TimeoutError:
        print(variant, "no", flush=True)
    except OSError as error:
        print(variant, name_of(error.errno), flush=True)


visited("tcp-granted", "tcp", V4, ("", 18081))
visited("tcp-other", "tcp", V4, ("", 18082))
visited("tcp-any-port", "tcp", V4, None, bind=False)
visited("tcp6-other", "tcp6", V6, ("::", 18083))
visited("udp", "udp", V4, ("", 18082))
visited("abstract", "local", LOCAL, f"\0escape-listens-{os.getpid()}-{os.getcwd()}")
visited("workspace", "local", LOCAL, os.path.abspath("listens.sock"))
visited("private", "local", LOCAL, os.path.abspath(f"{private}/listens.sock"))
