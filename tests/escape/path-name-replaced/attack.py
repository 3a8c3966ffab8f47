from attack import *

AT_FDCWD, EXCHANGE = -100, 2


def fresh(path, text="EVIL"):
    with open(path, "w") as file:
        file.write(text)


def moved_away():
    os.rename("settings.json", "old")
    os.rename("old", "settings.json")


def moved_over():
    fresh("new")
    os.rename("new", "settings.json")


def exchanged():
    fresh("new")
    libcall("renameat2", AT_FDCWD, b"new", AT_FDCWD, b"settings.json", EXCHANGE)


def removed():
    os.unlink("settings.json")
    fresh("settings.json")


def linked_over():
    os.path.lexists("link") or os.symlink("/etc/passwd", "link")
    os.rename("link", "settings.json")
    os.unlink("settings.json")
    fresh("settings.json")


def directory():
    os.rename("agents", "old-agents")
    os.rename("old-agents", "agents")


attempt("moved-away", moved_away)
attempt("moved-over", moved_over)
attempt("exchanged", exchanged)
attempt("removed", removed)
attempt("cut", lambda: os.truncate("settings.json", 0))
attempt("cut-on-open", lambda: os.close(os.open("settings.json", os.O_RDONLY | os.O_TRUNC)))
attempt("appended", lambda: os.close(os.open("settings.json", os.O_WRONLY | os.O_APPEND)))
attempt("linked-over", linked_over)
attempt("directory", directory)
