from attack import *


def read(path, at=None, how=os.O_RDONLY):
    os.close(os.open(path, how, dir_fd=at))


def folder(path, at=None):
    return os.open(path, os.O_PATH | os.O_DIRECTORY, dir_fd=at)


def again(path):
    """By O_PATH, and anew through /proc."""
    file = os.open(path, os.O_PATH)
    read(f"/proc/self/fd/{file}")


def change(path, then):
    os.chdir(path)
    try:
        read(then)
    finally:
        os.chdir(top)


def openat2(path, resolve):
    """A call of its own for it, number 437 everywhere."""
    import struct
    return os.close(call(437, -100, path, struct.pack("QQQ", os.O_RDONLY, 0, resolve), 24))


top = os.getcwd()
attempt("plain", lambda: read("private/deep/key"))
attempt("slashes", lambda: read(".//private///deep//.//key"))
attempt("up-and-down", lambda: read("sub/../private/deep/../deep/key"))
attempt("directory", lambda: read("key", folder("private/deep")))
attempt("steps", lambda: read("key", folder("deep", folder("private"))))
attempt("change-directory", lambda: change("private/deep", "key"))
attempt("below", lambda: change("sub", "../private/deep/key"))
attempt("opened-anew", lambda: again("private/deep/key"))
attempt("proc-cwd", lambda: read("/proc/self/cwd/private/deep/key"))
attempt("proc-descriptor", lambda: read(f"/proc/self/fd/{folder('sub')}/../private/deep/key"))
attempt("openat2", lambda: openat2(b"private/deep/key", 0))
attempt("list", lambda: os.listdir("private"))
attempt("trailing-slash", lambda: os.listdir("private/"))
attempt("size", lambda: os.stat("private/deep/key"))
attempt("mode", lambda: os.chmod("private", 0o755))
attempt("entry-removed", lambda: os.unlink("private/deep/key"))
