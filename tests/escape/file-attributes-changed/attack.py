from attack import *
import fcntl
import struct

GETFLAGS, SETFLAGS, NODUMP = 0x80086601, 0x40086602, 0x40


def flags(path):
    """chattr +d"""
    file = os.open(path, os.O_RDONLY)
    now, = struct.unpack("l", fcntl.ioctl(file, GETFLAGS, b"\0" * 8))
    fcntl.ioctl(file, SETFLAGS, struct.pack("l", now ^ NODUMP))


def each(where, path):
    attempt(f"{where}-mode", lambda: os.chmod(path, 0o600))
    attempt(f"{where}-mode-by-descriptor", lambda: os.fchmod(os.open(path, os.O_RDONLY), 0o640))
    attempt(f"{where}-mode-by-proc", lambda: os.chmod(f"/proc/self/fd/{os.open(path, os.O_PATH)}", 0o600))
    attempt(f"{where}-owner", lambda: os.chown(path, -1, os.getgid()))
    attempt(f"{where}-times", lambda: os.utime(path, (1, 1)))
    attempt(f"{where}-times-by-descriptor", lambda: os.utime(os.open(path, os.O_RDONLY), (2, 2)))
    attempt(f"{where}-attribute", lambda: os.setxattr(path, "user.x", b"EVIL"))
    attempt(f"{where}-attribute-by-descriptor", lambda: os.setxattr(os.open(path, os.O_RDONLY), "user.y", b"EVIL"))
    attempt(f"{where}-flags", lambda: flags(path))


each("granted", os.environ["HOME"] + "/data/a")
each("protected", "settings.json")
