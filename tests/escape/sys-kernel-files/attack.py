# Files of the kernel's: opened as an attack would, and nothing is written.
import os
import sys

from attack import attempt

READ, WRITE = os.O_RDONLY, os.O_WRONLY


def opens(path, flags=WRITE):
    return lambda: os.close(os.open(path, flags))


def group(top):
    def action():
        path = f"{top}/sbx-{os.getpid()}"
        os.mkdir(path)
        os.rmdir(path)
    return action


# What is where was looked up outside: a name that cannot be listed can still be opened.
irq, cgroup, agent, uevent, address = (sys.argv[1:] + ["/none"] * 5)[:5]
for name in ("kernel/core_pattern", "kernel/hostname", "kernel/randomize_va_space",
             "kernel/ns_last_pid", "vm/drop_caches", "vm/overcommit_memory", "fs/protected_symlinks",
             "net/ipv4/ip_forward"):
    attempt(name.replace("/", "-"), opens(f"/proc/sys/{name}"))
attempt("irq", opens(irq))
attempt("kmsg", opens("/proc/kmsg", READ | os.O_NONBLOCK))
attempt("debugfs", opens("/sys/kernel/debug", READ))
attempt("cgroup-made", group(os.path.dirname(cgroup)))
attempt("cgroup-joined", opens(cgroup))
attempt("release_agent", opens(agent))
attempt("uevent", opens(uevent))
attempt("power", opens("/sys/power/state"))
attempt("hardware", opens(address, READ))
attempt("oom-score", lambda: open("/proc/self/oom_score_adj", "w").write("500"))
