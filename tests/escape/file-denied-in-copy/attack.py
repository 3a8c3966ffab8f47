from attack import *


def read(path):
    with open(path) as file:
        assert file.read() == "KEY\n"


attempt("read", lambda: read("conf/sub/key"))
attempt("ancestor-moved", lambda: os.rename("conf/sub", "conf/s") or os.rename("conf/s", "conf/sub"))
attempt("linked", lambda: os.link("conf/sub/key", "conf/k") or read("conf/k"))
attempt("hook", lambda: open("conf/sub/hooks/x", "w").close())
attempt("in-tmp", lambda: os.makedirs("scratch/hooks", exist_ok=True) or open("scratch/hooks/x", "w").close())
attempt("in-tmp-moved", lambda: os.rename("scratch/hooks", "scratch/h"))
