from attack import *
import shutil
import subprocess


def forged(path):
    """A repository of our own, which runs a command."""
    subprocess.run(["git", "init", "-q", path], check=True, capture_output=True)
    with open(f"{path}/.git/config", "a") as file:
        file.write("[core]\n\tfsmonitor = touch ran; false\n")
    return f"{path}/.git"


def linked():
    forged("l")
    os.rename(".git", "g2")
    os.symlink("l/.git", ".git")
    os.unlink(".git")
    os.rename("g2", ".git")


def file():
    forged("f")
    os.rename(".git", "g3")
    with open(".git", "w") as text:
        text.write("gitdir: f/.git\n")
    os.unlink(".git")
    os.rename("g3", ".git")


attempt("moved", lambda: os.rename(".git", "g") or os.rename("g", ".git"))
attempt("exchanged", lambda: libcall("renameat2", -100, forged("e").encode(), -100, b".git", 2))
attempt("link", linked)
attempt("file", file)
attempt("removed", lambda: shutil.rmtree(".git"))
try:
    os.rename(forged("n"), ".git")
except OSError:
    pass
