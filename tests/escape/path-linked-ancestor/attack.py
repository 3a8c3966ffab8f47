from attack import *

home = os.environ["HOME"]


def read(path, at=None):
    file = os.open(path, os.O_RDONLY, dir_fd=at)
    assert os.read(file, 9) == b"KEY\n"
    os.close(file)


def beside(way):
    """Through a descriptor of the directory."""
    read("creds", os.open(way, os.O_PATH | os.O_DIRECTORY))


def from_inside():
    os.chdir(f"{home}/.claude")
    read("./creds")


def from_below():
    os.makedirs(f"{home}/dotfiles/claude/sub", exist_ok=True)
    read("../creds", os.open(f"{home}/.claude/sub", os.O_PATH))


def own_link():
    os.path.lexists(f"{home}/dotfiles/l") or os.symlink(f"{home}/.claude", f"{home}/dotfiles/l")
    try:
        read(f"{home}/dotfiles/l/creds")
    finally:
        os.unlink(f"{home}/dotfiles/l")


attempt("literal", lambda: read(f"{home}/.claude/creds"))
attempt("target", lambda: read(f"{home}/dotfiles/claude/creds"))
attempt("dots", lambda: read(f"{home}/./.claude/../claude//creds"))
attempt("descriptor", lambda: beside(f"{home}/.claude"))
attempt("descriptor-target", lambda: beside(f"{home}/dotfiles/claude"))
attempt("working-directory", from_inside)
attempt("from-below", from_below)
attempt("proc-cwd", lambda: read("/proc/self/cwd/creds"))
attempt("proc-root", lambda: read(f"/proc/self/root{home}/.claude/creds"))
attempt("own-link", own_link)
attempt("rename-target", lambda: os.rename(f"{home}/dotfiles/claude", f"{home}/dotfiles/c") or
        os.rename(f"{home}/dotfiles/c", f"{home}/dotfiles/claude"))
attempt("removed", lambda: os.unlink(f"{home}/dotfiles/claude/creds"))
