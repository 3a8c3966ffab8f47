from attack import *

home = os.environ["HOME"]


def through(name, target, rest="", how=os.O_RDONLY):
    os.symlink(target, name)
    os.close(os.open(name + rest, how))


attempt("leaf", lambda: through("a", f"{home}/.ssh/id"))
attempt("leaf-write", lambda: through("b", f"{home}/.ssh/id", "", os.O_WRONLY))
attempt("directory", lambda: through("c", home, "/.ssh/id"))
attempt("relative", lambda: through("d", "../" * 9 + home[1:], "/.ssh/id"))
attempt("two-hops", lambda: os.symlink(".", "s") or through("e", "s/s/c", "/.ssh/id"))
attempt("proc-root", lambda: through("f", f"/proc/self/root{home}", "/.ssh/id"))
attempt("proc-cwd", lambda: through("g", "/proc/self/cwd/" + "../" * 9 + home[1:], "/.ssh/id"))
attempt("list", lambda: os.listdir(home + "/.ssh"))
attempt("made-beside", lambda: through("h", f"{home}/planted", "", os.O_WRONLY | os.O_CREAT) or os.unlink(f"{home}/planted"))
