from attack import *
import time

open("started", "w").close()
while not os.path.exists("made"):
    time.sleep(0.01)


def write(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write("EVIL")


attempt("there", lambda: open(".env").read())
attempt("there-below", lambda: open("a/b/.env").read())
attempt("there-moved", lambda: os.rename("a/b/.env", "x") or os.rename("x", "a/b/.env"))
attempt("parent-moved", lambda: os.rename("a", "z") or os.rename("z", "a"))
attempt("made-inside", lambda: write("d/.env"))
attempt("made-by-host", lambda: open("c/.env").read())
