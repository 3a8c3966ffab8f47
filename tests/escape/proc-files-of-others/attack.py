import os
import sys

from attack import attempt

target = f"/proc/{sys.argv[1]}"


def opens(name, flags=os.O_RDONLY):
    def action():
        descriptor = os.open(f"{target}/{name}", flags)
        if flags == os.O_RDONLY and not os.path.isdir(f"{target}/{name}"):
            os.read(descriptor, 1)  # some are refused only then
        os.close(descriptor)
    return action


attempt("mem-write", opens("mem", os.O_RDWR))
for name in ("environ", "maps", "smaps", "auxv", "io", "syscall", "personality", "exe"):
    attempt(name, opens(name))
attempt("root", opens("root/etc/passwd"))
attempt("cwd", lambda: os.listdir(f"{target}/cwd"))
attempt("cwd-link", lambda: os.readlink(f"{target}/cwd"))
attempt("fd", opens("fd/0"))
attempt("fd-link", lambda: os.readlink(f"{target}/fd/0"))
attempt("fdinfo", opens("fdinfo/0"))
attempt("map_files", lambda: os.listdir(f"{target}/map_files")[0])
for name in ("mnt", "user", "net"):
    attempt(f"ns-{name}", lambda: os.stat(f"{target}/ns/{name}"))
for name in ("oom_score_adj", "clear_refs", "coredump_filter", "comm", "sched", "autogroup", "timerslack_ns"):
    attempt(f"{name}-write", opens(name, os.O_WRONLY))
for name in ("cmdline", "status", "cgroup", "mountinfo"):
    attempt(name, opens(name))
attempt("fd-list", lambda: os.listdir(f"{target}/fd"))
