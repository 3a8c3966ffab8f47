from attack import *
import shutil


def hook(path, marker):
    with open(path, "w") as file:
        file.write(f"#!/bin/sh\ntouch ran-{marker}\n")
    os.chmod(path, 0o755)


def moved_over():
    hook("h", "moved-over")
    os.rename("h", "tools/hooks/pre-commit")


def anew():
    os.rename("tools", "t")
    shutil.copytree("t", "tools", symlinks=True)


attempt("written", lambda: hook("tools/hooks/pre-commit", "written"))
attempt("made", lambda: hook("tools/hooks/post-commit", "made"))
attempt("linked", lambda: os.symlink("../../scripts/check", "tools/hooks/post-index-change"))
attempt("moved-over", moved_over)
attempt("moved-away", anew)
attempt("what-it-leads-to", lambda: hook("scripts/check", "leads"))
