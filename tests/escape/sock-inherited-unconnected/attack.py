import socket
import sys

from attack import attempt

attempt("sendto", lambda: socket.socket(fileno=0).sendto(b"", sys.argv[1]))
