# The program of another session, which is no more this one's than any other process.
import ctypes
import os
import signal
import sys

from attack import attempt

program, launcher = (int(word) for word in (sys.argv[1:] + ["0", "0"])[:2])
libc = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")


def detached(pid):
    check(libc.ptrace(0x4206, pid, 0, 0))
    libc.ptrace(17, pid, 0, 0)


for who, pid in (("program", program), ("launcher", launcher)):
    attempt(f"{who}-mem", lambda: os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR)))
    attempt(f"{who}-environ", lambda: open(f"/proc/{pid}/environ", "rb").close())
    attempt(f"{who}-cwd", lambda: os.listdir(f"/proc/{pid}/cwd"))
    attempt(f"{who}-fd", lambda: os.readlink(f"/proc/{pid}/fd/0"))
    attempt(f"{who}-signal", lambda: os.kill(pid, signal.SIGWINCH))
    attempt(f"{who}-seize", lambda: detached(pid))
