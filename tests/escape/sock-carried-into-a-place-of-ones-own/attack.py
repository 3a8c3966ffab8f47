import os

from attack import attempt, call
from attack_socket import reach

private = os.environ.get("PRIVATE", "own")
os.mkdir(private)
MOUNT = {"x86_64": 165, "aarch64": 40}[os.uname().machine]


def carry(how, name):
    how(name, f"{private}/{name}")
    reach(f"{private}/{name}/carried" if name == "dir" else f"{private}/{name}")


def mounted():
    """As root alone; others fail before."""
    open(f"{private}/over", "w").close()
    call(MOUNT, b"symlinked", f"{private}/over".encode(), None, 4096, None)
    try:
        reach(f"{private}/over")
    finally:
        call({165: 166, 40: 39}[MOUNT], f"{private}/over".encode(), 2)


attempt("rename", lambda: carry(os.rename, "renamed"))
attempt("link", lambda: carry(os.link, "linked"))
attempt("directory", lambda: carry(os.rename, "dir"))
attempt("symlink", lambda: carry(lambda old, new: os.symlink(os.path.abspath(old), new), "symlinked"))
attempt("bind-over", mounted)
