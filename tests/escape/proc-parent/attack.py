# The processes that hold the sandbox: the parent, and the first one where there is a
# process namespace.
import ctypes
import os

from attack import attempt

READ, WRITE = os.O_RDONLY, os.O_RDWR
parent = os.getppid()
libc = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")


def opens(pid, name, flags=READ):
    return lambda: os.close(os.open(f"/proc/{pid}/{name}", flags))


def secret():
    for pid in os.listdir("/proc"):
        if pid.isdigit() and int(pid) != os.getpid():
            try:
                with open(f"/proc/{pid}/environ", "rb") as environ:
                    if b"SEKRET=hunter2" in environ.read():
                        return
            except OSError:
                pass
    raise FileNotFoundError(2, "")


# Process 1, if that is this sandbox's and not the machine's.
with open("/proc/1/comm") as name:
    own = os.stat("/proc/1").st_uid == os.geteuid() != 0 or name.read() == "firejail\n"
for name in ("environ", "maps", "exe", "fd/0", "fdinfo/0", "root", "cwd"):
    attempt(f"parent-{name.replace('/', '-')}", opens(parent, name))
attempt("parent-mem", opens(parent, "mem", WRITE))
for name in ("ns/mnt", "ns/user"):
    attempt(f"parent-{name.replace('/', '-')}", lambda: os.stat(f"/proc/{parent}/{name}"))
attempt("parent-fd-link", lambda: os.readlink(f"/proc/{parent}/fd/0"))
attempt("parent-oom", opens(parent, "oom_score_adj", os.O_WRONLY))
attempt("parent-seize", lambda: check(libc.ptrace(0x4206, parent, 0, 0)))
first = 1 if own else parent
attempt("first-mem", opens(first, "mem", WRITE))
for name in ("environ", "fd/0", "root"):
    attempt(f"first-{name.replace('/', '-')}", opens(first, name))
attempt("secret", secret)
