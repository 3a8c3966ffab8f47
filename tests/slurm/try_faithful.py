"""What scripts rely on: said inside as the real clients say it outside."""
import os
import re

from session import Session
from try_chaperon import wait_for, write

SHOW = "#!/bin/sh\nenv | grep -E '^(SLURM_|PWD=)'; pwd\n"
# That differ between any two jobs, or say where Slurm is.
OWN = ("SLURM_CONF", "SLURM_JOB_ID", "SLURM_JOBID", "SLURM_TASK_PID", "SLURM_SRUN_COMM_PORT", "SLURM_SRUN_COMM_HOST", "SLURM_LAUNCH_NODE_IPADDR",
       "SLURM_STEP_LAUNCHER_PORT", "SLURM_NODELIST", "SLURM_JOB_NODELIST", "SLURM_STEP_NODELIST", "SLURM_TOPOLOGY_ADDR", "SLURMD_NODENAME")


class Tries:
    def __init__(self, world, report):
        self.world, self.report = world, report
        self.session = Session(world, world.work / "faithful", policy="faithful.pol")
        self.project = self.session.project
        self.below = self.project / "below"
        self.below.mkdir()
        os.chown(self.below, world.uid, world.uid)

    def check(self, good, what, detail=""):
        self.report.check(good, f"faithful: {what}", detail)

    def native(self, *words, cwd=None, **more):
        return self.world.cluster.run(*words, cwd=cwd or self.project, **more)

    def submit(self, *words, **more):
        status, out, errors = self.session.run("sbatch", "--parsable", *words, **more)
        return out.strip() or f"none: {errors}"

    def ended(self):
        return wait_for(lambda: not self.native("squeue", "--noheader").stdout.strip(), 50)

    def read(self, name):
        file = self.project / name
        return file.read_text() if file.exists() else ""

    # --- what a job is told

    def told(self, text):
        return sorted(line for line in text.splitlines() if line.split("=")[0] not in OWN)

    def variables(self):
        """The directory that it was submitted in, and all else that Slurm tells."""
        write(self.below / "show.sh", SHOW)
        for words in (["show.sh"], [f"--chdir={self.project}", "below/show.sh"]):
            self.native("sbatch", "-o", self.project / "free", *words, cwd=self.below)
            job = self.submit(f"--output={self.project}/held", *words, cwd=self.below)
            self.ended()
            free, held = self.told(self.read("free")), self.told(self.read("held"))
            self.check(f"SLURM_SUBMIT_DIR={self.below}" in held and free == held, f"a job is told the same: {len(words)}",
                       f"{job}\nonly free: {set(free) - set(held)}\nonly held: {set(held) - set(free)}")
        write(self.below / "steps.sh", "#!/bin/sh\ncd ..\nsrun sh -c 'echo $SLURM_SUBMIT_DIR $SLURM_STEP_ID; pwd'\n")
        self.native("sbatch", "-o", self.project / "free", "steps.sh", cwd=self.below)
        job = self.submit(f"--output={self.project}/held", "steps.sh", cwd=self.below)
        self.ended()
        self.check(self.read("free") and self.read("free") == self.read("held"), "a step of a job is told the same", self.read("free") + self.read("held") + job)
        free, held = (self.told(text) for text in (self.native("srun", "./show.sh", cwd=self.below).stdout, self.session.run("srun", "./show.sh", cwd=self.below)[1]))
        self.check(f"SLURM_SUBMIT_DIR={self.below}" in held and free == held, "a step is told the same",
                   f"only free: {set(free) - set(held)}\nonly held: {set(held) - set(free)}")

    # --- how it ended

    def statuses(self):
        write(self.project / "data", "no program\n", 0o644)
        for words in (["sh", "-c", "exit 0"], ["sh", "-c", "exit 1"], ["sh", "-c", "exit 125"], ["sh", "-c", "exit 126"], ["sh", "-c", "exit 127"],
                      ["sh", "-c", "exit 255"], ["sh", "-c", "kill -9 $$"], ["sh", "-c", "kill -TERM $$"], ["no-such-program"], ["./data"]):
            free = self.native("srun", *words)
            status, _, errors = self.session.run("srun", *words)
            self.check(status == free.returncode and "cannot be started" not in errors, f"the status of srun {' '.join(words)}",
                       f"{free.returncode} {free.stderr}\n{status} {errors}")

    # --- scancel

    def cancelled(self):
        """Of what has ended nothing is left to cancel, and what is somebody else's keeps nobody from one's own."""
        done, running = self.submit("--wait", "--output=/dev/null", "--wrap=true"), self.submit("--output=/dev/null", "--wrap=sleep 1000")
        free = self.native("scancel", done)
        status, out, errors = self.session.run("scancel", done)
        self.check((status, out, errors) == (free.returncode, free.stdout, free.stderr), "one that has ended", f"{free} {status} {out} {errors}")
        status, out, errors = self.session.run("scancel", done, running)
        self.check(status == 0 and self.ended(), "one that has ended beside one that runs", f"{status} {out} {errors}")
        other = self.native("sbatch", "--parsable", "--hold", "-o", "/dev/null", "--wrap=true").stdout.strip()
        running = self.submit("--hold", "--wrap=true")
        status, out, errors = self.session.run("scancel", other, running)
        left = self.native("squeue", "--noheader", "--format=%i").stdout.split()
        self.check((status, left) == (1, [other]) and errors == f"sbx: scancel refused: job {other} is not of this project: the others are cancelled\n",
                   "another's beside one's own", f"{status} {out} {errors} {left}")
        line = self.session.lines()[-1]
        self.check(line["verdict"] == "refused" and line["reason"].endswith("the others are cancelled"), "as the log has it", line)
        status, out, errors = self.session.run("scancel", other)
        self.check((status, errors) == (1, f"sbx: scancel refused: job {other} is not of this project\n"), "another's alone", errors)
        status, out, errors = self.session.run("scontrol", "hold", done)
        self.check((status, errors) == (1, f"sbx: scontrol-hold refused: job {done} has ended\n"), "one that has ended is not held", errors)
        self.native("scancel", other)


    # --- what is shown of a job

    def columns(self):
        """The comment stands where the real one has ours, in each width; no part of the mark is seen."""
        for comment in ("short", "x" * 30 + " and quite a bit longer than that"):
            free = self.native("sbatch", "--parsable", "--hold", f"--comment={comment}", "--job-name=name", "-o", "/dev/null", "--wrap=true").stdout.strip()
            held = self.submit("--hold", f"--comment={comment}", "--job-name=name", "--wrap=true")
            for option in ("--format=%k", "--format=<%k> %j", "--format=%40k %j", "--format=%.40k %j", "--format=%.90k|%j", "--format=%90k|%j",
                           "--format=%% %j %.60k %T", "--Format=comment:90,name", "--Format=name,Comment:.80", "--Format=name:10,comment:40 |"):
                lines = [run("squeue", "--jobs", job, option)[1] for run, job in ((self.real, free), (self.session.run, held))]
                self.check(lines[0] == lines[1], f"squeue {option}, {len(comment)}", "\n".join(lines))
            for option in ("--format=%.20k %j", "--format=%20k|%j", "--format=%.3k %j", "--format=%1k", "--Format=comment", "--Format=name,comment:20,name",
                           "--Format=comment:.5", "--Format=comment:"):
                out = self.session.run("squeue", "--jobs", held, option)[1]
                self.check("sbx-" not in out and comment[:20] in out and len(set(map(len, out.splitlines()))) == 1, f"a narrow column: squeue {option}", out)
            self.native("scancel", "--me")
        held = self.submit("--hold", "--wrap=true")
        out = self.session.run("squeue", "--noheader", "--jobs", held, "--format=<%k> %j")[1]
        self.check(out == "<> wrap\n", "no comment", out)
        self.native("scancel", "--me")

    def real(self, *words):
        done = self.native(*words)
        return done.returncode, done.stdout, done.stderr

    def files(self):
        """The files and the directory of a job, as it was submitted."""
        keys = r"(?:StdOut|StdErr|WorkDir)=\S*"
        for words in ([], ["--output=to/%x-%j", "--job-name=name"], [f"--output={self.project}/all", "--error=e-%j_%A"], [f"--chdir={self.below}"]):
            free = self.native("sbatch", "--parsable", "--hold", *words, "--wrap=true").stdout.strip()
            held = self.submit("--hold", *words, "--wrap=true")
            texts = [run("scontrol", "show", "job", job)[1] for run, job in ((self.real, free), (self.session.run, held))]
            told = [[line.replace(str(self.project), "").replace(job, "JOB") for line in re.findall(keys, text)] for text, job in zip(texts, (free, held))]
            self.check(len(told[0]) == 3 and told[0] == told[1] and "sbx-" not in texts[1], f"scontrol show job: {' '.join(words)}", f"{told}\n{texts[1]}")
        self.native("scancel", "--me")


    # --- what it waits for

    def dependencies(self):
        """A job may wait for those of its project, and for no other."""
        other = self.native("sbatch", "--parsable", "--hold", "-o", "/dev/null", "--wrap=true").stdout.strip()
        done, mine = self.submit("--wait", "--output=/dev/null", "--wrap=true"), self.submit("--hold", "--wrap=true")
        for text in (f"afterok:{done}", f"afterany:{mine}+5:{done}", f"singleton,after:{mine}", f"afternotok:{mine}?afterok:{mine}_1"):
            free = self.native("sbatch", "--parsable", "--hold", "-o", "/dev/null", f"--dependency={text}", "--wrap=true")
            status, out, errors = self.session.run("sbatch", "--parsable", "--hold", f"--dependency={text}", "--wrap=true")
            self.check(status == free.returncode, f"--dependency={text}", f"{free} {out} {errors}")
        for text in (f"afterok:{other}", f"afterok:{mine}:{other}", f"afterok:+{other}", f"afterany:{mine}+1,after:{other}_1", f"afterok:0{other}", other):
            status, out, errors = self.session.run("sbatch", "--parsable", f"--dependency={text}", "--wrap=true")
            self.check((status, out, errors) == (1, "", f"sbx: sbatch refused: job {other} is not of this project\n"), f"refused: --dependency={text}", errors)
            status, out, errors = self.session.run("scontrol", "update", f"JobId={mine}", f"Dependency={text}")
            self.check((status, errors) == (1, f"sbx: scontrol-update refused: job {other} is not of this project\n"), f"refused: Dependency={text}", errors)
        status, out, errors = self.session.run("sbatch", "--dependency=afterok:99999999999", "--wrap=true")
        self.check(status == 1 and "afterok:99999999999 is no job id" in errors, "no number of a job", errors)
        self.native("scancel", "--me")


ORDER = ("variables", "statuses", "cancelled", "columns", "files", "dependencies")


def run(world, report):
    if not world.cluster:
        report.skip("faithful", world.without)
        return
    tries = Tries(world, report)
    try:
        for name in ORDER:
            getattr(tries, name)()
    finally:
        report.check(not (faults := tries.session.end()), "faithful: no fault of memory", faults)
