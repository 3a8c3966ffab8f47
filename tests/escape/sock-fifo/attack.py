import os

from attack import attempt


def write(name, flags=os.O_WRONLY):
    os.write(os.open(name, flags | os.O_NONBLOCK), b"order\n")


def by_descriptor():
    write(f"/proc/self/fd/{os.open('control', os.O_PATH)}")


attempt("readable", lambda: write("/run/host/control"))
attempt("protected", lambda: write("control"))
attempt("read-write", lambda: write("control", os.O_RDWR))
attempt("by-descriptor", by_descriptor)
attempt("truncated", lambda: write("control", os.O_WRONLY | os.O_TRUNC))
