"""For attacks on sockets: listeners on the host, which greet, and what counts as reached."""
import errno
import os
import socket
import threading

GREETING = b"the host's"
SECONDS = 2


def _greet(listener, greeting):
    while True:
        connection, _ = listener.accept()
        try:
            connection.sendall(greeting)
        except OSError:
            pass
        connection.close()


def _answer(listener, greeting):
    """Datagrams carry where to answer: the name of a FIFO or file, or nothing."""
    while True:
        text, sender = listener.recvfrom(4096)
        if listener.family != socket.AF_UNIX:
            listener.sendto(greeting, sender)
        elif text:
            with open(text.decode(), "w") as file:
                file.write(greeting.decode())


def serve(family, address, kind=socket.SOCK_STREAM, protocol=0, greeting=GREETING):
    """A listener of the host's at @address, or any port of it; the socket."""
    listener = socket.socket(family, kind, protocol)
    if family == socket.AF_INET6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    if family == socket.AF_UNIX and address[:1] not in ("\0", b"\0"):
        os.makedirs(os.path.dirname(os.path.abspath(address)), exist_ok=True)
    listener.bind(address)
    stream = kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET)
    if stream:
        listener.listen(64)
    threading.Thread(target=_greet if stream else _answer, args=(listener, greeting), daemon=True).start()
    return listener


def serve_path(path, kind=socket.SOCK_STREAM, greeting=GREETING):
    return serve(socket.AF_UNIX, path, kind, greeting=greeting)


def wait(*words):
    """Tells the suite that the attack can begin, with these words; until it ends."""
    print("ready", *words, flush=True)
    threading.Event().wait()


def greeted(connection, seconds=SECONDS):
    """Raises OSError unless it is the host's listener that answers."""
    connection.settimeout(seconds)
    try:
        text = connection.recv(64)
    except TimeoutError:
        text = b""
    if text != GREETING:
        raise OSError(errno.ENOMSG, "something answers, but not the host")


def reach(address, family=socket.AF_UNIX, kind=socket.SOCK_STREAM, protocol=0):
    """Connects, and is greeted by the host."""
    with socket.socket(family, kind, protocol) as connection:
        connection.settimeout(SECONDS)
        connection.connect(address)
        greeted(connection)
