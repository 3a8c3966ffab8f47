from attack import *

NEWNS, NEWUSER, BIND, REC, REMOUNT, PRIVATE = 0x20000, 0x10000000, 4096, 16384, 32, 1 << 18
AT_FDCWD, CLONE, RECURSIVE = -100, 1, 0x8000
here = os.getcwd().encode()


def write(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    os.unlink(path)


def inside(variant, action):
    """In mount and user namespaces of its own, in a child."""
    def enter():
        libcall("unshare", NEWNS | NEWUSER)
        libcall("mount", None, b"/", None, REC | PRIVATE, None)
        action()
    child = os.fork()
    if child == 0:
        attempt(variant, enter)
        os._exit(0)
    os.waitpid(child, 0)


def bind():
    libcall("mount", here, here + b"/other", None, BIND, None)
    write("other/hooks/x")


def bind_all():
    libcall("mount", here, here + b"/other", None, BIND | REC, None)
    libc.umount2(here + b"/other/hooks", 2)
    write("other/hooks/x")


def unmount():
    for path in b"/hooks", b"":
        libc.umount2(here + path, 2)
    write(here + b"/hooks/x")


def remount():
    libc.mount(None, here + b"/hooks", None, BIND | REMOUNT, None)
    write("hooks/x")


def tree():
    """open_tree, move_mount: the directory as a mount of its own."""
    fd = libcall("open_tree", AT_FDCWD, here, CLONE)
    libcall("move_mount", fd, b"", AT_FDCWD, here + b"/other", 4)
    write("other/hooks/x")


def attributes():
    import struct
    libc.mount_setattr(AT_FDCWD, here + b"/hooks", 0, struct.pack("QQQQ", 0, 1, 0, 0), 32)
    write("hooks/x")


def root_bind():
    libcall("mount", b"/", here + b"/root", None, BIND | REC, None)
    libc.umount2(here + b"/root" + here + b"/hooks", 2)
    write(here + b"/root" + here + b"/hooks/x")


def root_changed():
    libcall("mount", here, here + b"/root", None, BIND | REC, None)
    os.chdir("root")
    libcall("pivot_root", b".", b".")
    libc.umount2(b".", 2)
    libc.umount2(b"/hooks", 2)
    write("/hooks/x")


def changed_root():
    os.chroot(".")
    write("/hooks/x")


for action in bind, bind_all, unmount, remount, tree, attributes, root_bind, root_changed, changed_root:
    inside(action.__name__.replace("_", "-"), action)
