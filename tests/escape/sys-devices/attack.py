# Devices, by their names, and made anew.
import os
import stat

from attack import attempt


def made(kind, major, minor, flags=os.O_RDONLY):
    def action():
        if os.path.lexists("node"):
            os.unlink("node")
        os.mknod("node", kind | 0o600, os.makedev(major, minor))
        os.close(os.open("node", flags))
    return action


def opens(path, flags=os.O_RDONLY | os.O_NONBLOCK):
    return lambda: os.close(os.open(path, flags))


disk = os.stat("/").st_dev
attempt("disk-made", made(stat.S_IFBLK, os.major(disk), os.minor(disk)))
attempt("kmsg-made", made(stat.S_IFCHR, 1, 11, os.O_WRONLY))
attempt("null-made", made(stat.S_IFCHR, 1, 3))
for name in ("kmsg", "loop-control", "fuse", "net/tun", "tty0", "tty1", "console", "vcs", "vda", "loop0", "kvm",
             "autofs", "hwrng", "cpu_dma_latency", "userfaultfd", "vsock", "full"):
    attempt(f"dev-{name.replace('/', '-')}", opens(f"/dev/{name}"))
attempt("dev-written", lambda: os.close(os.open("/dev/sbx-evil", os.O_CREAT | os.O_WRONLY)) or os.unlink("/dev/sbx-evil"))
