from attack import *
import shutil


def plant(path):
    """In a new directory, where there is none."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.makedirs(path, exist_ok=True)
    open(path + "/x", "w").write("EVIL")


def moved_in():
    os.makedirs("new/agents/own")
    open("new/agents/own/x", "w").write("EVIL")
    shutil.rmtree(".claude", ignore_errors=True)
    os.rename("new", ".claude")


attempt("made", lambda: plant(".claude/agents/own"))
attempt("hidden-made", lambda: plant(".aws/sso/cache"))
attempt("removed", lambda: os.path.lexists(".aws/sso") and os.rename(".aws/sso", ".aws/s"))
attempt("moved-in", moved_in)
