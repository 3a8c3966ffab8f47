from attack import *
import mmap
import subprocess


def run(path):
    """The error of execve."""
    assert not subprocess.run([path]).returncode


def mapped(path):
    with open(path, "rb") as file:
        mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()


attempt("execve", lambda: run("vendor/open/tool"))
attempt("mapped", lambda: mapped("vendor/open/tool"))
attempt("deeper", lambda: run("vendor/deep/er/tool"))
