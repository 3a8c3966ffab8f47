"""A home or workspace that is full, has no inodes left or is read-only, at the start
and at the end.  A launch is refused with the reason or holds; what it had made by then
is removed; and once there is room again, the next session leaves nothing."""
import os
import pathlib
import subprocess

POLICY = """
import std/git
fs {
    tmp /tmp
    deny write $workspace/.mcp.json $workspace/deep/er/none
    deny write $workspace/.envrc placeholder file
    deny write $workspace/agent.json placeholder "{}\\n"
}
"""
LANDLOCK = 'fs { tmp /tmp best-effort }\nprocess { share attributes compat "t" }\n'


class Space:
    def __init__(self, rig):
        self.rig = rig
        self.blobs = rig.blobs("space", POLICY, LANDLOCK)
        self.work = rig.home / "space/work"
        self.state = rig.home / ".local"

    def mount(self, where, options):
        self.rig.folder(where)
        options = f"uid={self.rig.uid},gid={self.rig.uid},mode=755,{options}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "races", where], check=True)

    def unmount(self, *where):
        for place in where:
            subprocess.run(["umount", "-l", place], check=True)

    @staticmethod
    def fill(directory):
        """To the last byte."""
        with open(pathlib.Path(directory) / "filler", "wb", buffering=0) as file:
            for size in (65536, 4096, 1):
                try:
                    while file.write(b"x" * size):
                        pass
                except OSError:
                    pass

    @staticmethod
    def use_up(directory, free):
        """All but @free of the inodes."""
        names = []
        for number in range(100000):
            name = pathlib.Path(directory) / f"filler-{number}"
            try:
                name.touch()
            except OSError:
                break
            names.append(name)
        for name in names[len(names) - free:] if free else []:
            name.unlink()

    @staticmethod
    def free(directory):
        for path in pathlib.Path(directory).glob("filler*"):
            path.unlink()

    def launch(self, backend, *command):
        return self.rig.run(self.rig.sbx(backend, self.blobs[backend], *command, options=["-q"]), self.work)

    def check(self, backend, what, outcome, place, before):
        """Refused with a reason, or it ran; and then, with room again, nothing is left."""
        rig, (status, output) = self.rig, outcome
        rig.report.check(status == 0 or (status == 125 and "sbx-exec: " in output), f"space, {backend}, {what}: "
                         "refused with the reason, or it runs", outcome)
        left = set(rig.listing(self.work)) - set(before)
        left = {name for name in left if "filler" not in name}
        if status == 125:
            rig.report.check(not left, f"space, {backend}, {what}: what was made is removed", left)
        self.free(place)
        status, output = self.launch(backend, "/bin/true")
        left = {name for name in set(rig.listing(self.work)) ^ set(before) if "filler" not in name}
        rig.report.check(status == 0 and not output and not left and not rig.records() and not rig.private_dirs(),
                         f"space, {backend}, {what}: the next session leaves nothing",
                         f"{status} {output} {left} {rig.records()} {rig.private_dirs()}")

    def backend(self, backend):
        rig = self.rig
        self.mount(self.state, "size=64k,nr_inodes=40")
        self.mount(self.work, "size=2m,nr_inodes=400")
        rig.repository(self.work)
        before = rig.listing(self.work)
        rig.report.check(self.launch(backend, "/bin/true") == (0, ""), f"space, {backend}: with room it runs")

        self.fill(self.state)
        self.check(backend, "no room for the records", self.launch(backend, "/bin/true"), self.state, before)
        for free in range(3):
            self.use_up(self.state, free)
            self.check(backend, f"{free} inodes for the records", self.launch(backend, "/bin/true"), self.state, before)
        self.fill(self.work)
        self.check(backend, "a full workspace", self.launch(backend, "/bin/true"), self.work, before)
        for free in range(8):
            self.use_up(self.work, free)
            self.check(backend, f"{free} inodes in the workspace", self.launch(backend, "/bin/true"), self.work, before)
        self.check(backend, "full at the end", self.launch(backend, "/bin/sh", "-c", "cat /dev/zero >filler; exit 0"),
                   self.work, before)
        self.at_the_end(backend, before)
        self.unmount(self.work, self.state)

        self.mount(self.state, "size=64k")
        rig.folder(self.work)
        rig.repository(self.work)
        before = rig.listing(self.work)
        subprocess.run(["mount", "-o", "remount,ro", self.state], check=True)
        outcome = self.launch(backend, "/bin/true")
        rig.report.check(outcome[0] in (0, 125) and rig.listing(self.work) == before, f"space, {backend}: a home that is "
                         "read-only", outcome)
        if backend != "landlock":
            rig.report.check("writable" in outcome[1], f"space, {backend}: ... it is said what to do", outcome)
        self.unmount(self.state)
        subprocess.run(["rm", "-rf", self.work], check=True)

    def at_the_end(self, backend, before):
        """The records' place becomes full, then closed to writing, while the session runs."""
        rig, place = self.rig, self.state / "state/sbx/sessions"
        for what, spoil, mend in (
                ("records full at the end", lambda: self.fill(self.state), lambda: None),
                ("records read-only at the end", lambda: os.chmod(place, 0o500), lambda: os.chmod(place, 0o700))):
            child = rig.start(rig.sbx(backend, self.blobs[backend], rig.bin / "hold", "sleep", options=["-q"]), self.work,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            timer = rig.end_later()
            child.stdout.readline()
            spoil()
            errors = child.communicate()[1].decode()
            timer.cancel()
            mend()
            rig.report.check(child.returncode == 7, f"space, {backend}, {what}: the session ends as ever", errors)
            self.check(backend, what, (0, ""), self.state, before)


def run(rig):
    space = Space(rig)
    for backend in rig.backends:
        space.backend(backend)
