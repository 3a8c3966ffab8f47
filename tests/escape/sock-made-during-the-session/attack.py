import os
import socket
import time

from attack import attempt
from attack_socket import reach

own = socket.socket(socket.AF_UNIX)
own.bind("mine.sock")
own.listen()
open("begun", "w").close()
while not os.path.exists("made"):
    time.sleep(0.005)
attempt("made", lambda: reach(".vscode-ipc.sock"))
attempt("renamed", lambda: reach("daemon.sock"))
attempt("linked", lambda: reach(".watchman/sock"))
attempt("in-place-of-ones-own", lambda: reach("mine.sock"))
