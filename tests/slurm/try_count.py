"""How much may be asked for: what many ask at the same moment, what the record of jobs bears, and hours beside what Slurm hands out."""
import fcntl
import hashlib
import os
import pathlib
import subprocess

from session import Session
from try_chaperon import wait_for

POLICY = """language 1
policy "{name}"
import std/base
import std/syscalls
import std/slurm
workspace $cwd
env {{ pass PATH }}
slurm {{
    scope project
    allow sbatch srun squeue scancel scontrol-show-job scontrol-release
    allow sbatch --hold --wrap --parsable --comment --partition --time
    allow squeue --noheader --format --jobs
    {more}
}}
syscalls {{ allow @default @network-io }}
"""


class Tries:
    def __init__(self, world, report):
        self.world, self.report = world, report

    def check(self, good, what, detail=""):
        self.report.check(good, f"count: {what}", detail)

    def native(self, *words):
        return self.world.cluster.run(*words, cwd=self.world.work)

    def session(self, name, more, place=None):
        policy = self.world.work / f"{name}.pol"
        policy.write_text(POLICY.format(name=name, more=more))
        return Session(self.world, self.world.work / (place or name), policy=policy)

    def record(self, session):
        """Its file, which the first job would make."""
        file = session.place / "state" / f"{hashlib.sha256(str(session.project).encode()).hexdigest()[:32]}.jsonl"
        if not file.exists():
            file.touch(0o600)
            os.chown(file, self.world.uid, self.world.uid)
        return file

    def queue(self):
        return self.native("squeue", "--noheader", "--format=%A").stdout.split()

    def over(self, *sessions):
        """The end of a try: nothing is left, and no sanitizer spoke."""
        for session in sessions:
            faults = session.end()
            self.check(not faults, f"no fault of memory in {session.place.name}", faults)
        self.native("scancel", "--me")
        wait_for(lambda: not self.queue())

    # --- jobs at once

    def together(self):
        """Thirty that ask at the same moment, from two sessions of one project."""
        sessions = [self.session("together", "budget project jobs-at-once 2") for _ in range(2)]
        asked = [sessions[i % 2].popen("sbatch", "--hold", "--wrap=true", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                 for i in range(30)]
        said = [process.communicate(timeout=120) for process in asked]
        refused = "sbx: sbatch refused: budget project jobs-at-once 2 (together.pol:13): 1 asked for, 0 left\n"
        self.check(len(self.queue()) == 2, "jobs at once: two of thirty are in Slurm", f"{self.queue()} {said}")
        self.check(sum(errors == refused for _, errors in said) == 28, "jobs at once: the others are told", said)
        job = self.queue()[0]
        self.check(sessions[0].run("scancel", job)[0] == 0 and wait_for(lambda: job not in self.queue()), "jobs at once: one is cancelled", job)
        status, _, errors = sessions[1].run("sbatch", "--hold", "--wrap=true")
        self.check(status == 0, "jobs at once: and another takes its place", errors)
        self.over(*sessions)

    def waits(self):
        """While another session decides, this one does not."""
        session = self.session("waits", "budget project jobs 1")
        record = self.record(session)
        with open(record, "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            process = session.popen("sbatch", "--hold", "--wrap=true", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            inode = f":{record.stat().st_ino} "
            waiting = wait_for(lambda: any("-> FLOCK" in line and inode in line for line in pathlib.Path("/proc/locks").read_text().splitlines()))
            self.check(waiting, "the record is locked: it waits", session.lines())
            file.write('{"tag":"sbx-%s","session":"other","time":%d,"tasks":1}\n' % ("0" * 32, os.stat(record).st_mtime))
        errors = process.communicate(timeout=60)[1]
        self.check("budget project jobs 1 (waits.pol:13): 1 asked for, 0 left" in errors and not self.queue(), "and then counts what the other wrote", errors)
        self.over(session)

    def failed(self):
        """What Slurm did not take costs nothing."""
        session = self.session("failed", "budget project jobs 1")
        for _ in range(2):
            status, _, errors = session.run("sbatch", "--hold", "--partition=none", "--wrap=true")
            self.check(status == 1 and "invalid partition" in errors, "Slurm refuses a job", errors)
        status, _, errors = session.run("sbatch", "--hold", "--wrap=true")
        self.check(status == 0, "which is not counted", errors)
        self.over(session)


ORDER = ("together", "waits", "failed")


def run(world, report):
    if not world.cluster:
        report.skip("count", world.without)
        return
    tries = Tries(world, report)
    for name in ORDER:
        getattr(tries, name)()
