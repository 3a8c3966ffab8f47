# More rights by starting a program of the system's that has them.
import os
import subprocess
import time

from attack import attempt


def runs(*words):
    def action():
        if subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL).returncode:
            raise PermissionError(1, "")
    return action


def becomes_root():
    """It waits for a password, as root, where it is one."""
    child = subprocess.Popen(["su", "root"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.1)
    try:
        with open(f"/proc/{child.pid}/status") as status:
            ids = next(line for line in status if line.startswith("Uid:")).split()
        if ids[2] != "0" or os.geteuid() == 0:
            raise PermissionError(1, "")
    finally:
        child.stdin.close()
        child.wait()


attempt("chage", runs("chage", "-l", os.environ.get("USER", "root")))
attempt("su", becomes_root)
