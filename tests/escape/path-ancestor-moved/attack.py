from attack import *
import shutil

AT_FDCWD, EXCHANGE, WHITEOUT = -100, 2, 4


def move(path, flags=0):
    """Within its directory: else the mounts alone keep it (EXDEV)."""
    mine = os.path.join(os.path.dirname(path), "mine")
    os.makedirs(path, exist_ok=True)
    if flags & EXCHANGE:
        os.makedirs(mine, exist_ok=True)
    libcall("renameat2", AT_FDCWD, path.encode(), AT_FDCWD, mine.encode(), flags)
    # As it was, for the next one.
    if flags & EXCHANGE:
        libcall("renameat2", AT_FDCWD, path.encode(), AT_FDCWD, mine.encode(), flags)
        return
    if flags & WHITEOUT:
        os.unlink(path)
    os.rename(mine, path)


attempt("top", lambda: move("a"))
attempt("middle", lambda: move("a/b"))
attempt("parent", lambda: move("a/b/c"))
attempt("exchange-top", lambda: move("a", EXCHANGE))
attempt("exchange-parent", lambda: move("a/b/c", EXCHANGE))
attempt("whiteout", lambda: move("a/b", WHITEOUT))
attempt("absent-top", lambda: move("p"))
attempt("absent-parent", lambda: move("p/q"))
attempt("absent-exchange", lambda: move("p/q", EXCHANGE))
shutil.rmtree("a", ignore_errors=True)
try:
    os.makedirs("a/b/c", exist_ok=True)
    open("a/b/c/secret", "w").write("EVIL")
except OSError:
    pass
