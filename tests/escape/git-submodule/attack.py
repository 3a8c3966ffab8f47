from attack import *
import subprocess

lib = ".git/modules/deep/lib"


def write(path, text, mode="a"):
    with open(path, mode) as file:
        file.write(text)


def forged():
    subprocess.run(["git", "clone", "-q", "deep/lib", "forged"], check=True, capture_output=True)
    write("forged/.git/config", "[core]\n\tfsmonitor = touch $PWD/../../ran-forged; false\n")
    write("deep/lib/.git", "gitdir: ../../forged/.git\n", "w")


attempt("configuration", lambda: write(f"{lib}/config", "[core]\n\tfsmonitor = touch ../../ran; false\n"))
attempt("hook", lambda: write(f"{lib}/hooks/pre-commit", "x"))
attempt("moved", lambda: os.rename(lib, ".git/modules/deep/l") or os.rename(".git/modules/deep/l", lib))
attempt("above-moved", lambda: os.rename(".git/modules", ".git/m") or os.rename(".git/m", ".git/modules"))
attempt("file-rewritten", forged)
