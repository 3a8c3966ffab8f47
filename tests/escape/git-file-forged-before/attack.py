from attack import *

home = os.environ["HOME"]
attempt("read", lambda: open(f"{home}/.ssh/id").read())
attempt("write", lambda: open(f"{home}/.ssh/x", "w").close() or os.unlink(f"{home}/.ssh/x"))
