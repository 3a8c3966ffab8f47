from attack import *


def directory(path):
    os.makedirs(path, exist_ok=True)
    return path


def file(path):
    if not os.path.lexists(path):
        directory(os.path.dirname(path) or ".")
        open(path, "w").close()
    return path


attempt("filled", lambda: open(directory(".mcp.json") + "/x", "w").close() or os.unlink(".mcp.json/x"))
attempt("opened-up", lambda: os.chmod(directory(".mcp.json"), 0o777))
attempt("moved", lambda: os.rename(directory(".mcp.json"), "m"))
attempt("removed", lambda: os.rmdir(directory(".mcp.json")))
attempt("attribute", lambda: os.setxattr(directory(".mcp.json"), "user.x", b"EVIL"))
attempt("written", lambda: open(file("p/q/.envrc"), "w").write("EVIL"))
attempt("file-removed", lambda: os.unlink(file("p/q/.envrc")))
attempt("parent-moved", lambda: file("p/q/.envrc") and os.rename("p/q", "p/r"))
attempt("text-cut", lambda: os.truncate(file("config"), 0))
attempt("linked", lambda: os.link(file("config"), "c"))
attempt("mode", lambda: os.chmod(file("config"), 0o777))
attempt("replaced", lambda: open("n", "w").write("EVIL") and os.rename("n", file("config")))
