import socket
import sys

server = socket.socket(socket.AF_UNIX)
server.bind("\0" + sys.argv[1])
server.listen()
server.settimeout(0.3)
try:
    print("taken", "done" if server.accept()[0].recv(9) == b"cookie" else "empty")
except TimeoutError:
    print("taken no")
