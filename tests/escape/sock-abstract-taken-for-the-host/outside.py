# A client of the host's, which gives its secret to whom it finds at the name.
import os
import socket
import time

name = f"escape-display-{os.getpid()}"
print("ready", name, flush=True)
while True:
    with socket.socket(socket.AF_UNIX) as one:
        try:
            one.connect("\0" + name)
            one.sendall(b"cookie")
        except OSError:
            pass
    time.sleep(0.01)
