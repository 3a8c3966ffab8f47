"""The node's side on a real Slurm: sbx-exec --job as an ordinary user.  What a job does is compared with what the same
job does under the real sbatch; what it must not do is first seen to work there."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess

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
        for name in ("sbx-exec", "sbx-proxy", "sbx-chaperon", "sbx-probe"):
            (NODE / name).unlink(missing_ok=True)
            shutil.copy(world.out / name, NODE)
        shutil.copytree(world.out / "slurm", NODE / "slurm", symlinks=True, dirs_exist_ok=True)
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
                self.check("FAILED" in states[1] and "127:0" in states[1] and "/no/such/interpreter" in texts[1], "gone: an interpreter that is not there",
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


def run(world, report):
    if not world.cluster:
        report.skip("job", world.without)
        return
    tries = Tries(world, report)
    try:
        tries.confined()
        tries.fidelity()
        tries.names()
    finally:
        shutil.copy(world.stand_in, NODE / "sbx-exec")
        report.check(not (faults := tries.session.end()), "job: no fault of memory", faults)
