import os
import socket
import sys

from attack import attempt
from attack_socket import greeted

service, log, port = sys.argv[1:]
_, fds, _, _ = socket.recv_fds(socket.socket(fileno=0), 1, 5)
home, file, *sockets = fds
stream, internet, datagram = [socket.socket(fileno=fd) for fd in sockets]


def connect(one, address):
    one.connect(address)
    greeted(one)


attempt("directory", lambda: os.close(os.open(".ssh/id", os.O_RDONLY, dir_fd=home)))
attempt("file", lambda: open(f"/proc/self/fd/{file}", "r+").close())
attempt("stream", lambda: connect(stream, service))
attempt("internet", lambda: connect(internet, ("127.0.0.1", int(port))))
attempt("datagram", lambda: datagram.sendto(b"", log))
