"""The workspace deleted, moved, replaced, its parent moved, the file system under it
unmounted, while a session starts and while it runs; and things of another kind where
the launcher looks.  Nothing runs unconfined, nothing hangs, nothing stays behind,
and who is refused is told why."""
import os
import pathlib
import shutil
import subprocess
import time

POLICY = """
import std/git
fs {
    tmp /tmp
    seal ~/.ssh
    deny write $workspace/.mcp.json $workspace/deep/er/none
    deny write $workspace/.envrc placeholder file
}
"""
LANDLOCK = 'fs { seal ~/.ssh; tmp /tmp best-effort }\nprocess { share attributes compat "t" }\n'
WHEN = ("starts", "runs")


def delete(work):
    shutil.rmtree(work, ignore_errors=True)


def move(work):
    os.rename(work, work.parent / "moved")


def become_link(work):
    os.rename(work, work.parent / "moved")
    work.symlink_to(work.parent.parent / ".ssh")


def become_another(work):
    os.rename(work, work.parent / "moved")
    work.mkdir()
    (work / "file").write_text("other\n")


def become_file(work):
    os.rename(work, work.parent / "moved")
    work.write_text("")


def move_parent(work):
    os.rename(work.parent, work.parent.parent / "parent-moved")


def parent_link(work):
    os.rename(work.parent, work.parent.parent / "parent-moved")
    work.parent.symlink_to(work.parent.parent / ".ssh")


def close_it(work):
    os.chmod(work, 0)


def close_parent(work):
    os.chmod(work.parent, 0)


def unmount(work):
    subprocess.run(["umount", "-l", work], check=False)


ACTIONS = (delete, move, become_link, become_another, become_file, move_parent, parent_link, close_it, close_parent,
           unmount)


class Workspace:
    def __init__(self, rig):
        self.rig = rig
        self.blobs = rig.blobs("gone", POLICY, LANDLOCK)
        self.top = rig.home / "gone"

    def fresh(self, action):
        self.undo()
        for name in (".ssh/id", ".ssh/known_hosts"):
            self.rig.put(self.top / name, "SECRET-7391\n")
        work = self.rig.folder(self.top / "src/proj")
        if action is unmount:
            options = f"uid={self.rig.uid},gid={self.rig.uid},mode=755"
            subprocess.run(["mount", "-t", "tmpfs", "-o", options, "races", work], check=True)
        self.rig.put(work / "file", "plain\n")
        self.rig.repository(work)
        return work

    def undo(self):
        subprocess.run(["umount", "-l", self.top / "src/proj"], capture_output=True)
        if (self.top / "src").is_dir():
            os.chmod(self.top / "src", 0o755)
        shutil.rmtree(self.top, ignore_errors=True)

    def one(self, backend, action, when):
        """(what is wrong, the exit status)"""
        rig, work = self.rig, self.fresh(action)
        top = self.top
        words = [f"shut:{top}/.ssh/authorized_keys", f"shut:{top}/.ssh/id", f"read:{top}/.ssh/id", f"walk:{top}/.ssh",
                 f"shut:{rig.home}/new"]
        if backend != "landlock":
            words += [f"walk:{work}"]
        here = os.open(work, os.O_PATH)
        child = rig.start(rig.sbx(backend, self.blobs[backend], rig.bin / "probe", *words),
                          f"/proc/{os.getpid()}/fd/{here}", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
        os.close(here)
        timer = rig.end_later()
        line = b""
        if when == "runs":
            line = child.stdout.readline()
            time.sleep(rig.random.random() * 0.01)
        else:
            time.sleep(rig.random.random() * 0.03)
        try:
            action(work)
        except OSError:
            pass  # the session is at the same names
        time.sleep(0.06 if when == "runs" else 0)
        said, errors = child.communicate(b"go\n")
        hung = not timer.is_alive()
        timer.cancel()
        said, errors = (line + said).decode(errors="replace"), errors.decode(errors="replace")
        wrong = [line for line in said.splitlines() if line.startswith(("read ", "wrote "))]
        if hung:
            wrong.append("it hung")
        elif "done" not in said and (child.returncode != 125 or "sbx-exec: " not in errors):
            wrong.append(f"status {child.returncode}: {errors}")
        left = rig.wait_for_end()
        if left:
            wrong.append(f"runs on: {left}")
            rig.end_all()
        if action in (close_it, close_parent):  # what stays is on record: spec.md, Bubblewrap
            for path in (self.top / "src", self.top / "src/proj"):
                os.chmod(path, 0o755)
            rig.run(rig.sbx(backend, self.blobs[backend], "/bin/true"), work)
        return wrong + self.strays(), child.returncode

    def strays(self):
        """What of placeholders stays, wherever the workspace is now."""
        found = [str(path) for path in self.top.rglob("*")
                 if not path.is_symlink() and path.exists() and path.stat().st_mode & 0o1000]
        if sorted(os.listdir(self.top / ".ssh")) != ["id", "known_hosts"]:
            found.append(f"in .ssh: {os.listdir(self.top / '.ssh')}")
        return found

    def nothing_after_one_more(self, backend, action):
        """A session where the directory was, in a workspace that is there again."""
        rig, work = self.rig, self.fresh(action)
        status, output = rig.run(rig.sbx(backend, self.blobs[backend], "/bin/true", options=["-q"]), work)
        left = rig.records() + rig.private_dirs()
        return [f"afterwards: {status} {output} {left}"] if status or left else []

    def series(self, backend, rounds):
        ran = refused = 0
        for action in ACTIONS:
            wrong = []
            for when in WHEN:
                for _ in range(rounds):
                    found, status = self.one(backend, action, when)
                    ran += status == 7
                    refused += status == 125
                    wrong += [f"{when}: {line}" for line in found]
            wrong += self.nothing_after_one_more(backend, action)
            self.rig.report.check(not wrong, f"workspace, {backend}: {action.__name__.replace('_', ' ')}",
                                  "\n".join(wrong))
        self.undo()
        self.rig.report.figures(f"workspace, {backend}", sessions=len(ACTIONS) * 2 * rounds, ran=ran,
                                refused_or_ended=refused)


def odd_kinds(rig):
    """A pipe where a file or directory is expected is not waited for."""
    blob = rig.policy("odd", "fs { copy ~/odd; deny write $workspace/absent }\n")
    work = rig.folder(rig.home / "odd-work")
    rig.folder(rig.home / "odd")
    status, output = rig.run(rig.sbx("bwrap", blob, "/bin/true"), work)
    rig.report.check(status == 0, "workspace: a directory is copied", output)
    os.rmdir(rig.home / "odd")
    os.mkfifo(rig.home / "odd")
    rig.own(rig.home / "odd")
    status, output = rig.run(rig.sbx("bwrap", blob, "/bin/true"), work)
    rig.report.check(status == 125 and "has no copy" in output, "... a pipe is refused", f"{status} {output}")
    os.unlink(rig.home / "odd")
    rig.folder(rig.home / "odd")
    mutex = rig.home / ".local/state/sbx/sessions/mutex"
    mutex.unlink()
    os.mkfifo(mutex)
    rig.own(mutex)
    status, output = rig.run(rig.sbx("bwrap", blob, "/bin/true"), work)
    rig.report.check(status == 125 and "no directory to note" in output,
                     "... and in the place of the records' lock", f"{status} {output}")
    mutex.unlink()


def run(rig):
    workspace = Workspace(rig)
    for backend in rig.backends:
        workspace.series(backend, 15 if rig.full else 1)
    odd_kinds(rig)
