from attack import *


def turn(name):
    os.rename(name, name + ".old")
    os.symlink("/etc/passwd", name)


attempt("turned", lambda: turn("p.sbx"))
attempt("directory-turned", lambda: turn("blobs"))
attempt("launcher-turned", lambda: turn("run"))
