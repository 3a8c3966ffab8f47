"""Launches while somebody outside swaps every name that the policy speaks of.

What a swap puts in the place of a name is mostly a link to where nothing may be
read or made, or something of another kind.  No swap moves the secret to where the
policy lets the program read: that would be the host's own doing.
"""
import os
import pathlib
import signal
import subprocess
import time

from rig import MARK, SECRET, empty

GRANTS = """
fs {
    read ~/granted ~/one.txt
    write ~/out ~/log.txt
    write ~/made create
    seal ~/.ssh ~/keys
    tmp /tmp best-effort
"""
MASKS = """
    seal ~/granted/sealed
    deny write $workspace/.envrc placeholder file
    deny write $workspace/.mcp.json
    deny write $workspace/deep/er/none
    deny $workspace/secret.txt $workspace/locked
"""
HELD = (".envrc", ".mcp.json", "deep/er/none", ".git/config", ".git/hooks", ".git/config.worktree", "locked")
# Swapped while the program runs, too: nothing that a mask lies on.
ALWAYS = """
exchange src a/src-link
exchange src a/src-other
away src a/1
exchange src/proj a/work-link
exchange src/proj a/work-other
away src/proj a/2
exchange granted a/ssh-link
exchange granted a/other
exchange granted a/fifo
exchange one.txt a/id-link
exchange one.txt a/fifo
exchange one.txt a/socket
exchange one.txt a/other
relink one.txt a/one-again
exchange out a/ssh-link
exchange out a/out-other
exchange log.txt a/new-link
exchange log.txt a/fifo
link made a/nowhere
link made .ssh/authorized_keys
link made .ssh
fifo made -
file made -
exchange copied a/ssh-link
exchange copied a/other
exchange copied a/fifo
away .ssh a/3
exchange .ssh a/other
exchange keys a/link-out
away keys a/4
exchange .local/share/sbx/race.sbx a/id-link
exchange .local/share/sbx/race.sbx a/fifo
exchange .local/share/sbx/race.sbx a/garbage
exchange .local/share/sbx/race.sbx a/other
relink .local/share/sbx/race.sbx a/blob-again
away .local/share/sbx/race.sbx a/5
exchange .local/share/sbx a/ssh-link
fresh .local/share/sbx a/6
away .local a/7
exchange .local/state a/elsewhere-link
fresh .local/state a/8
exchange .local/state/sbx a/ssh-link
exchange .local/state/sbx a/fifo
fresh .local/state/sbx a/9
exchange .local/state/sbx/sessions a/ssh-link
exchange .local/state/sbx/sessions a/other
fresh .local/state/sbx/sessions a/10
exchange .local/state/sbx/sessions/mutex a/new-link
exchange .local/state/sbx/sessions/mutex a/fifo
exchange .local/state/sbx/sessions/mutex a/other
away .local/state/sbx/sessions/mutex a/11
"""
# Swapped until the program runs.
MASKED = """
exchange granted/sealed a/other
exchange granted/sealed a/out-link
away granted/sealed a/20
exchange src/proj/.envrc a/new-link
exchange src/proj/.envrc a/fifo
exchange src/proj/.envrc a/socket
exchange src/proj/.envrc a/other
relink src/proj/.envrc a/envrc-again
away src/proj/.envrc a/21
link src/proj/.mcp.json .ssh/authorized_keys
link src/proj/.mcp.json .ssh
dir src/proj/.mcp.json -
fifo src/proj/.mcp.json -
socket src/proj/.mcp.json -
file src/proj/.mcp.json -
exchange src/proj/deep a/ssh-link
exchange src/proj/deep a/out-link
fresh src/proj/deep a/22
exchange src/proj/deep/er a/ssh-link
exchange src/proj/deep/er a/out-link
away src/proj/deep/er a/23
link src/proj/deep/er/none .ssh/authorized_keys
exchange src/proj/secret.txt a/fifo
exchange src/proj/secret.txt a/other
away src/proj/secret.txt a/24
link src/proj/locked .ssh/authorized_keys
dir src/proj/locked -
exchange src/proj/.git a/ssh-link
exchange src/proj/.git a/other
exchange src/proj/.git a/git-other
exchange src/proj/.git a/garbage
away src/proj/.git a/25
exchange src/proj/.git/config a/new-link
exchange src/proj/.git/config a/fifo
away src/proj/.git/config a/26
exchange src/proj/.git/hooks a/ssh-link
fresh src/proj/.git/hooks a/27
link src/proj/.git/commondir .ssh/authorized_keys
"""


