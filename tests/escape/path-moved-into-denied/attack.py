from attack import *
import stat

AT_FDCWD, EXCHANGE, AT_EMPTY_PATH, AT_SYMLINK_FOLLOW = -100, 2, 0x1000, 0x400
count = 0


def mine():
    """A new file of our own."""
    global count
    count += 1
    with open(f"x{count}", "w") as file:
        file.write("EVIL")
    return f"x{count}"


def directory():
    """A new directory of our own, with a file in it."""
    os.mkdir(mine() + ".d")
    open(f"x{count}.d/pre-commit", "w").write("EVIL")
    return f"x{count}.d"


def unnamed():
    """A file that never had a name is given one: in the denied directory."""
    file = os.open(".git", os.O_TMPFILE | os.O_WRONLY, 0o600)
    libcall("linkat", AT_FDCWD, b"/proc/self/fd/%d" % file, AT_FDCWD, b".git/hooks/t", AT_SYMLINK_FOLLOW)


def clear(path):
    os.path.lexists(path) and os.unlink(path)


def exchange():
    if not os.path.lexists(".mcp.json"):
        mine() and os.rename(f"x{count}", ".mcp.json")
    libcall("renameat2", AT_FDCWD, mine().encode(), AT_FDCWD, b".mcp.json", EXCHANGE)
    clear(".mcp.json")


def over_directory():
    for name in os.listdir(".git/hooks"):
        os.unlink(f".git/hooks/{name}")
    os.rename(directory(), ".git/hooks")


def onto_absent(way):
    way()
    clear(".mcp.json")


attempt("file", lambda: os.rename(mine(), ".git/hooks/a"))
attempt("link", lambda: os.link(mine(), ".git/hooks/b"))
attempt("symlink", lambda: os.symlink("../../" + mine(), ".git/hooks/c"))
attempt("pipe", lambda: os.mkfifo(".git/hooks/d"))
attempt("whiteout", lambda: os.mknod(".git/hooks/e", stat.S_IFCHR, 0))
attempt("unnamed", unnamed)
attempt("directory", over_directory)
attempt("onto-absent", lambda: onto_absent(lambda: os.rename(mine(), ".mcp.json")))
attempt("link-onto-absent", lambda: onto_absent(lambda: os.link(mine(), ".mcp.json")))
attempt("symlink-onto-absent", lambda: onto_absent(lambda: os.symlink(mine(), ".mcp.json")))
attempt("exchange-onto-absent", exchange)
attempt("written", lambda: onto_absent(lambda: open(".mcp.json", "w").write("EVIL")))
