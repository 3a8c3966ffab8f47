from attack import *


def plant(link, name):
    """A directory in the place of the link, with what is protected in it."""
    os.unlink(link)
    os.makedirs(os.path.dirname(f"{link}/{name}"), exist_ok=True)
    open(f"{link}/{name}", "w").write("EVIL")


attempt("home", lambda: plant(".a", "hooks"))
attempt("old-root", lambda: plant(".b", "config"))
attempt("dots", lambda: plant(".c", "deep/er/hooks"))
attempt("proc", lambda: plant(".d", "x"))
