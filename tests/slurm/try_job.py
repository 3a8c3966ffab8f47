"""The node's side on a real Slurm: sbx-exec --job as an ordinary user.  What a job does is compared with what the same
job does under the real sbatch; what it must not do is first seen to work there."""
import hashlib
import os
import pathlib
import re
import subprocess

from inside import Inside, backends
from session import Session
from try_chaperon import wait_for, write

NODE = pathlib.Path("/usr/local/bin")  # ours alone: see run
SHOW = 'for word; do printf "<%s>" "$word"; done; echo " $# $A $(pwd)"\n'
SCRIPTS = {  # name: script, its arguments
    "bash": ("#!/bin/bash\n" + SHOW, ["a b", "", "*", "$HOME", "it's", 'a"b', "x\ny", "-n", "--time=1", "\\"]),
    "blanks": ("#! \t/bin/sh \t-e \necho begun\nfalse\necho not reached\n", []),
    "one-argument": ("#!/usr/bin/env -S sh -u\necho $0 | sed 's/.*/script/'\necho $unset\necho not reached\n", []),
    "python": ("#!/usr/bin/python3\nimport os, sys\nprint(sys.argv[1:], os.getcwd(), os.path.exists(__file__))\nsys.exit(9)\n", ["ä", "1"]),
    "no-newline": ("#!/bin/sh\necho end", []),
    "here": ("#!/bin/bash\ncat <<E\n#SBATCH --partition=none\n$(head -c 11 $0)\nE\nread line; echo \"<$line>\"\n", []),
    "streams": ("#!/bin/sh\necho out; echo error >&2; echo out again\n", []),
    "killed": ("#!/bin/sh\necho so\nkill -9 $$\n", []),
    "gone": ("#!/no/such/interpreter\n", []),
}
PATTERNS = ("%j", "%A", "%a", "%s", "%t", "%n", "%N", "%u", "%x", "%J", "%5j", "%05j", "%12j", "%3t", "%4x", "%4N", "%4s", "%%", "%%j", "%q",
            "%3", "x%")


