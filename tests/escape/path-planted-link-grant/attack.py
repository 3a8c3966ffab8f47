from attack import *

attempt("read", lambda: open(os.environ["HOME"] + "/cache/data/keys/id").read())
attempt("turned", lambda: os.unlink(os.environ["HOME"] + "/cache/data"))
