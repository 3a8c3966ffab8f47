from attack import *

def at(path):
    above = os.open("..", os.O_PATH, dir_fd=os.open(".", os.O_PATH))
    return os.open(path, os.O_RDONLY, dir_fd=above)


def own():
    with open("own", "w") as file:
        file.write("x")
    return "own"


def out_of_reach():
    """The working directory is moved out of its own root, and goes up from there."""
    os.makedirs("a/b", exist_ok=True)
    os.chdir("a/b")
    try:
        os.rename("../../a/b", "../../b")
        os.close(os.open("../../beside/key", os.O_RDONLY))
    finally:
        os.chdir(here)


here = os.getcwd()
attempt("dots", lambda: os.close(os.open("../beside/key", os.O_RDONLY)))
attempt("descriptor", lambda: os.close(at("beside/key")))
attempt("absolute", lambda: os.close(os.open(os.path.dirname(here) + "/beside/key", os.O_RDONLY)))
attempt("moved-cwd", out_of_reach)
attempt("link-in", lambda: os.link("../beside/key", "k"))
attempt("link-out", lambda: os.link(own(), "../beside/l"))
attempt("move-in", lambda: os.rename("../beside/l", "l"))
attempt("move-out", lambda: os.rename(own(), "../beside/m"))
attempt("exchange", lambda: own() and libcall("renameat2", -100, b"own", -100, b"../beside/key", 2))
attempt("made", lambda: os.mkdir("../beside/d"))
attempt("workspace-moved", lambda: os.rename(here, here + ".x") or os.rename(here + ".x", here))
