"""SIGKILL at any moment: of the launcher, the backend, the stages inside, the
launcher's helpers, of all at once.  Nothing unconfined may run on; what stays on
disk must trip nobody, and the next session must clear it away.  And SIGSTOP."""
import os
import pathlib
import signal
import subprocess
import threading
import time

VICTIMS = ("launcher", "backend", "inside", "helper", "any", "all")
POLICY = """
import std/git
fs {
    tmp /tmp
    deny write $workspace/.mcp.json $workspace/deep/er/none
    deny write $workspace/.envrc placeholder file
    deny write $workspace/agent.json placeholder "{}\\n"
    deny $workspace/locked
}
"""
LANDLOCK = 'fs { tmp /tmp best-effort }\nprocess { share attributes compat "t" }\n'


# What git sees of placeholders: files outside .git, where the policy asks for one, and
# `git clean` also directories.
FILES = (".envrc", "agent.json")
DIRECTORIES = (".mcp.json/", "deep/", "locked/")


def children_of(pid):
    """All descendants."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                found += [int(child)] + children_of(int(child))
    except OSError:
        pass
    return found


def words_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return [""]


class Churn:
    """Replaces .git/config as an editor would, without pause: its mask is laid again
    all the time, by a child of the launcher's."""

    def __init__(self, rig, work):
        self.rig, self.over = rig, False
        self.path, self.text = work / ".git/config", (work / ".git/config").read_text()
        self.thread = threading.Thread(target=self.turn)
        self.thread.start()

    def turn(self):
        aside = self.path.parent.parent.parent / "config.new"
        while not self.over:
            aside.write_text(self.text)
            self.rig.own(aside)
            os.replace(aside, self.path)
            time.sleep(0.002)

    def end(self):
        self.over = True
        self.thread.join()


class Kills:
    def __init__(self, rig):
        self.rig = rig
        self.blobs = rig.blobs("kill", POLICY, LANDLOCK)

    def find(self, launcher, victim):
        every = children_of(launcher)
        if victim == "launcher":
            return [launcher]
        if victim == "all":
            return [launcher] + every
        if victim == "backend":
            return [pid for pid in every if words_of(pid)[0] in ("bwrap", "firejail")][:1]
        if victim == "inside":
            return [pid for pid in every if words_of(pid)[0].startswith("/proc/self/fd/")][-1:] or every[-1:]
        if victim == "helper":  # the launcher's forks; on landlock the stage inside is one
            every = [pid for pid in every if words_of(pid)[0] == str(self.rig.launcher)]
        return [self.rig.random.choice(every)] if every else []

    def strike(self, child, victim):
        """The pids that were killed."""
        pids = self.find(child.pid, victim)
        until = time.time() + {"backend": 0.1, "inside": 0.1, "helper": 0.3}.get(victim, 0)
        while not pids and time.time() < until:
            pids = self.find(child.pid, victim)
            time.sleep(0 if victim == "helper" else self.rig.random.random() * 0.003)
        for pid in pids or [child.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return pids or [child.pid]

    def unconfined(self):
        return {pid: words for pid, (words, confined) in self.rig.processes().items() if not confined}

    def one(self, backend, work, number):
        """What is wrong, as lines."""
        rig, victim = self.rig, VICTIMS[number % len(VICTIMS)]
        churn = Churn(rig, work) if victim == "helper" and number % 4 and backend != "landlock" else None
        child = rig.start(rig.sbx(backend, self.blobs[backend], rig.bin / "hold", "connect", "/tmp"), work,
                          stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rig.random.random() * (0.06 if victim == "helper" else 0.03))
        killed = self.strike(child, victim)
        self.struck[victim] += killed != [child.pid] or victim == "launcher"
        time.sleep(0.02 if victim == "helper" else 0)
        if churn:
            churn.end()
        child.stdin.close()
        timer = rig.end_later()
        child.wait()
        hung = not timer.is_alive()
        timer.cancel()
        wrong = ["the launcher hung"] if hung else []
        by_itself = child.pid not in killed
        if backend == "landlock" and not by_itself:  # what the program has started lives on, confined
            until = time.time() + 2
            while (left := self.unconfined()) and time.time() < until:
                time.sleep(0.01)
        else:
            left = rig.wait_for_end()
        wrong += [f"runs on: {left}"] if left else []
        rig.end_all()
        rig.wait_for_end()
        return [f"{victim}: {line}" for line in wrong + self.what_is_left(backend, work)]

    def what_is_left(self, backend, work):
        rig, wrong = self.rig, []
        self.leavings += bool(rig.records() or rig.private_dirs())
        for words, known in ((["status", "--porcelain"], FILES), (["clean", "-nd"], FILES + DIRECTORIES),
                             (["log", "-1", "--format="], ())):
            status, output = rig.git(work, *words)
            if status or any(line.split(" ")[-1] not in known for line in output.splitlines()):
                wrong.append(f"git {words[0]}: {status}, {output}")
        for name, text in (("agent.json", "{}\n"), (".git/commondir", ".\n")):
            path = work / name
            if path.exists() and path.read_text() != text:
                wrong.append(f"{name} is not whole: {path.read_text()}")
        status, output = rig.run(rig.sbx(backend, self.blobs[backend], "/bin/true", options=["-q"]), work)
        if status or output:
            wrong.append(f"the next session: {status}, {output}")
        if rig.listing(work) != self.before:
            wrong.append(f"in the workspace: {set(rig.listing(work).items()) ^ set(self.before.items())}")
        wrong += [f"{what} are left" for what in rig.records() + rig.private_dirs()]
        return wrong

    def series(self, backend, count):
        work = self.rig.repository(self.rig.home / f"killed/{backend}")
        self.before = self.rig.listing(work)
        self.leavings, self.struck = 0, dict.fromkeys(VICTIMS, 0)
        wrong = []
        for number in range(count):
            found = self.one(backend, work, number)
            wrong += found
            if found:  # each once
                self.rig.run(["rm", "-rf", work], "/")
                self.rig.repository(work)
        self.rig.report.figures(f"kills, {backend}", kills=count, left_something=self.leavings, wrong=len(wrong),
                                **{f"of {victim}": number for victim, number in self.struck.items()})
        self.rig.report.check(not wrong, f"kills, {backend}: nothing runs on, nothing stays", "\n".join(wrong[:10]))
        self.rig.report.check(self.leavings, f"kills, {backend}: some left something to clear")

    # ---- SIGSTOP --------------------------------------------------------------------

    def stopped(self, whom):
        """The host lifts a mask while @whom is stopped."""
        rig = self.rig
        work = rig.repository(rig.home / f"stopped/{whom}")
        child = rig.start(rig.sbx("bwrap", self.blobs["bwrap"], rig.bin / "hold", "watch", ".git/config"), work,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        timer = rig.end_later()
        child.stdout.readline()
        pid = self.find(child.pid, whom)[0]
        os.kill(pid, signal.SIGSTOP)
        rig.git(work, "config", "core.y", "2")
        time.sleep(0.1)
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.3)
        said, errors = child.communicate()
        timer.cancel()
        rig.report.check(b"now closed" in said and child.returncode == 7, f"kills, {whom} stopped while the host lifts a "
                         "mask: it is laid again", said + errors)
        rig.report.check(b"protected again" in errors, f"kills, {whom} stopped: that is said", errors)


def run(rig):
    kills = Kills(rig)
    for backend in rig.backends:
        kills.series(backend, 300 if rig.full else 18)
    for whom in ("launcher", "backend", "inside"):
        kills.stopped(whom)
