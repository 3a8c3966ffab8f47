from attack import *

home = os.environ["HOME"]
file = f"{home}/.claude.json"


def make(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


def replaced():
    make(f"{home}/.t")
    os.rename(f"{home}/.t", file)


attempt("temporary-file", lambda: make(f"{home}/.claude.json.tmp"))
attempt("lock-directory", lambda: os.mkdir(f"{home}/.claude.json.lock"))
attempt("beside", lambda: make(f"{home}/.claude.d/x"))
attempt("read-beside", lambda: os.close(os.open(f"{home}/.key", os.O_RDONLY)))
attempt("through-it", lambda: os.close(os.open(f"{home}/.claude.d/../.key", os.O_RDONLY)))
attempt("replaced", replaced)
attempt("moved", lambda: os.rename(file, file + ".old") or os.rename(file + ".old", file))
attempt("removed", lambda: os.unlink(file))
