from attack import *

other = os.environ["HOME"] + "/other/.git"
attempt("read", lambda: open(f"{other}/HEAD").read())
attempt("write", lambda: open(f"{other}/index2", "w").close() or os.unlink(f"{other}/index2"))
