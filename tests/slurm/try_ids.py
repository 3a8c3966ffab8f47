"""Ids of jobs in all their forms: what is written anew does to the real clients what the same words do outside, and to nobody else's."""
import os
import subprocess

from session import Session
from try_chaperon import wait_for

LATER = ("--begin=now+1hour", "--wrap=true")  # there, and not running
# What is named of an array J of six tasks, and the same where the real scancel reads the first otherwise.
TEXTS = {"J": "J", "J_3": "J_3", "J_[1-2]": "J_[1-2]", "J_[0,2-3]": "J_[0,2-3]", "J_[5]": "J_[5]", "J_1,J_4": "J_1,J_4",
         "J_[1],J_[3-4]": "J_[1,3-4]"}


def named(text, tasks=6):
    """The tasks of J that are meant."""
    out = set()
    for part in text.replace("],", "];").split(";") if "[" in text else text.split(","):
        inner = part[2:].strip("[]") if "_" in part else f"0-{tasks - 1}"
        for piece in inner.split(","):
            first, _, last = piece.partition("-")
            out |= set(range(int(first), int(last or first) + 1))
    return out


class Tries:
    def __init__(self, world, report):
        self.world, self.report = world, report
        self.ours = Session(world, world.work / "ours", policy="ids.pol")
        self.theirs = Session(world, world.work / "theirs", policy="ids.pol")

    def check(self, good, what, detail=""):
        self.report.check(good, f"ids: {what}", detail)

    def native(self, *words):
        return self.world.cluster.run(*words, cwd=self.world.work)

    def array(self):
        return self.ours.run("sbatch", "--parsable", "--array=0-5", *LATER)[1].strip()

    def tasks(self, job):
        """{task: (is it held, time limit)} of what is left of an array."""
        rows = self.native("squeue", "--noheader", "--array", "--all", f"--jobs={job}", "--format=%K|%r|%l").stdout.split()
        return {task: (reason == "JobHeldUser", limit) for task, reason, limit in (row.split("|") for row in rows)}

    def same(self, what, words):
        """@words inside on one array, and outside on another."""
        for text, same in TEXTS.items():
            inside, outside = self.array(), self.array()
            ours = self.ours.run(*[word.replace("IDS", text.replace("J", inside)) for word in words])
            real = self.native(*[word.replace("IDS", same.replace("J", outside)) for word in words])
            left, right = self.tasks(inside), self.tasks(outside)
            self.check(ours[0] == real.returncode == 0 and left == right, f"{what} {text}: as outside", f"{left} {ours}\n{right} {real.stderr}")
            self.native("scancel", inside, outside)

    def shown(self):
        """Each task that is named is shown, and no other."""
        job = self.array()
        for text in TEXTS:
            out = self.ours.run("squeue", "--noheader", "--format=%i", f"--jobs={text.replace('J', job)}")[1].split()
            rows = [named(row.replace(job, "J", 1)) for row in out]
            self.check(set().union(*rows) == named(text), f"squeue {text}", out)
        self.native("scancel", job)

    def nobody_elses(self):
        """A number between brackets is no job."""
        theirs = self.theirs.run("sbatch", "--parsable", "--job-name=theirs", *LATER)[1].strip()
        job = self.array()
        for text in (f"{job}_[0,{theirs}]", f"{job}_[0],{theirs}", f"{job}_[{theirs},0]", f"{job}_0,{job}_[1,{theirs}]"):
            status, out, errors = self.ours.run("squeue", "--noheader", "--format=%A|%j|%Z", f"--jobs={text}")
            self.check("theirs" not in out and f"{theirs}|" not in out, f"squeue --jobs={text} shows none of others", out)
            for words in (["scancel", text], ["scontrol", "hold", text], ["scontrol", "update", f"JobId={text}", "TimeLimit=7"]):
                self.ours.run(*words)
                row = self.native("squeue", "--noheader", f"--jobs={theirs}", "--format=%T %l %r").stdout.strip()
                self.check(row.startswith("PENDING 10:00 ") and "Held" not in row, f"{' '.join(words)} changes none of others", row)
        self.native("scancel", theirs, job)

    def hidden(self):
        """A partition that is hidden: its jobs count, can be named, and keep their envelopes."""
        self.native("scancel", "--me")
        wait_for(lambda: not self.native("squeue", "--noheader", "--me", "--all").stdout)
        jobs = [self.ours.run("sbatch", "--parsable", "--partition=other", "--array=0-8", *LATER)[1].strip() for _ in range(2)]
        self.hide("YES")
        try:
            status, _, errors = self.ours.run("sbatch", "--array=0-8", *LATER)
            self.check(status == 1 and "9 asked for, 2 left" in errors, "hidden: counted", errors)
            for words in (["scontrol", "hold", jobs[0]], ["scancel", jobs[0]]):
                status, _, errors = self.ours.run(*words)
                self.check(status == 0, f"hidden: {words[0]}", errors)
            line = self.native("scontrol", "show", "job", jobs[1]).stdout
            envelope = self.ours.place / "jobs" / line.split("Comment=")[1].split()[0]
            gone = self.ours.place / "jobs" / ("sbx-" + "0" * 32)
            gone.mkdir()
            os.chown(gone, self.world.uid, self.world.uid)
            for directory in (envelope, gone):
                os.utime(directory, (0, 0))
            session = Session(self.world, self.ours.place, policy="ids.pol")
            self.check(wait_for(lambda: not gone.exists()) and envelope.exists(), "hidden: its envelope stays")
            session.end()
        finally:
            self.hide("NO")
        self.native("scancel", *jobs)

    def hide(self, hidden):
        subprocess.run(["scontrol", "update", "PartitionName=other", f"Hidden={hidden}"], check=True,
                       env={"SLURM_CONF": str(self.world.cluster.conf), "PATH": "/usr/bin"})

    def brackets_outside(self):
        """Why it is so: the real squeue takes what stands behind a comma for a job."""
        other, job = (self.native("sbatch", "--parsable", *array, *LATER).stdout.strip() for array in ((), ("--array=0-5",)))
        out = self.native("squeue", "--noheader", "--format=%A", f"--jobs={job}_[0,{other}]").stdout.split()
        self.check(other in out, "squeue outside reads brackets as no others do", out)
        self.native("scancel", other, job)


def run(world, report):
    if not world.cluster:
        report.skip("ids of jobs with the real clients", world.without)
        return
    tries = Tries(world, report)
    try:
        tries.same("scancel", ["scancel", "IDS"])
        tries.same("scontrol hold", ["scontrol", "hold", "IDS"])
        tries.same("scontrol update", ["scontrol", "update", "JobId=IDS", "TimeLimit=7"])
        tries.shown()
        tries.nobody_elses()
        tries.brackets_outside()
        tries.hidden()
    finally:
        for session in (tries.ours, tries.theirs):
            faults = session.end()
            report.check(not faults, "ids: no fault of memory", faults)
