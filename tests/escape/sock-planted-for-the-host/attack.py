import os
import socket

from attack import attempt


def take(name):
    socket.socket(socket.AF_UNIX).bind(name)


def unlinked():
    os.unlink("agent.sock")
    take("agent.sock")


def renamed():
    os.rename("other.sock", "old")
    take("other.sock")


def directory():
    os.rename("dir", "old-dir")
    os.mkdir("dir")
    take("dir/in.sock")


attempt("unlink", unlinked)
attempt("rename", renamed)
attempt("directory", directory)
attempt("absent", lambda: take("later.sock"))
attempt("fifo", lambda: os.mkfifo("later.fifo"))
