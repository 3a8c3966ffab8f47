"""A user and places of its own, policies, launches and what is left of them."""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import threading
import time

import suite

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
USERS = suite.Users("races", "sbxrace", 1771, 4)
SECONDS = 10  # for one launch: longer is a hang
SECRET = "SECRET-7391\n"
MARK = "PROBE-WAS-HERE"
HEAD = """language 1
policy "race"
import {rig}
import std/races
workspace $cwd
command /bin/sh
syscalls {{ default ENOSYS }}
"""


class Report(suite.Report):
    def figures(self, what, **numbers):
        print(f"  {what}: " + ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in numbers.items()),
              flush=True)


def empty(directory):
    """Of all that is in it, whatever that is."""
    for entry in os.scandir(directory):
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)
            empty(entry.path)
            os.rmdir(entry.path)
        else:
            os.unlink(entry.path)


class Rig:
    """Runs in a mount namespace of its own, with these places bound over."""

    def __init__(self, report, host, seed, full):
        self.report, self.full = report, full
        self.random = random.Random(seed)
        self.seed = seed
        self.uid = USERS.take()
        self.user = USERS.name(self.uid)
        self.home = pathlib.Path("/home") / self.user
        places = {"home": self.home, "tmp": "/tmp", "shm": "/dev/shm", "var-tmp": "/var/tmp"}
        for name in places:
            (host / name).mkdir(0o700)
            (host / name).chmod(0o755 if name == "home" else 0o1777)
        self.stage(host / "var-tmp/sbx")  # before a place of ours hides where they come from
        if not full:  # a memory's are made and removed faster; a disk gives inode numbers anew
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "races", host / "home"], check=True)
        for name, place in places.items():
            subprocess.run(["mount", "--bind", host / name, place], check=True)
        self.own(self.home)
        self.dir = pathlib.Path("/var/tmp/sbx")
        self.bin, self.launcher = self.dir / "bin", self.dir / "build/sbx-exec"
        self.env = {"HOME": str(self.home), "USER": self.user, "LOGNAME": self.user, "LANG": "C.UTF-8",
                    "PATH": "/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null"}
        self.backends = []
        for backend in ("bwrap", "firejail", "landlock"):
            why = suite.obstacle(backend)
            if why:
                report.skip(backend, why)
            else:
                self.backends.append(backend)

    @staticmethod
    def stage(to):
        suite.stage(to, TOP / "build/sbx-exec")
        (to / "bin").mkdir()
        for program in ("swap", "probe", "hold"):
            shutil.copy(TOP / "build/tests" / f"races-{program}", to / "bin" / program)
        shutil.copy(TOP / "tests/races/naive", to / "bin")
        (to / "stdlib/races.pol").write_text(
            'language 1\nmodule "races"\nfs { exec /var/tmp/sbx/bin }\n')
        suite.open_to_all(to)

    # ---- files ----------------------------------------------------------------------

    def own(self, *paths):
        for path in paths:
            os.chown(path, self.uid, self.uid, follow_symlinks=False)

    def put(self, path, text=""):
        """The user's file, with the directories above it."""
        path = pathlib.Path(path)
        self.folder(path.parent)
        path.write_text(text)
        self.own(path)
        return path

    def folder(self, path):
        path = pathlib.Path(path)
        if not path.exists():
            self.folder(path.parent)
            path.mkdir()
            self.own(path)
        return path

    def policy(self, name, body, rig="std/rig"):
        source, blob = self.dir / f"{name}.pol", self.dir / f"{name}.sbx"
        source.write_text(HEAD.format(rig=rig) + body)
        done = subprocess.run([self.dir / "build/sbxc", source, "-o", blob], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        blob.chmod(0o644)
        return blob

    def blobs(self, name, body, landlock):
        """{backend: blob}: Landlock makes no mounts, so that there the policy asks for less."""
        masked = self.policy(name, body)
        return {"bwrap": masked, "firejail": masked,
                "landlock": self.policy(f"{name}-landlock", landlock, "std/rig-without-proc")}

    # ---- processes ------------------------------------------------------------------

    def start(self, command, cwd, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([str(word) for word in command], cwd=cwd, env=self.env, user=self.uid, group=self.uid,
                                extra_groups=[], start_new_session=True, **more)

    def end_later(self, times=1):
        """Ends all that hangs; cancel() what is returned."""
        timer = threading.Timer(times * SECONDS, self.end_all)
        timer.start()
        return timer

    def run(self, command, cwd):
        """(exit status, output); None: it hung."""
        child = self.start(command, cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            output = child.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            self.end_all()
            return None, child.communicate()[0].decode(errors="replace")
        return child.returncode, output.decode(errors="replace")

    def sbx(self, backend, blob, *command, options=()):
        return [self.launcher, *options, "--backend", backend, blob, "--", *command]

    def processes(self):
        """{pid: (words, is it behind a filter)} of the user's that are no zombies."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.stat(f"/proc/{pid}").st_uid != self.uid:
                    # Not dumpable: root's to the eye.
                    if f"\nUid:\t{self.uid}\t" not in pathlib.Path(f"/proc/{pid}/status").read_text():
                        continue
                status = pathlib.Path(f"/proc/{pid}/status").read_text()
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            if "State:\tZ" not in status and "State:\tX" not in status:
                found[int(pid)] = (words, "\nSeccomp:\t2" in status and "\nNoNewPrivs:\t1" in status)
        return found

    def wait_for_end(self, seconds=3):
        """What is left of the user's processes then."""
        end = time.time() + seconds
        while (left := self.processes()) and time.time() < end:
            time.sleep(0.01)
        return left

    def end_all(self):
        """They are all ours: the user has no others."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    # ---- what sessions leave ----------------------------------------------------------

    def records(self):
        place = self.home / ".local/state/sbx/sessions"
        return sorted(entry.name for entry in place.iterdir() if entry.name != "mutex") if place.is_dir() else []

    def private_dirs(self):
        return sorted(str(path) for path in pathlib.Path("/tmp").glob("sbx-*"))

    def listing(self, directory):
        """{name: kind} of all in it but what git moves about itself."""
        found = {}
        for folder, folders, files in os.walk(directory):
            for name in folders + files:
                path = os.path.join(folder, name)
                if "/.git/objects" not in path and not path.endswith(("/.git/index", "/.git/logs")):
                    found[os.path.relpath(path, directory)] = oct(os.lstat(path).st_mode)
        return found

    def git(self, work, *words):
        return self.run(["git", "-c", "user.email=a@b", "-c", "user.name=n", *words], work)

    def repository(self, work):
        self.folder(work)
        self.git(work, "init", "-q", "--template=", ".")
        self.put(work / ".git/hooks/pre-commit.sample")
        self.put(work / "tracked", "1\n")
        self.git(work, "add", "tracked")
        self.git(work, "commit", "-qm", "x")
        return work
