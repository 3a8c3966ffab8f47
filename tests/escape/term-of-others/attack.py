import fcntl
import os
import sys

from attack import attempt

FLAGS = os.O_RDWR | os.O_NOCTTY
TIOCSPTLCK, TIOCGPTPEER = 0x40045431, 0x5441
other = sys.argv[1]


def new():
    """Whoever may make a terminal by /dev/ptmx may open all of them, by their names."""
    ours = os.open("/dev/ptmx", FLAGS)
    fcntl.ioctl(ours, TIOCSPTLCK, b"\0\0\0\0")
    os.close(fcntl.ioctl(ours, TIOCGPTPEER, FLAGS))


attempt("read", lambda: os.open(other, os.O_RDONLY | os.O_NOCTTY))
attempt("write", lambda: os.write(os.open(other, os.O_WRONLY | os.O_NOCTTY), b"\033]0;x\007"))
attempt("chmod", lambda: os.chmod(other, 0o622))
attempt("list", lambda: os.stat(other))
attempt("new", new)