class Tries:
    def __init__(self, world, report):
        self.world, self.report = world, report
        self.session = Session(world, world.work / "job", policy="job.pol")
        self.project, self.jobs = self.session.project, self.session.place / "jobs"

    def check(self, good, what, detail=""):
        self.report.check(good, f"job: {what}", detail)

    # --- submitting

    def native(self, *words, **more):
        return self.world.cluster.run(*words, cwd=self.project, **more)

    def submit(self, *words, **more):
        status, out, errors = self.session.run("sbatch", "--parsable", *words, **more)
        return out.strip() or f"none: {errors}"

    def end_of(self, *jobs):
        """All of them have ended: by the real squeue, which knows nothing of the session."""
        return wait_for(lambda: not self.native("squeue", "--noheader", "--format=%i").stdout.strip(), 50)

    def state(self, job):
        text = self.native("scontrol", "--oneliner", "show", "job", job).stdout
        return " ".join(re.findall(r"(?:JobState|ExitCode)=(\S+)", text))

    def words(self, job):
        """What Slurm and sbx-exec had to say of a job: for the person, outside."""
        return "".join(file.read_text() for file in self.jobs.glob(f"*/slurm-{job}.out"))

    def read(self, name):
        file = self.project / name
        return file.read_text() if file.exists() else None

    # --- what holds

    def confined(self):
        """The same probes on this side and in the job, and each bad thing beside a job of the real sbatch."""
        write(self.world.home / "secret", "secret\n", 0o600)
        bad = "cat ~/secret; ls /etc/munge; echo x >~/new; test -e ~/new && echo written; rm -f ~/new; /usr/local/bin/sbx-probe --self\n"
        write(self.project / "bad.sh", "#!/bin/sh\n" + bad)
        free = self.native("sbatch", "--parsable", "-o", "free", "bad.sh", environment={"HOME": str(self.world.home)}).stdout.strip()
        job = self.submit("--output=held", "bad.sh")
        self.end_of()
        free, held = self.read("free"), self.read("held")
        self.check(free and "secret\n" in free and "written\n" in free and "no   filter" in free, "unconfined it is all possible", free)
        here = subprocess.run([NODE / "sbx-exec", "--quiet", self.session.blob, "--", "sh", "-c", bad], user=self.world.uid, group=self.world.uid,
                              extra_groups=[], cwd=self.project, env={"PATH": "/usr/local/bin:/usr/bin"}, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        probes = [line for line in here.stdout.splitlines() if re.match("yes|no ", line)]
        self.check(held and [line for line in held.splitlines() if re.match("yes|no ", line)] == probes and len(probes) == 4 and
                   all(line.startswith("yes") for line in probes), "the probes are those of the login node", f"{held}\n{here}\n{self.words(job)}")
        self.check(held and "secret\n" not in held and "written" not in held, "no secret is read, nothing is written", held)
        envelope = next(file for file in self.jobs.glob("*/envelope") if self.jobs.glob(f"*/slurm-{job}.out"))
        dump = subprocess.run([self.world.out / "sbxc", "dump", self.session.blob], capture_output=True, text=True).stdout
        digest = re.search(rb"\0blob ([0-9a-f]{64})\0", envelope.read_bytes()).group(1).decode()
        self.check(digest in dump and (self.jobs / f"{digest}.sbx").exists(), "under the session's own policy, by its digest", digest)

    def fidelity(self):
        """Scripts, arguments, status: the real sbatch has the first word."""
        jobs = {}
        for name, (script, arguments) in SCRIPTS.items():
            write(self.project / f"{name}.sh", script)
            free = self.native("sbatch", "--parsable", "--export=ALL", "-o", f"{name}.free", f"{name}.sh", *arguments, environment={"A": "é x"})
            jobs[name] = free.stdout.strip(), self.submit(f"--output={name}.held", f"{name}.sh", *arguments, environment={"A": "é x"})
        wrapped = "echo \"$0 $((1+1))\" | sed 's/.*slurm_script/script/; s/.*fd.[0-9]*/script/'; exit 3"
        jobs["wrap"] = self.native("sbatch", "--parsable", "-o", "wrap.free", "--wrap", wrapped).stdout.strip(), self.submit("--output=wrap.held", "--wrap", wrapped)
        given = "#!/bin/bash\n#SBATCH --job-name=given\necho $SLURM_JOB_NAME $#\n"
        jobs["stdin"] = (self.native("sbatch", "--parsable", "-o", "stdin.free", stdin=None, input=given).stdout.strip(),
                         self.submit("--output=stdin.held", stdin=given))
        self.end_of()
        for name, (free, held) in jobs.items():
            texts = [self.read(f"{name}.{kind}") for kind in ("free", "held")]
            states = [self.state(job) for job in (free, held)]
            if name == "gone":  # whose words are slurmstepd's, and ours
                self.check("FAILED" in states[1] and states[0] == states[1] and "/no/such/interpreter" in texts[1], "gone: an interpreter that is not there",
                           f"{states} {texts}")
                continue
            if name == "one-argument":
                texts = [re.sub("/\\S*: ", "", text or "") for text in texts]
            self.check(texts[0] and texts[0] == texts[1] and states[0] == states[1], f"{name}: as under the real sbatch", f"{texts} {states} {self.words(held)}")

    def names(self):
        """Of files: what each sign of a pattern stands for."""
        write(self.project / "name.sh", "#!/bin/sh\necho $SLURM_JOB_ID\n")
        for directory in ("names-free", "names-held"):
            (self.project / directory).mkdir()
            os.chown(self.project / directory, self.world.uid, self.world.uid)
        pattern = "_".join(PATTERNS)
        free = self.native("sbatch", "--parsable", "-o", f"names-free/{pattern}", "name.sh").stdout.strip()
        held = self.submit(f"--output=names-held/{pattern}", "name.sh")
        self.end_of()
        found = [[file.name for file in (self.project / f"names-{kind}").iterdir()] for kind in ("free", "held")]
        found = [[re.sub(rf"(?<!\d)(0*){job}(?!\d)", r"\1ID", name) for name in names] for names, job in zip(found, (free, held))]
        self.check(found[0] and found[0] == found[1], "every pattern", f"{found} {self.words(held)}")


    def files(self):
        """A file of the job's is opened with the rights of the job."""
        write(self.project / "file.sh", "#!/bin/sh\ncat; echo written\n")
        write(self.project / "in", "read\n", 0o644)
        (self.project / "link").symlink_to(self.world.home)
        out, home = self.project / "to", self.world.home
        cases = [(f"--output={home}/outside",), ("--output=../outside",), ("--output=link/outside",), ("--output=to", f"--error={home}/outside"),
                 ("--output=to", f"--input={home}/secret")]
        for words in cases:
            free = self.native("sbatch", "--parsable", *words, "file.sh").stdout.strip()
            self.end_of()
            leaves = [file for file in (home / "outside", self.project.parent / "outside") if file.exists()]
            self.check(leaves or "secret" in out.read_text(), f"unconfined it is opened: {' '.join(words)}", self.state(free))
            for file in [*leaves, out]:
                file.unlink(missing_ok=True)
            job = self.submit(*words, "file.sh")
            self.end_of()
            leaves = [file for file in (home / "outside", self.project.parent / "outside") if file.exists()]
            said = re.search(r"sbx: (input|output|error) \S+ of the job cannot be opened inside its policy: (.*)\n", self.words(job))
            self.check(said and not leaves and not self.read("to") and self.state(job) == "FAILED 125:0", f"in the job it is not: {' '.join(words)}",
                       f"{self.state(job)} {self.words(job)}")
        status, out, errors = self.session.run("sbatch", "--parsable", "--wait", f"--output={home}/outside", "file.sh")
        said = f"sbx: of job {out.strip()}: sbx: output {home}/outside of the job cannot be opened inside its policy: "
        self.check(status == 125 and said in errors, "who waits for it hears why", f"{status} {errors}")
        status, out, errors = self.session.run("scontrol", "show", "job", out.strip())
        self.check(status == 0 and said in errors and "sbx-" not in out, "and so does who asks", f"{out} {errors}")
        kinds = [("append", "--output=both", "--open-mode=append"), ("truncate", "--output=both", "--open-mode=truncate"),
                 ("apart", "--output=both", "--error=apart"), ("one", "--output=both", "--error=both"), ("none", "--output=none", "--error=apart"),
                 ("input", "--output=both", "--input=in")]
        write(self.project / "kind.sh", "#!/bin/sh\ncat; echo out; echo error >&2\n")
        for kind, *words in kinds:
            texts = []
            for submit in (lambda *w: self.native("sbatch", "--parsable", *w).stdout.strip(), self.submit):
                write(self.project / "both", "before\n", 0o644)
                write(self.project / "apart", "before\n", 0o644)
                job = submit(*words, "kind.sh")
                self.end_of()
                texts.append((self.read("both"), self.read("apart")))
            self.check(texts[0] == texts[1], f"files as under the real sbatch: {kind}", f"{texts} {self.words(job)}")

    def arrays(self):
        """Arrays, dependencies, and a job that is run once more."""
        write(self.project / "array.sh", "#!/bin/sh\necho $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT\n")
        job = self.submit("--array=1-2", "array.sh")
        self.end_of()
        texts = [self.read(f"slurm-{job}_{task}.out") for task in (1, 2)]
        self.check(texts == ["1 of 2\n", "2 of 2\n"], "an array, and its files' names", f"{texts} {self.words(int(job) + 1)}")
        write(self.project / "first.sh", "#!/bin/sh\necho first >first\n")
        first = self.submit("--hold", "first.sh")
        second = self.submit(f"--dependency=afterok:{first}", "--output=second", "--wrap=cat first")
        self.session.run("scontrol", "release", first)
        self.end_of()
        self.check(self.read("second") == "first\n", "one that waits for another", self.words(second))
        write(self.project / "again.sh", "#!/bin/sh\necho run ${SLURM_RESTART_COUNT-0}\n[ -e again ] || { echo >again; exec sleep 1000; }\n")
        job = self.submit("--requeue", "--output=again-%j", "--open-mode=append", "again.sh")
        wait_for(lambda: (self.project / "again").exists())
        status, out, errors = self.session.run("scontrol", "requeue", job)
        # Slurm holds it back for two minutes: the node must be done with it, and takes none that begins in the second in which it ended.
        wait_for(lambda: subprocess.run(["pgrep", "-f", rf"slurmstepd: \[{job}\."], capture_output=True).returncode and "PENDING" in self.state(job))
        subprocess.run(["scontrol", "update", f"JobId={job}", "StartTime=now+2"], env={"SLURM_CONF": str(self.world.cluster.conf), "PATH": "/usr/bin"})
        self.end_of()
        self.check(self.read(f"again-{job}") == "run 0\nrun 1\n", "one that is requeued", f"{self.state(job)} {self.read(f'again-{job}')} {out} {errors} {self.words(job)}")

    def variables(self):
        job = self.submit("--output=all", "--wrap=env", environment={"A": "1", "B": "2", "LD_PRELOAD": "/x", "SLURM_JOB_ID": "99", "SLURM_CONF": "/x"})
        none = self.submit("--output=none-of-them", "--export=NONE", "--wrap=env", environment={"A": "1"})
        self.end_of()
        lines = (self.read("all") or "").splitlines()
        names = {line.split("=")[0] for line in lines}
        self.check({"A=1", f"SLURM_JOB_ID={job}", "SLURM_JOB_NAME=wrap"} < set(lines) and "SLURMD_NODENAME" in names, "the session's variables, and Slurm's",
                   f"{lines} {self.words(job)}")
        self.check(not names & {"B", "LD_PRELOAD", "SLURM_CONF", "SLURM_JWT", "MUNGE_SOCKET"}, "and no other", lines)
        lines = (self.read("none-of-them") or "").splitlines()
        self.check("A=1" not in lines and f"SLURM_JOB_ID={none}" in lines, "--export=NONE", lines)

    def cancel(self):
        job = self.submit("--output=cancel", "--wrap=trap 'echo told; exit' TERM; sleep 1234 & echo up; wait")
        wait_for(lambda: self.read("cancel"))
        left = ["pgrep", "-u", str(self.world.uid), "-f", "sleep 1234"]
        self.check(not subprocess.run(left, capture_output=True).returncode, "a job runs", self.words(job))
        self.session.run("scancel", job)
        self.end_of()
        self.check(wait_for(lambda: subprocess.run(left, capture_output=True).returncode) and "CANCELLED" in self.state(job), "scancel ends all of it",
                   self.state(job))
        errors = self.session.run("scontrol", "show", "job", job)[2]
        self.check(re.match(rf"sbx: of job {job}: slurmstepd\S*: error: \*\*\* JOB {job} ON \S+ CANCELLED AT ", errors), "which is said", errors)

    def step(self):
        """srun where all runs in a job already, as sbx-exec --job starts a chaperon: a step of that job."""
        job = self.native("sbatch", "--parsable", "-n2", "-o", "/dev/null", "--wrap", "env >env.new; mv env.new env; sleep 1234").stdout.strip()
        wait_for(lambda: self.read("env"))
        own = [line for line in self.read("env").splitlines() if line.startswith("SLURM_")]
        session = Session(self.world, self.session.place, policy="job.pol", more=[f"job {job}", *(f"env {line}" for line in own)])
        try:
            before = set(self.jobs.iterdir())
            status, out, errors = session.run("srun", "sh", "-c", "echo $SLURM_JOB_ID.$SLURM_STEP_ID $SLURM_PROCID; cat ~/secret", environment=dict(
                line.split("=", 1) for line in own))
            self.check(sorted(out.splitlines()) == [f"{job}.0 0", f"{job}.0 1"] and "secret: No such file" in errors, "srun in a job is a step of it, confined",
                       f"{out} {errors}")
            self.check(set(self.jobs.iterdir()) == before, "a step leaves nothing", set(self.jobs.iterdir()) - before)
            other = self.native("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 1234").stdout.strip()
            for words, more in ((["srun", f"--jobid={other}", "true"], {}), (["srun", "true"], {"SLURM_JOB_ID": other})):
                status, out, errors = session.run(*words, environment=more)
                self.check(status == 1 and "a job is entered only by its own session" in errors, f"of no other: {words} {more}", errors)
        finally:
            self.native("scancel", "--me")
            self.end_of()
            self.check(not (faults := session.end()), "no fault of memory with steps", faults)

    def sweep(self):
        """Envelopes of a month ago, when a session begins."""
        job = self.submit("--hold", "--wrap=true")
        tag = re.search(r"Comment=(\S+)", self.native("scontrol", "show", "job", job).stdout).group(1)
        here = {name: self.jobs / f"sbx-{digit * 32}" for name, digit in (("old", "a"), ("young", "b"), ("link", "c"), ("odd", "d"))}
        for name in ("old", "young", "odd"):
            here[name].mkdir()
            (here[name] / "envelope").write_text(f"version 1\0blob {'1' * 64}\0session s\0")
        (here["odd"] / "directory").mkdir()
        (self.session.place / "away").mkdir()
        (self.session.place / "away/file").write_text("x")
        here["link"].symlink_to(self.session.place / "away")
        (self.jobs / "sbx-made-by-hand").mkdir()
        kept = next(self.jobs.glob("*.sbx"))
        named, unnamed, half = (self.jobs / name for name in (f"{'1' * 64}.sbx", f"{'2' * 64}.sbx", f".{'3' * 64}.17"))
        fresh, other = self.jobs / f"{'4' * 64}.sbx", self.jobs / "other.sbx"
        for file in (named, unnamed, half, fresh, other):
            file.write_text("x")
        policies = [kept, named, unnamed, half, other]
        everything = [*(file for name, file in here.items() if name != "young"), self.jobs / tag, self.jobs / "sbx-made-by-hand", *policies]
        subprocess.run(["chown", "-R", self.world.user, self.jobs])

        def begin():
            for file in everything:
                if file.is_symlink() or file.exists():
                    os.utime(file, (1, 1), follow_symlinks=False)
            return Session(self.world, self.session.place, policy="job.pol")

        (here["young"] / "envelope").rename(here["young"] / "moved")
        (here["young"] / "envelope").mkdir()  # nobody can tell which policy it names
        session = begin()
        try:
            self.check(wait_for(lambda: not here["old"].exists()) and session.run("squeue")[0] == 0 and all(file.exists() for file in policies[:3]),
                       "no policy goes while an envelope cannot be read", list(self.jobs.iterdir()))
        finally:
            session.end()
        (here["young"] / "envelope").rmdir()
        (here["young"] / "moved").rename(here["young"] / "envelope")
        here["old"].mkdir()
        session = begin()
        try:
            gone = wait_for(lambda: not here["old"].exists() and not unnamed.exists())
            self.check(session.run("squeue")[0] == 0 and gone, "the envelope of a month ago goes")
            self.check(not half.exists() and all(file.exists() for file in (kept, named, fresh, other)), "and a policy that none names, but no other",
                       list(self.jobs.iterdir()))
            self.submit("--hold", "--wrap=true")
            self.check(kept.stat().st_mtime > 1, "a job makes its policy young again")
            for file in (named, fresh, other):
                file.unlink()
            self.check(here["young"].exists() and (self.jobs / tag / "envelope").exists() and (self.session.place / "away/file").exists() and here["link"].is_symlink()
                       and (here["odd"] / "directory").exists() and (self.jobs / "sbx-made-by-hand").exists(), "and nothing else",
                       list(self.jobs.iterdir()))
        finally:
            session.end()
            self.native("scancel", "--me")
            self.end_of()

    def whole(self, backend):
        """All of it: a session, its job, steps of that, and what a job submits; the job is held by the backend of its session."""
        place = self.world.work / f"whole-{backend}"
        place.mkdir()
        source = place / "whole.pol"
        source.write_text((pathlib.Path(__file__).parent / "job.pol").read_text() + f"require {{ backend {backend} }}\n")
        session = Inside(self.world, place, backend, source)
        try:
            script = write(session.project / "steps.sh", """#!/bin/sh
/usr/local/bin/sbx-probe --self >probes
srun sh -c 'echo $SLURM_JOB_ID.$SLURM_STEP_ID.$SLURM_PROCID; cat ~/secret' >tasks 2>errors
srun --label /usr/local/bin/sbx-probe --self >task-probes
srun sh -c 'exit 7'
echo "srun: $?" >status
sbatch --parsable --output=from-job --wrap='echo ran' >submitted
squeue --noheader --states=all --format='%i %j' >listed
echo 'cat: read' | srun --ntasks=1 cat >cat
srun --jobid=1 true 2>other
SLURM_JOB_ID=1 srun true 2>>other
srun sh -c 'srun true' 2>nested
""")
            write(self.world.home / "secret", "secret\n", 0o600)
            here = session.run("/usr/local/bin/sbx-probe", "--self")[1]
            status, out, errors = session.run("sbatch", "--parsable", "--wait", "--ntasks=2", script.name)
            job = out.strip()
            self.end_of()

            def read(name):
                file = session.project / name
                return file.read_text() if file.exists() else ""

            words = "".join(file.read_text() for file in (self.world.home / ".local/share/sbx/jobs").glob(f"*/slurm-{job}.out"))
            said = f"{status} {out} {errors} {read(f'slurm-{job}.out')} {words}"
            self.check(here.count("yes") > 1 and read("probes") == here, f"{backend}: a job has the probes of its session", f"{here} {read('probes')} {said}")
            self.check(sorted(read("tasks").splitlines()) == [f"{job}.0.0", f"{job}.0.1"] and "secret" in read("errors") and
                       "secret\n" not in read("tasks"), f"{backend}: srun -n2 in it, confined", f"{read('tasks')} {read('errors')} {said}")
            self.check(sorted(read("task-probes").splitlines()) == sorted(f"{task}: {line}" for line in here.splitlines() for task in (0, 1)),
                       f"{backend}: its tasks have them, too", read("task-probes"))
            self.check(read("status") == "srun: 7\n" and read("cat") == "cat: read\n", f"{backend}: status and input of a step", read("status") + read("cat"))
            self.check(read("from-job") == "ran\n" and f"{read('submitted').strip()} wrap" in read("listed") and f"{job} steps.sh" in read("listed"),
                       f"{backend}: a job submits a job, and lists its project's", f"{read('submitted')} {read('listed')} {said}")
            self.check(read("other").count("a job is entered only by its own session") == 2, f"{backend}: of no other job", read("other"))
            self.check("no Slurm here" in read("nested"), f"{backend}: a task makes no step", read("nested"))
        finally:
            session.end()
            self.native("scancel", "--me")
            self.end_of()

    def frozen(self):
        """A home that is granted around the records, and a repository that was made since: as in the session."""
        place = self.world.work / "frozen"
        place.mkdir()
        source = place / "frozen.pol"
        text = (pathlib.Path(__file__).parent / "job.pol").read_text().replace("import std/slurm", "import std/slurm\nimport std/git")
        source.write_text(text + "fs { read $home }\n")
        session = Inside(self.world, place, "bwrap", source)
        try:
            words = "echo x >.git/hooks/new && echo written; cat ~/mark"
            write(self.world.home / "mark", "mark\n", 0o644)
            session.run("git", "init", "--quiet", ".")
            here = session.run("sh", "-c", words)
            status, out, errors = session.run("sbatch", "--parsable", "--wait", "--output=frozen", f"--wrap={words}")
            held = session.project / "frozen"
            self.check(here[1] == "written\nmark\n" and held.exists() and held.read_text() == here[1], "what is granted is what the session had",
                       f"{here} {status} {out} {errors}")
        finally:
            session.end()

    # --- what does not fit

    def changed(self):
        """What lies in the directory of jobs is what was submitted, or the job ends."""
        other = self.session.place / "other.sbx"
        source = self.session.place / "other.pol"
        source.write_text((pathlib.Path(__file__).parent / "job.pol").read_text().replace('policy "job"', 'policy "other"'))
        subprocess.run([self.world.out / "sbxc", "-o", other, source], check=True)
        policy = next(self.jobs.glob("*.sbx"))
        kept = policy.read_bytes()

        def envelope(directory):
            file = directory / "envelope"
            file.write_bytes(file.read_bytes().replace(b"name wrap", b"name evil"))

        def linked(directory):
            (directory / "envelope").rename(directory / "moved")
            (directory / "envelope").symlink_to("moved")

        def script(directory):
            (directory / "script").write_text("#!/bin/sh\necho evil >evil\n")

        def replaced(_):
            policy.write_bytes(other.read_bytes())

        def longer(directory):
            with open(directory / "script", "a") as file:
                file.write("echo evil >evil\n")

        cases = [(envelope, "its envelope is not the one that was submitted: submit it again"), (linked, "its envelope cannot be read: "),
                 (script, "its script is not the one that was submitted: submit it again"), (longer, "its script is not the one that was submitted"),
                 (replaced, "its policy is not the one that was submitted: submit it again")]
        for change, said in cases:
            before = set(self.jobs.iterdir())
            job = self.submit("--hold", "--wrap=echo ran >evil", "--output=changed")
            change(next(iter(set(self.jobs.iterdir()) - before)))
            self.native("scontrol", "release", job)
            self.end_of()
            self.check(self.state(job) == "FAILED 125:0" and said in self.words(job) and not self.read("evil"), f"changed on the way: {change.__name__}",
                       f"{self.state(job)} {self.words(job)}")
        policy.write_bytes(kept)

    def launch(self, *words):
        ended = subprocess.run([NODE / "sbx-exec", "--quiet", *words], user=self.world.uid, group=self.world.uid, extra_groups=[], cwd=self.project,
                               env={"PATH": "/usr/bin"}, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return ended.returncode, ended.stderr

    def envelope(self, **more):
        """One of our own making: words for sbx-exec."""
        directory = self.jobs / "sbx-made"
        directory.mkdir(exist_ok=True)
        policy = next(self.jobs.glob("*.sbx")).stem
        values = {"version": "1", "blob": policy, "session": "s", "backend": "bwrap", "var workspace": f"={self.project}", "cwd": self.project, "name": "made",
                  "argument": "true", **more}
        data = "".join(f"{key}{'' if str(value)[:1] == '=' else ' '}{value}\0" for key, value in values.items() if value is not None).encode()
        (directory / "envelope").write_bytes(data)
        os.chown(directory, self.world.uid, self.world.uid)
        return ["--job", directory, "--digest", hashlib.sha256(data).hexdigest()]

    def refusals(self):
        made, again = self.jobs / "sbx-made", "submit it again"
        script = "#!/bin/sh\n"
        digest = hashlib.sha256(script.encode()).hexdigest()
        cases = [
            (["--job", "/j"], "--job DIR --digest SHA256 is all of a job"),
            ([*self.envelope(), "blob.sbx"], "--job DIR --digest SHA256 is all of a job"),
            ([*self.envelope(), "-D", "a=b"], "--job DIR --digest SHA256 is all of a job"),
            (["--job", "job", "--digest", "0"], f"job job: No such file or directory: {again}"),
            (["--job", ".", "--digest", "0"], f"job .: Invalid argument: {again}"),
            (["--job", made, "--digest", "0"], f"job {made}: its envelope is not the one that was submitted: {again}"),
            ({"version": "2"}, f"job {made}: of another version of sbx: install the same everywhere"),
            ({"blob": None}, f"job {made}: of another version of sbx: install the same everywhere"),
            ({"var workspace": "=/nowhere"}, "workspace /nowhere: No such file or directory"),
            ({"backend": "native"}, f"job {made}: no backend here enforces as much as native: install it"),
            ({"script": digest}, f"job {made}: its script cannot be read: No such file or directory"),
            ({"var home": "=/elsewhere"}, f"job {made}: $home is {self.world.home} here, and /elsewhere where it was submitted"),
            ({"var workspace": f"={self.project}/../project"}, f"job {made}: $workspace is {self.project} here, and {self.project}/../project where it "
             "was submitted"),
        ]
        for words, said in cases:
            status, text = self.launch(*(self.envelope(**words) if isinstance(words, dict) else words))
            self.check((status, text) == (125, f"sbx-exec: {said}\n"), f"refused: {said}", text)
        status, text = self.launch(*self.envelope(), "--backend", "landlock")
        self.check((status, text) == (125, f"sbx-exec: job {made}: no backend here enforces as much as bwrap: install it\n"),
                   "a weaker backend is not taken", text)
        inside = [
            ({}, 0, ""),
            ({"argument": None}, 125, "sbx: the job has neither script nor program\n"),
            ({"argument": "missing"}, 2, "sbx: missing: No such file or directory\n"),
            ({"argument": "/etc/passwd"}, 13, "sbx: /etc/passwd: Permission denied\n"),
            ({"cwd": "/nowhere"}, 125, "sbx: the job's directory /nowhere cannot be entered inside its policy: No such file or directory\n"),
        ]
        for words, wanted, said in inside:
            status, text = self.launch(*self.envelope(**words))
            self.check((status, text) == (wanted, said), f"by sbx-job: {said.strip() or 'nothing'}", f"{status} {text}")
        for script in ("echo no first line\n", "#!  \n", "#"):
            (made / "script").write_text(script)
            status, text = self.launch(*self.envelope(script=hashlib.sha256(script.encode()).hexdigest(), output="first-line"))
            self.check(status == 126 and self.read("first-line") == "sbx: the script does not begin with #! and an interpreter\n",
                       f"a script that begins with {script!r}", f"{status} {text}")
        ended = subprocess.run([NODE / "slurm/sbx-job"], capture_output=True, text=True)
        self.check((ended.returncode, ended.stderr) == (2, "sbx: sbx-job is started by sbx-exec, in a job\n"), "not by hand", ended)


def run(world, report):
    if not world.cluster:
        report.skip("job", world.without)
        return
    tries = Tries(world, report)
    try:
        for name in ("confined", "fidelity", "names", "files", "arrays", "variables", "cancel", "step", "sweep", "frozen", "changed", "refusals"):
            getattr(tries, name)()
        for backend in backends(report, "job"):
            tries.whole(backend)
    finally:
        report.check(not (faults := tries.session.end()), "job: no fault of memory", faults)
