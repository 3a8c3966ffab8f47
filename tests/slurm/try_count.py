"""How much may be asked for: what many ask at the same moment, what the record of jobs bears, and hours beside what Slurm hands out."""
import fcntl
import hashlib
import json
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
    allow sbatch --hold --output --wrap --parsable --comment --partition --time
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
        left = [file.name for file in (session.place / "jobs").iterdir() if file.is_dir()]
        self.check(len(left) == 1, "and leaves nothing", left)
        self.over(session)


    # --- the record

    def lines(self, session):
        """Those of the record; each must be one."""
        text = self.record(session).read_text()
        self.check(text.endswith("\n"), "the record ends with a whole line", text[-200:])
        return [json.loads(line) for line in text.splitlines()]

    def unreadable(self):
        """What cannot be read is not taken for nothing."""
        session = self.session("unreadable", "budget project jobs 2")
        record = self.record(session)
        job = session.run("sbatch", "--parsable", "--hold", "--wrap=true")[1].strip()
        whole = record.read_bytes()
        behind = whole.count(b"\n") + 1
        cases = ((whole + b"\0" * ((64 << 20) + 1), "has more than 64 MiB: move it away when the project has no job in the queue; its budgets begin anew then"),
                 (whole + b'{"tag":"sbx-1","ti{"tag":"sbx-2"}\n', f"cannot be understood: mend or remove line {behind}"),
                 (whole + b'{"tag":"sbx-3","job":1}\n', f"cannot be understood: mend or remove line {behind}"))
        for data, said in cases:
            record.write_bytes(data)
            for words in (["sbatch", "--hold", "--wrap=true"], ["squeue"], ["scancel", job]):
                status, out, errors = session.run(*words)
                self.check((status, out, errors) == (1, "", f"sbx: the record of jobs {record} {said}\n"), f"{words[0]}: {said[:30]}", out + errors)
            self.check(record.read_bytes() == data, "and nothing is changed")
        record.write_bytes(whole)
        self.check(session.run("scancel", job)[0] == 0, "once it is mended it is read")
        record.rename(record.with_suffix(".old"))
        done = [session.run("sbatch", "--hold", "--wrap=true")[0] for _ in range(3)]
        self.check(done == [0, 0, 1], "once it is moved away its budgets begin anew", done)
        status, _, errors = session.run("sbatch", "--hold", "--wrap=true", "--comment=" + "é" * 513)
        self.check(status == 1 and "is longer than 1024 bytes" in errors, "a long comment is refused", errors[-200:])
        for sign in "\n", "\x1b", "\x7f", "\u0085":
            for option, says in ("comment", "has control characters"), ("output", "is no name of a file"):
                status, _, errors = session.run("sbatch", "--hold", "--wrap=true", f"--{option}=a{sign}b")
                self.check(status == 1 and says in errors, f"{sign!r} in --{option} is refused", errors[-200:])
        self.over(session)

    def full(self):
        """A file system that is full in the middle of a line, and one whose writer died there."""
        state = self.world.work / "full/state"
        state.mkdir(parents=True)
        os.chown(state.parent, self.world.uid, self.world.uid)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=16k,mode=700,uid={self.world.uid}", "none", state], check=True)
        try:
            session = self.session("full", "budget project jobs 20")
            said = []
            for _ in range(20):
                status, _, errors = session.run("sbatch", "--hold", "--wrap=true", "--comment=" + "x" * 1000)
                said.append(errors)
                if status:
                    break
            self.check(said[-1] == f"sbx: the job cannot be written down in {self.record(session)}: No space left on device\n" and
                       len(self.queue()) == len(said) - 1, "a job that cannot be written down is not submitted", said)
            left = [file.name for file in (session.place / "jobs").iterdir() if file.is_dir()]
            self.check(len(left) == len(self.queue()), "and leaves nothing", left)
            self.lines(session)
            subprocess.run(["mount", "-o", "remount,size=1m", state], check=True)
            with open(self.record(session), "a") as file:
                file.write('{"tag":"sbx-cut')
            for _ in range(21):
                session.run("sbatch", "--hold", "--wrap=true")
            self.check(len(self.queue()) == 20 and session.run("squeue", "--noheader")[1].count("\n") == 20, "and what was written is counted", self.queue())
            self.lines(session)
            self.over(session)
        finally:
            subprocess.run(["umount", state], check=True)

    def anew(self):
        """A record of many lines is written anew, under the eyes of another session."""
        sessions = [self.session("anew", "budget project jobs 9") for _ in range(2)]
        jobs = [session.run("sbatch", "--parsable", "--hold", "--wrap=true", "--comment=kept")[1].strip() for session in sessions]
        record = self.record(sessions[0])
        with open(record, "a") as file:
            for i in range(3000):
                file.write(f'{{"tag":"sbx-{i:032}","session":"s","time":1,"tasks":1}}\n{{"tag":"sbx-{i:032}","failed":true}}\n')
            file.write(f'{{"tag":"sbx-{"9" * 32}","session":"s","time":{int(os.stat(record).st_mtime)},"tasks":5,"cpu_s":7,"gpu_s":8}}\n')
        before = record.stat().st_ino
        done = [sessions[0].run("sbatch", "--hold", "--wrap=true")]
        out = sessions[1].run("squeue", "--noheader")[1]
        self.check(out.count("\n") == 3, "and another session looks where it is now", out)
        done += [sessions[i % 2].run("sbatch", "--hold", "--wrap=true") for i in range(1, 4)]
        self.check([status for status, _, _ in done] == [0, 0, 1, 1] and "1 asked for, 0 left" in done[-1][2], "what was counted stays counted", done)
        lines = self.lines(sessions[0])
        self.check(record.stat().st_ino != before and len(lines) == 7 and len(list(record.parent.iterdir())) == 1 and record.stat().st_mode & 0o777 == 0o600,
                   "a record of many lines is written anew", (len(lines), list(record.parent.iterdir())))
        self.check({line["tag"]: line for line in lines}["sbx-" + "9" * 32].items() >= {"tasks": 5, "cpu_s": 7, "gpu_s": 8}.items(), "with the sums", lines)
        for session in sessions:
            out = session.run("squeue", "--noheader", "--format=%i %k")[1]
            self.check(all(f"{job} kept" in out for job in jobs) and out.count("\n") == 4, "and each session has its project's jobs still", out)
        self.over(*sessions)


    def begun_anew(self):
        """Numbers that the record has, of jobs that are others now; and a tag of ours on another job."""
        session = self.session("anew-ids", "budget project cpu-hours 5")
        record = self.record(session)
        job = session.run("sbatch", "--parsable", "--hold", "--time=1", "--wrap=true")[1].strip()
        tag = json.loads(record.read_text().splitlines()[0])["tag"]
        tags = [f"sbx-{digit * 32}" for digit in "ab"]
        other, copied, uncounted = (self.native("sbatch", "--parsable", "--hold", f"--comment={comment}", "--wrap=true").stdout.strip()
                                    for comment in ("of others", tag, tags[1]))
        with open(record, "a") as file:
            for mark, number in zip(tags, (other, uncounted)):
                file.write(f'{{"tag":"{mark}","session":"s","time":1,"tasks":1}}\n{{"tag":"{mark}","job":{number}}}\n')
        out = session.run("squeue", "--noheader", "--format=%i")[1].split()
        self.check(sorted(out) == sorted([job, uncounted]), "begun anew: what others have now is not listed", out)
        for number in (other, copied):
            for words in (["squeue", f"--jobs={number}"], ["scontrol", "show", "job", number], ["scancel", number], ["scontrol", "release", number]):
                status, out, errors = session.run(*words)
                self.check((status, out) == (1, "") and f"job {number} is not of this project" in errors, f"begun anew: {words[0]} {words[1][:7]}",
                           f"{status} {out} {errors}")
        status, out, errors = session.run("scontrol", "release", uncounted)
        self.check(status == 1 and f"the hours of job {uncounted} are not counted: submit it again" in errors, "a job that was not counted is not let go", errors)
        self.check(sorted(self.queue()) == sorted([job, other, copied, uncounted]), "and all are there", self.queue())
        self.over(session)


ORDER = ("together", "waits", "failed", "unreadable", "full", "anew", "begun_anew")


def run(world, report):
    if not world.cluster:
        report.skip("count", world.without)
        return
    tries = Tries(world, report)
    for name in ORDER:
        getattr(tries, name)()
