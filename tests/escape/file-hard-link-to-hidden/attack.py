from attack import *

attempt("read", lambda: open("x").read())
