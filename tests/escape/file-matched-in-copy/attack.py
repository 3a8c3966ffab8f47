from attack import *

TOP = os.path.expanduser("~/kept")


def read(path):
    with open(f"{TOP}/{path}") as file:
        assert file.read() == "KEY\n"


def moved():
    os.rename(f"{TOP}/a/b", f"{TOP}/a/c")
    os.rename(f"{TOP}/a/c", f"{TOP}/a/b")


attempt("any-depth", lambda: read("a/b/key"))
attempt("one-component", lambda: read("a/token"))
attempt("directory", lambda: read("x/inside"))
attempt("opened-again", lambda: read("shut/open/key"))
attempt("through-link", lambda: read("name.pem"))
attempt("write", lambda: open(f"{TOP}/a/b/hook", "w").close())
attempt("ancestor-moved", moved)
