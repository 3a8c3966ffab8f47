from attack import *

attempt("written", lambda: open("x", "a").write("EVIL"))
