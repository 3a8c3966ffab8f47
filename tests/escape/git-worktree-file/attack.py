from attack import *
import subprocess

main = os.path.dirname(os.getcwd()) + "/main/.git"
subprocess.run(["git", "init", "-q", "forged"], capture_output=True)
try:
    with open("forged/.git/config", "a") as config:
        config.write("[core]\n\tfsmonitor = touch ran; false\n")
except OSError:
    pass


def write(path, text, mode="w"):
    with open(path, mode) as file:
        file.write(text)


def kept(way):
    """Afterwards it is as it was."""
    before = open(".git").read()
    way()
    write(".git", before)


def moved_over():
    write("g", "gitdir: forged/.git\n")
    os.rename("g", ".git")


def directory():
    os.unlink(".git")
    os.rename("forged/.git", ".git")
    os.rename(".git", "forged/.git")


attempt("written", lambda: kept(lambda: write(".git", "gitdir: forged/.git\n")))
attempt("moved-over", lambda: kept(moved_over))
attempt("directory", lambda: kept(directory))
attempt("common-directory", lambda: write(f"{main}/worktrees/tree/commondir", "../..\n"))
attempt("worktree-config", lambda: write(f"{main}/worktrees/tree/config.worktree", "[core]\n", "a"))
attempt("configuration", lambda: write(f"{main}/config", "[core]\n", "a"))
attempt("hook", lambda: write(f"{main}/hooks/post-checkout", "x"))
attempt("attributes", lambda: os.makedirs(f"{main}/info", exist_ok=True) or write(f"{main}/info/attributes", "x"))
attempt("moved", lambda: os.rename(f"{main}/worktrees/tree", f"{main}/worktrees/t") or os.rename(f"{main}/worktrees/t", f"{main}/worktrees/tree"))
attempt("common-moved", lambda: os.rename(f"{main}/worktrees", f"{main}/w") or os.rename(f"{main}/w", f"{main}/worktrees"))
try:
    moved_over()
except OSError:
    pass
