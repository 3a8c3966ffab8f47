from attack import *

attempt("write", lambda: open("file", "a").write("EVIL"))
attempt("make", lambda: open("new", "w").close())
attempt("rename", lambda: os.rename("file", "f") or os.rename("f", "file"))
attempt("exchange", lambda: libcall("renameat2", -100, b"file", -100, b"sub", 2))
attempt("mode", lambda: os.chmod("sub", 0o700))
attempt("pipe", lambda: os.close(os.open("pipe", os.O_RDWR)))
