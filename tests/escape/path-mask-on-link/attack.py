from attack import *


def turned():
    os.path.lexists("l") or os.symlink("/etc/passwd", "l")
    os.rename("l", ".bashrc")
    os.unlink(".bashrc")
    os.symlink("store/bashrc", ".bashrc")


def moved():
    os.rename(".bashrc", "b")
    os.rename("b", ".bashrc")


def dangling():
    os.path.lexists("tasks/1.out") or os.symlink("../nowhere", "tasks/1.out")
    return "tasks/1.out"


attempt("turned", turned)
attempt("moved", moved)
attempt("written-through", lambda: os.close(os.open(".bashrc", os.O_WRONLY)))
attempt("target-written", lambda: os.close(os.open("store/bashrc", os.O_WRONLY)))
attempt("target-replaced", lambda: open("new", "w").close() or os.rename("new", "store/bashrc"))
attempt("removed", lambda: os.unlink(".bashrc"))
attempt("dangling-removed", lambda: os.unlink("tasks/1.out"))
attempt("dangling-written", lambda: open(dangling(), "w").close())
attempt("dangling-target-made", lambda: open("nowhere", "w").close())
attempt("dangling-parent", lambda: os.rename("tasks", "t") or os.rename("t", "tasks"))
attempt("in-directory", lambda: open(".hooks/pre-commit", "w").close())
attempt("in-target-directory", lambda: open("store/hooks/post-commit", "w").close())
attempt("directory-link-removed", lambda: os.unlink(".hooks"))
