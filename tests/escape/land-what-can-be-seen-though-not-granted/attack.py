import ctypes
import os

from attack import attempt, libc

ssh = os.path.expanduser("~/.ssh")


def access():
    if not os.access(f"{ssh}/id", os.R_OK):
        os.stat(f"{ssh}/id")
        raise OSError(13, "not readable")


def enter():
    os.chdir(ssh)
    os.chdir("/")


def watch():
    one = libc.inotify_init1(0)
    if libc.inotify_add_watch(one, ssh.encode(), 0xfff) < 0:
        raise OSError(ctypes.get_errno(), "inotify")


attempt("stat", lambda: os.stat(f"{ssh}/id"))
attempt("access", access)
attempt("readlink", lambda: os.readlink(f"{ssh}/link"))
attempt("enter", enter)
attempt("path", lambda: os.close(os.open(f"{ssh}/id", os.O_PATH)))
attempt("watch", watch)
attempt("statfs", lambda: os.statvfs(f"{ssh}/id"))
attempt("list", lambda: os.listdir(ssh))
attempt("read", lambda: open(f"{ssh}/id").close())
