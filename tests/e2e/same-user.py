# What a process can do to others of its user, by name: "NAME done" or "NAME ERRNO".
# usage: same-user.py TARGET-PID SHARED-MEMORY-ID QUEUE-NAME KEY-NAME
import ctypes, errno, os, socket, sys

target, segment = int(sys.argv[1]), int(sys.argv[2])
queue, key = sys.argv[3].encode(), sys.argv[4].encode()
libc = ctypes.CDLL(None, use_errno=True)
numbers = {
    "x86_64": dict(prlimit64=302, setpriority=141, ioprio_set=251, sched_setaffinity=203,
                   sched_setscheduler=144, shmat=30, shmctl=31, msgget=68, semget=64, ptrace=101,
                   process_vm_readv=310, mq_open=240, add_key=248, kcmp=312, pidfd_open=434,
                   pidfd_getfd=438, migrate_pages=256, kill=62, tgkill=234),
    "aarch64": dict(prlimit64=261, setpriority=140, ioprio_set=30, sched_setaffinity=122,
                    sched_setscheduler=119, shmat=196, shmctl=195, msgget=186, semget=190, ptrace=117,
                    process_vm_readv=270, mq_open=180, add_key=217, kcmp=272, pidfd_open=434,
                    pidfd_getfd=438, migrate_pages=238, kill=129, tgkill=131),
}[os.uname().machine]


def call(name, *args):
    if libc.syscall(numbers[name], *[a if isinstance(a, bytes) or not isinstance(a, int)
                                     else ctypes.c_long(a) for a in args]) == -1:
        raise OSError(ctypes.get_errno(), name)


def attempt(name, action):
    try:
        action()
        print(name, "done")
    except OSError as error:
        print(name, errno.errorcode.get(error.errno, error.errno))


limit = (ctypes.c_ulong * 2)(0, 0)
mask = (ctypes.c_ulong * 16)(1)
zero = (ctypes.c_int * 1)(0)
buffer = ctypes.create_string_buffer(64)
part = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
far = (ctypes.c_void_p * 2)(4096, 8)


def fetch():
    pidfd = os.pidfd_open(target)
    call("pidfd_getfd", pidfd, 0, 0)


def read_memory():
    try:
        call("process_vm_readv", target, part, 1, far, 1, 0)
    except OSError as error:
        if error.errno != errno.EFAULT:  # it may, but there is nothing at that address
            raise


attempt("prlimit", lambda: call("prlimit64", target, 4, limit, None))  # RLIMIT_CORE
attempt("renice", lambda: call("setpriority", 0, target, 5))
attempt("renice-user", lambda: call("setpriority", 2, 0, 5))
attempt("ionice", lambda: call("ioprio_set", 1, target, 3 << 13))
attempt("taskset", lambda: call("sched_setaffinity", target, 128, mask))
attempt("chrt", lambda: call("sched_setscheduler", target, 3, zero))  # SCHED_BATCH
attempt("migrate", lambda: call("migrate_pages", target, 0, None, None))
attempt("shmat", lambda: call("shmat", segment, None, 0o10000))
attempt("shmctl", lambda: call("shmctl", segment, 2, (ctypes.c_char * 256)()))  # IPC_STAT
attempt("msgget", lambda: call("msgget", 0, 0o600))
attempt("semget", lambda: call("semget", 0, 1, 0o600))
attempt("mq_open", lambda: call("mq_open", queue, os.O_RDWR, 0, None))
attempt("key", lambda: call("add_key", b"user", key, b"x", 1, -4))
attempt("kcmp", lambda: call("kcmp", os.getpid(), target, 1, 0, 0))
attempt("ptrace", lambda: call("ptrace", 0x4206, target, 0, 0))  # PTRACE_SEIZE
attempt("vm_readv", read_memory)
attempt("getfd", fetch)
for name in ("mem", "environ", "root/etc/passwd", "cwd/.", "fd/0"):
    attempt("proc-" + name.split("/")[0], lambda: open(f"/proc/{target}/{name}", "rb").close()
            if name != "cwd/." else os.listdir(f"/proc/{target}/cwd"))
attempt("kill-0", lambda: os.kill(target, 0))
attempt("sigqueue", lambda: call("tgkill", target, target, 0))
attempt("kill", lambda: os.kill(target, 9))
