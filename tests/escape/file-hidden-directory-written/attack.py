from attack import *


def absent():
    os.makedirs("none", exist_ok=True)
    open("none/f", "w").write("w")


attempt("list", lambda: os.listdir(".ssh"))
attempt("read", lambda: open(".ssh/id").read())
attempt("make", lambda: open(".ssh/f", "w").write("w"))
attempt("make-directory", lambda: os.mkdir(".ssh/x"))
attempt("open-up", lambda: os.chmod(".ssh", 0o700))
attempt("enter", lambda: os.chdir(".ssh") or os.chdir(".."))
attempt("file-read", lambda: open("token").read())
attempt("file-write", lambda: open("token", "a").write("w"))
attempt("file-open-up", lambda: os.chmod("token", 0o600))
attempt("file-cut", lambda: os.truncate("token", 0))
attempt("absent", absent)
attempt("absent-list", lambda: os.listdir("none"))
attempt("absent-removed", lambda: os.unlink("none/f") or os.rmdir("none"))
attempt("removed", lambda: [os.unlink(f".ssh/{name}") if name != "x" else os.rmdir(".ssh/x") for name in os.listdir(".ssh")] and os.rmdir(".ssh"))