class Swaps:
    def __init__(self, rig):
        self.rig, self.home, self.work = rig, rig.home, rig.home / "src/proj"
        masked = "import std/git\n" + GRANTS + MASKS
        self.blobs = rig.blobs("race", masked + "}\n", GRANTS + '}\nprocess { share attributes compat "t" }\n')
        self.blobs["bwrap"] = rig.policy("race-bwrap", masked + "copy ~/copied\n}\n")
        self.list = rig.dir / "swaps"
        self.always, self.masked = self.lines("b", ALWAYS), self.lines("m", MASKED)
        self.template = self.make_template()

    def lines(self, mark, text):
        return [f"{mark} {how} {self.home}/{name} {self.home}/{other}\n"
                for how, name, other in (line.split() for line in text.strip().split("\n"))]

    def choose(self, backend):
        """All of them, or few: under all at once a launch hardly comes through."""
        lines = self.always + (self.masked if backend != "landlock" else [])
        count = self.rig.random.choice((2, 4, 8, 16, len(lines)))
        self.list.write_text("".join(self.rig.random.sample(lines, count) + self.always[:1]))
        self.list.chmod(0o644)
        return self.list

    # ---- what is there ----------------------------------------------------------------

    def make_template(self):
        """All but the blob; copied for each launch."""
        rig, top = self.rig, self.rig.folder(self.rig.home / "template")
        for name in (".ssh/id", "keys/token", "granted/sealed/key", "src/proj/secret.txt"):
            rig.put(top / name, SECRET)
        for name in ("granted/file", "one.txt", "log.txt", "out/file", "copied/file", "src/proj/file",
                     "src/proj/deep/er/file", "src/proj/.envrc", "outside/victim", ".bashrc", "a/other/file",
                     "a/other/er/file", "a/out-other/file", "a/work-other/file", "a/src-other/proj/file"):
            rig.put(top / name, "plain\n")
        rig.put(top / "a/garbage", "gitdir: /etc\n")
        for name, target in (("ssh-link", ".ssh"), ("id-link", ".ssh/id"), ("new-link", ".ssh/authorized_keys"),
                             ("work-link", ".ssh"), ("src-link", ".ssh"), ("out-link", "outside"),
                             ("link-out", "outside"), ("elsewhere-link", "elsewhere")):
            (top / "a" / name).symlink_to(self.home / target)
            rig.own(top / "a" / name)
        os.mkfifo(top / "a/fifo")
        rig.own(top / "a/fifo")
        rig.folder(top / "elsewhere")
        rig.put(top / ".local/state/sbx/sessions/mutex").chmod(0o200)
        for name in ("src/proj", "a/git"):
            rig.repository(top / name)
        os.rename(top / "a/git/.git", top / "a/git-other")
        return top

    def fresh(self, backend):
        for entry in os.scandir(self.home):
            if entry.name != "template":
                path = pathlib.Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    empty(path)
                    path.rmdir()
                else:
                    path.unlink()
        subprocess.run(["cp", "-a", f"{self.template}/.", self.home], check=True)
        blob = self.home / ".local/share/sbx/race.sbx"
        self.rig.put(blob, "").write_bytes(self.blobs[backend].read_bytes())
        return blob

    # ---- one launch -------------------------------------------------------------------

    def words(self, backend, goes_on):
        home = self.home
        words = [] if goes_on else ["settle"]
        if backend != "landlock":
            words += [f"held:{self.work}/{name}" for name in HELD]
        words += [f"shut:{home}/{name}" for name in
                  (".ssh/authorized_keys", ".ssh/id", "keys/token", "outside/victim", "outside/new", ".bashrc",
                   ".local/share/sbx/race.sbx", ".local/state/sbx/sessions/session-1-1")]
        words += [f"read:{home}/{name}" for name in (".ssh/id", "keys/token", "one.txt", "log.txt")]
        words += [f"walk:{name}" for name in (home, self.work, ".", "/tmp", "/proc/self/cwd/..")]
        if backend == "landlock":  # it has no masks: these may be read
            words = [word for word in words if word not in (f"walk:{home}", f"walk:{self.work}", "walk:.",
                                                            "walk:/proc/self/cwd/..")]
            words += [f"walk:{home}/{name}" for name in (".ssh", "keys", "out", "made", "copied", "outside")]
        return words

    def launch(self, command, here, swapper, goes_on):
        """(exit status or None, what the probe said, what the launcher said)"""
        child = self.rig.start(command, f"/proc/{os.getpid()}/fd/{here}", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        timer = self.rig.end_later()
        try:
            line = child.stdout.readline()
            if line and not goes_on:
                self.stop(swapper)
            said, errors = child.communicate(b"go\n" if line else None)
        finally:
            timer.cancel()
        status = None if child.returncode == -signal.SIGKILL else child.returncode
        return status, (line + said).decode(errors="replace"), errors.decode(errors="replace")

    @staticmethod
    def stop(swapper):
        swapper.stdin.write(b"s")
        swapper.stdin.flush()
        return int(swapper.stdout.readline())

    def damage(self, backend):
        """What is on the host that must not be."""
        found = []
        for name, want in ((".ssh", ["id"]), ("keys", ["token"]), ("outside", ["victim"])):
            if sorted(os.listdir(self.home / name)) != want:
                listed = subprocess.run(["ls", "-la", self.home / name], capture_output=True, text=True)
                found.append(f"in {name}: {listed.stdout}")
        for folder, folders, files in os.walk(self.home):
            if pathlib.Path(folder) == self.home:
                folders.remove("template")
            for name in files:
                path = pathlib.Path(folder, name)
                if path.is_symlink() or not path.is_file() or not self.is_held(path, backend):
                    continue
                if MARK in path.read_text(errors="replace"):
                    found.append(f"{path} carries the mark")
        return found

    def is_held(self, path, backend):
        name = str(path.relative_to(self.home))
        if name.startswith(("out/", "made", "log.txt", "a/", "template")) or "probe-" in name:
            return False
        return backend != "landlock" or not name.startswith("src/proj/")

    def series(self, backend, count, naive=False):
        """{what: how often}, [(launch, violations)]"""
        seen = dict.fromkeys(("launches", "refusals", "runs", "ended", "late", "reported"), 0)
        wrong = []
        for number in range(count):
            blob = self.fresh(backend)
            goes_on = self.rig.random.random() < 0.4
            words = self.words(backend, goes_on)
            probe = [self.rig.bin / "probe", *words]
            here = os.open(self.work, os.O_PATH)
            swapper = self.rig.start([self.rig.bin / "swap", self.rig.random.randrange(1 << 40), self.choose(backend)],
                                     "/", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            swapper.stdin.write(b"b" if goes_on else b"a")
            swapper.stdin.flush()
            time.sleep(self.rig.random.random() * 0.003)
            status, said, errors = self.launch(
                ["python3", "-I", "-S", self.rig.bin / "naive", *probe] if naive else self.rig.sbx(backend, blob, *probe),
                here, swapper, goes_on)
            os.close(here)
            self.stop(swapper)
            swapper.stdin.close()
            swapper.wait()
            swapper.stdout.close()
            violations = self.judge(backend, status, said, errors, seen)
            if violations:
                wrong.append((number, "goes on" if goes_on else "stops", violations, status, errors))
        return seen, wrong

    def judge(self, backend, status, said, errors, seen):
        seen["launches"] += 1
        lines = said.split("\n")
        violations = [line for line in lines if line.startswith(("read ", "wrote "))]
        seen["late"] += "waited " in said
        if backend == "firejail" and "no longer protected" in errors:
            # Said, and all that it can do: spec.md, The supervisor.
            seen["reported"] += 1
            names = errors.split("do it again): ")[1].split("\n")[0].split(", ")
            violations = [line for line in violations if not any(name in line for name in names)]
        damage = self.damage(backend)
        if "a repository was made" in errors:  # .git was away when the launch looked: it has none to protect
            seen["reported"] += 1
            violations, damage = ([line for line in lines if "/.git" not in line] for lines in (violations, damage))
        if status is None:
            violations.append("hung")
        elif "started" not in said:
            seen["refusals"] += 1
            if self.rig.report.verbose:
                print("   ", errors.strip().replace("\n", " | "))
            if status != 125 or "sbx-exec: " not in errors:
                violations.append(f"status {status} without a start")
        elif "done" in said:
            seen["runs"] += 1
            if status != 7:
                violations.append(f"status {status} for the program's 7")
        else:
            seen["ended"] += 1
            if status != 125 or "session ended" not in errors:
                violations.append(f"status {status}, and the probe did not end")
        left = self.rig.wait_for_end(0) and self.rig.wait_for_end(2)
        if left:
            violations.append(f"runs on: {left}")
            self.rig.end_all()
        return violations + damage


def run(rig):
    swaps = Swaps(rig)
    for backend in rig.backends:
        seen, wrong = swaps.series(backend, 500 if rig.full else 15)
        rig.report.figures(f"swaps, {backend}", **seen, violations=len(wrong))
        rig.report.check(not wrong, f"swaps, {backend}: the policy holds, or the launch is refused",
                         "\n".join(map(str, wrong[:6])))
        if rig.full:  # of few on a busy machine, none may come through
            rig.report.check(seen["runs"] >= seen["launches"] / 20, f"swaps, {backend}: some launches run", seen)
            rig.report.check(seen["refusals"], f"swaps, {backend}: some are refused", seen)
    through = False
    for _ in range(4):  # of few on a busy machine, none may start
        seen, wrong = swaps.series("bwrap", 200 if rig.full else 15, naive=True)
        rig.report.figures("swaps, bubblewrap with the same names", **seen, violations=len(wrong))
        through = any("read " in str(each) or "wrote " in str(each) for each in wrong)
        if through:
            break
    rig.report.check(through, "swaps: a launcher that goes by names lets some through", seen)
