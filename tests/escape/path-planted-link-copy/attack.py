from attack import *

attempt("read", lambda: open(".cache/authorized_keys").read())
attempt("write", lambda: open(".cache/authorized_keys", "a").write("EVIL\n"))
