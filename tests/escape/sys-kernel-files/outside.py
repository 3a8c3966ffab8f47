# Where the files are that have no fixed name.
import pathlib
import time

PATTERNS = ("proc/irq/*/smp_affinity", "sys/fs/cgroup/*/cgroup.procs", "sys/fs/cgroup/*/release_agent",
            "sys/class/mem/null/uevent", "sys/class/net/*/address")
print("ready", *(next(map(str, pathlib.Path("/").glob(pattern)), "/none") for pattern in PATTERNS), flush=True)
time.sleep(60)
