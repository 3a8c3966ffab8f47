from attack import *
import glob
import mmap
import subprocess

loader = sorted(glob.glob("/lib*/ld-linux-*") + glob.glob("/usr/lib*/*/ld-linux-*"))[0]


def run(*words, **more):
    """The error of execve, or of the program that it ran."""
    done = subprocess.run(words, capture_output=True, **more)
    if done.returncode:
        raise PermissionError(13, done.stderr.decode())


def mapped():
    with open("vendor/tool", "rb") as file:
        mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()


def by_descriptor(how):
    file = os.open("vendor/tool", how)
    run(f"/proc/self/fd/{file}", pass_fds=[file])


def linked():
    os.link("vendor/tool", "l")
    run("./l")


attempt("execve", lambda: run("vendor/tool"))
attempt("script", lambda: run("vendor/script"))
attempt("descriptor", lambda: by_descriptor(os.O_RDONLY))
attempt("path-descriptor", lambda: by_descriptor(os.O_PATH))
attempt("loader", lambda: run(loader, "vendor/tool"))
attempt("mapped", mapped)
attempt("linked", linked)
attempt("interpreter", lambda: run("sh", "vendor/script"))
attempt("copied", lambda: run("sh", "-c", "cp vendor/tool t && ./t"))
