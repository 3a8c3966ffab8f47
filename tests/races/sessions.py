"""Two and fifty sandboxes in one workspace, of a wide and a narrow policy, started
and ended in any order.  What the narrow ones mask, the wide ones try to remove and to
replace all the time.

A wide one that starts while a narrow one lives masks the same names, and gets
nowhere.  One that was there before is to the narrow one what the host is: what it
lifts is laid again, in milliseconds."""
import subprocess
import time

WIDE = "fs { tmp /tmp }\n"
NARROW = """
import std/git
fs {
    tmp /tmp
    deny write $workspace/.mcp.json $workspace/deep/er/none
    deny write $workspace/.envrc placeholder file
    deny write $workspace/tasks.json
}
"""
NAMES = (".mcp.json", "deep/er/none", ".envrc", "tasks.json", ".git/config", ".git/hooks")
LONGEST_MS = 500  # 50 are promised on a machine that is not overloaded: fifty sessions are that


class Session:
    def __init__(self, rig, backend, blob, work, words):
        self.words, self.first = words, None
        self.child = rig.start(rig.sbx(backend, blob, rig.bin / "hold", *words), work,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def started(self):
        if self.first is None:
            self.first = self.child.stdout.readline()
        return self.first == b"started\n"

    def end(self):
        """(status, what it said, what the launcher said)"""
        said, errors = self.child.communicate()
        return self.child.returncode, said.decode(), errors.decode()


class Sessions:
    def __init__(self, rig):
        self.rig = rig
        self.wide, self.narrow = rig.policy("wide", WIDE), rig.policy("narrow", NARROW)

    def workspace(self, name):
        work = self.rig.repository(self.rig.home / f"sessions/{name}")
        self.rig.put(work / "tasks.json", "{}\n")
        return work

    def start(self, backend, work, wide):
        blob, words = (self.wide, ("attack", *NAMES)) if wide else (self.narrow, ("watch", *NAMES))
        return Session(self.rig, backend, blob, work, words)

    def narrow_first(self, backend, others):
        """One narrow, then @others that start and end in any order."""
        rig, work = self.rig, self.workspace(f"{backend}-first-{others}")
        before = rig.listing(work)
        timer = rig.end_later()
        first = self.start(backend, work, False)
        good = first.started()
        live, wrong = [], []
        for _ in range(others):
            live.append(self.start(backend, work, True))
            if rig.random.random() < 0.5 and live:
                wrong += self.end_wide(live.pop(rig.random.randrange(len(live))))
        for each in live:
            wrong += self.end_wide(each)
        status, said, errors = first.end()
        hung = not timer.is_alive()
        timer.cancel()
        wrong += [line for line in said.splitlines() if not line.endswith(" 0 0 now closed")]
        what = f"sessions, {backend}, a narrow one and then {others}"
        rig.report.check(good and status == 7 and not hung and not wrong, f"{what}: its masks hold all the time",
                         f"{status} {errors}\n" + "\n".join(wrong))
        self.nothing_left(what, work, before)

    @staticmethod
    def end_wide(session):
        session.started()
        status, said, errors = session.end()
        return [] if status == 7 and "did 0" in said and not errors else [f"wide: {status} {said} {errors}"]

    def nothing_left(self, what, work, before):
        left = set(self.rig.listing(work).items()) ^ set(before.items())
        self.rig.report.check(not left and not self.rig.records(), f"{what}: at the end nothing is left",
                              f"{left} {self.rig.records()}")

    def any_order(self, backend, count):
        """Wide ones that were there before lift what they can, now and then."""
        rig, work = self.rig, self.workspace(f"{backend}-any-{count}")
        narrow, live, longest, times, ended, wrong = [], [], 0, 0, 0, []
        timer = rig.end_later(4)
        for number in range(count):
            wide = number == 0 or (number > 1 and rig.random.random() < 0.5)
            session = self.start(backend, work, wide)
            (live if wide else narrow).append(session)
            if number == 0:
                session.started()  # before any that it could be told of
            if rig.random.random() < 0.3:
                time.sleep(rig.random.random() * 0.03)
            among = rig.random.choice((live, narrow))
            if len(among) > 1 and rig.random.random() < 0.5:  # the first of each stays
                session = among.pop(rig.random.randrange(1, len(among)))
                session.started()
                self.take_end(session, wrong, seen := [])
                longest, times, ended = self.add(seen, longest, times, ended)
        time.sleep(0.5)  # so that each wide one has had its turn
        for session in sorted(live + narrow, key=lambda each: rig.random.random()):
            session.started()
            self.take_end(session, wrong, seen := [])
            longest, times, ended = self.add(seen, longest, times, ended)
        hung = not timer.is_alive()
        timer.cancel()
        what = f"sessions, {backend}, {count} in any order"
        rig.report.figures(what, sessions=count, masks_lifted=times, ms_at_the_longest=longest, refused_or_ended=ended)
        rig.report.check(not hung and not wrong, f"{what}: each holds or is ended", "\n".join(wrong[:8]))
        if backend == "bwrap":
            rig.report.check(longest <= LONGEST_MS, f"{what}: what is lifted is laid again ({longest} ms)")
        after = {name for name in rig.listing(work) if "probe" in name or "attack" in name}
        names = (".mcp.json", "deep", "deep/er", ".envrc", ".git/commondir", ".git/config.worktree")
        placeholders = [name for name in names
                        if (path := work / name).exists() and path.stat().st_mode & 0o1000 and
                        not (path.is_dir() and any(path.iterdir()))]  # a wide one made something in it
        rig.report.check(not after and not placeholders and not rig.records(),
                         f"{what}: at the end no placeholder is left", f"{after} {placeholders} {rig.records()}")

    @staticmethod
    def add(seen, longest, times, ended):
        for line in seen:
            if line == "ended":
                ended += 1
            else:
                longest, times = max(longest, int(line[1])), times + int(line[2])
        return longest, times, ended

    @staticmethod
    def take_end(session, wrong, seen):
        """A narrow one's lines to @seen; what must not be to @wrong."""
        status, said, errors = session.end()
        if status == 125 and "sbx-exec: " in errors:
            seen.append("ended")
        elif status != 7:
            wrong.append(f"{session.words[0]}: {status} {said} {errors}")
        elif session.words[0] == "watch":
            lines = [line.split() for line in said.splitlines() if line != "started"]
            seen += lines
            # firejail can lay nothing again, and says so.
            wrong += [f"{line}" for line in lines if line[-1] != "closed" and "no longer protected" not in errors]


def run(rig):
    sessions = Sessions(rig)
    for backend in rig.backends:
        if backend == "landlock":
            continue  # it masks nothing, and says what it cannot hold: tests/e2e/supervisor.sh
        sessions.narrow_first(backend, 1)
        sessions.narrow_first(backend, 50 if rig.full else 8)
        sessions.any_order(backend, 2)
        sessions.any_order(backend, 50 if rig.full else 10)
