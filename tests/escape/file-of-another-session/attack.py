from attack import *


def moved(path):
    os.rename(path, path + ".x")
    os.rename(path + ".x", path)


attempt("written", lambda: open(".git/config", "a").write("EVIL"))
attempt("hook-made", lambda: open(".git/hooks/pre-commit", "w").write("EVIL"))
attempt("moved", lambda: moved(".git"))
attempt("placeholder-removed", lambda: os.rmdir(".mcp.json"))
attempt("read", lambda: open("deep/secret").read())
attempt("replaced", lambda: open("new", "w").close() or os.rename("new", "deep/secret"))
