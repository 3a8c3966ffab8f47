"""What those suites share that run as root, with users of their own: escape, faults and races."""
import fcntl
import os
import pathlib
import pwd
import resource
import shutil
import subprocess
import sys


TOP = pathlib.Path(__file__).resolve().parent.parent.parent


class Report:
    """What is passed, failed and skipped."""

    def __init__(self, verbose):
        self.passed = self.failed = self.skipped = 0
        self.verbose = verbose

    def check(self, good, what, detail=""):
        if good:
            self.passed += 1
            if self.verbose:
                print(f"  ok    {what}", flush=True)
            return
        self.failed += 1
        print(f"  FAIL  {what}")
        for line in str(detail).splitlines()[:14]:
            print(f"        | {line}")
        sys.stdout.flush()

    def skip(self, what, why):
        self.skipped += 1
        print(f"  skip  {what}: {why}")


class Users:
    """NAME0 and so on: one for each run of the suite at the same time."""

    def __init__(self, suite, name, first_uid, count):
        self.suite, self.prefix, self.first_uid, self.count = suite, name, first_uid, count

    def name(self, uid):
        return f"{self.prefix}{uid - self.first_uid}" if uid else "root"

    def uids(self):
        return range(self.first_uid, self.first_uid + self.count)

    def make(self, uid):
        try:
            pwd.getpwuid(uid)
        except KeyError:
            subprocess.run(["useradd", "--create-home", "--uid", str(uid), "--shell", "/bin/bash", self.name(uid)],
                           check=True)

    def take(self):
        """The uid of one that nobody else uses now; locked while we live."""
        for uid in self.uids():
            # Not open to write: where it is made read-only below us, that would be in the way.
            lock = os.open(f"/run/sbx-{self.suite}-{uid - self.first_uid}.lock", os.O_RDONLY | os.O_CREAT, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                continue
            self.make(uid)
            return uid
        raise SystemExit(f"{self.count} runs at the same time are enough")


def obstacle(backend):
    """Why it cannot be tried here; None: it can."""
    if backend == "bwrap" and not os.path.exists("/usr/bin/bwrap"):
        return "bubblewrap is not installed"
    if backend == "firejail":
        try:
            if not os.stat("/usr/bin/firejail").st_mode & 0o4000:
                return "firejail is not set-uid"
        except FileNotFoundError:
            return "firejail is not installed"
        if not any(name_of(pid) == "kthreadd\n" for pid in os.listdir("/proc") if pid.isdigit() and int(pid) < 100):
            return "firejail takes this machine for a sandbox, since /proc shows no kernel thread"
    return None


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text()
    except OSError:  # it has ended
        return ""


def stage(place, launcher):
    """Programs and library of the checkout, which may be closed to others, and lies perhaps where something else is
    about to lie.  With what a suite puts there itself: open_to_all()."""
    (place / "build").mkdir(parents=True)
    shutil.copy(TOP / "build/sbxc", place / "build")
    shutil.copy(launcher, place / "build/sbx-exec")
    shutil.copytree(TOP / "stdlib", place / "stdlib")
    for module in (TOP / "tests/lib").glob("*.pol"):
        shutil.copy(module, place / "stdlib")


def open_to_all(place):
    subprocess.run(["chmod", "-R", "a+rX,go-w", place], check=True)


def may_dump_core():
    """False: nobody here may raise the limit on core files, which is 0 at most."""
    return resource.getrlimit(resource.RLIMIT_CORE)[1] != 0


def become_root(script, suite, *variables):
    """Starts the script again as root, with these of the environment; where sudo would ask, all of it is skipped."""
    if not os.getuid():
        return
    if not shutil.which("sudo") or subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode:
        print("  skip  all of it: needs users of its own: run it as root, or with sudo that asks no password")
        print(f"{suite}: 0 passed, 0 failed, 1 skipped")
        raise SystemExit(0)
    kept = [f"{name}={os.environ[name]}" for name in variables if name in os.environ]
    os.execvp("sudo", ["sudo", "-n", "env", *kept, str(script), *sys.argv[1:]])
