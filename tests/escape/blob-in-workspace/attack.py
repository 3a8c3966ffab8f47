from attack import *

blob = "sub/dir/p.sbx"


def moved_over():
    open("new", "w").write("EVIL")
    os.rename("new", blob)


attempt("written", lambda: open(blob, "r+").write("EVIL"))
attempt("mode", lambda: os.chmod(blob, 0o644))
attempt("moved-over", moved_over)
attempt("ancestor-moved", lambda: os.rename("sub/dir", "sub/d") or os.rename("sub/d", "sub/dir"))
attempt("top-moved", lambda: os.rename("sub", "s") or os.rename("s", "sub"))
attempt("linked", lambda: os.link(blob, "l") or open("l", "r+").write("EVIL"))
attempt("removed", lambda: os.unlink(blob))
