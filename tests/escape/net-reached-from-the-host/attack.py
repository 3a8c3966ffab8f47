import os
import socket

from attack import name_of
from attack_socket import GREETING

V4, V6, LOCAL = socket.AF_INET, socket.AF_INET6, socket.AF_UNIX
private = os.environ.get("PRIVATE", "own")
os.mkdir(private)


def listen(variant, kind, family, address, bind=True):
    """Listens, and says where; the socket, or None."""
    try:
        one = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if bind:
            one.bind(address)
        if kind != "udp":
            one.listen()
    except OSError as error:
        print(variant, name_of(error.errno), flush=True)
        return None
    where = one.getsockname() if family == LOCAL else one.getsockname()[1]
    if isinstance(where, bytes):
        where = "@" + where[1:].decode()
    with open(f"at-{variant}", "w") as file:
        file.write(f"{kind} {where}\n")
    return one


def visited(variant, one, seconds):
    one.settimeout(seconds)
    try:
        text = one.recv(64) if one.type == socket.SOCK_DGRAM else one.accept()[0].recv(64)
    except OSError:
        text = b""
    print(variant, "done" if text == GREETING else "no", flush=True)


listeners = {
    "tcp-granted": listen("tcp-granted", "tcp", V4, ("", 18081)),
    "tcp-other": listen("tcp-other", "tcp", V4, ("", 18082)),
    "tcp-any-port": listen("tcp-any-port", "tcp", V4, None, bind=False),
    "tcp6-other": listen("tcp6-other", "tcp6", V6, ("::", 18083)),
    "udp": listen("udp", "udp", V4, ("", 18082)),
    "abstract": listen("abstract", "local", LOCAL, f"\0escape-listens-{os.getpid()}-{os.getcwd()}"),
    "private": listen("private", "local", LOCAL, os.path.abspath(f"{private}/listens.sock")),
    # The last to be visited: then all the others have been.
    "workspace": listen("workspace", "local", LOCAL, os.path.abspath("listens.sock")),
}
visited("workspace", listeners.pop("workspace"), 5)
for variant, one in listeners.items():
    if one:
        visited(variant, one, 0.01)
