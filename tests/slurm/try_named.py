"""A session whose policy names another for its jobs: on a real Slurm, as an ordinary user, the job is held by that one.
Each probe is one that the two policies answer differently, so that none of them can be the other's."""
import os
import pathlib
import re
import subprocess

from inside import Inside, backends
from try_chaperon import wait_for, write

HERE = pathlib.Path(__file__).resolve().parent
PROBES = r"""#!/bin/sh
cat ~/private 2>/dev/null || echo shut
echo x 2>/dev/null >.git/hooks/new && echo hook written || echo no hook
(echo x >~/out/results/$1) 2>/dev/null && echo result written || echo no result
echo "A=$A B=$B DEPTH=$DEPTH"
python3 -c 'import os; os.getpriority(0, 0)' 2>/dev/null && echo getpriority || echo no getpriority
rm -f .git/hooks/new
"""
OF_SESSION = "private\nhook written\nno result\nA=1 B= DEPTH=3\ngetpriority\n"
OF_JOB = "shut\nno hook\nresult written\nA= B=2 DEPTH=5\nno getpriority\n"


class Tries:
    def __init__(self, world, report, backend):
        self.world, self.report, self.backend = world, report, backend
        self.place = world.work / f"named-{backend}"
        self.place.mkdir()
        for name in ("named", "node"):
            text = (HERE / f"{name}.pol").read_text().replace("workspace", f"require {{ backend {backend} }}\nworkspace", 1)
            if backend == "landlock":  # which holds no deny beneath a grant
                text = text.replace("std/git", "std/git best-effort")
            (self.place / f"{name}.pol").write_text(text)
        self.of_job = OF_JOB.replace("no hook", "hook written") if backend == "landlock" else OF_JOB
        self.prepare()
        self.jobs = world.home / ".local/share/sbx/jobs"
        self.before = set(self.jobs.glob("*"))  # another part's
        self.session = Inside(world, self.place, backend, self.place / "named.pol", options=("-D", "depth=3"), environment={"A": "1", "B": "2"})

    def prepare(self):
        """A repository, and what one policy shows and the other does not."""
        project = self.place / "project"
        project.mkdir()
        write(self.world.home / "private", "private\n")
        # A default that leads out of its `under`, which only other values are held to.
        for name in ("out", "kept"):
            (self.world.home / name).mkdir(exist_ok=True)
            os.chown(self.world.home / name, self.world.uid, self.world.uid)
        if not (self.world.home / "out/results").is_symlink():
            (self.world.home / "out/results").symlink_to("../kept")
        write(project / "probes.sh", PROBES)
        subprocess.run(["git", "init", "--quiet", project], check=True)
        subprocess.run(["chown", "-R", self.world.user, self.place], check=True)

    def check(self, good, what, detail=""):
        self.report.check(good, f"named: {self.backend}: {what}", detail)

    def native(self, *words):
        return self.world.cluster.run(*words, cwd=self.session.project).stdout

    def read(self, name):
        file = self.session.project / name
        return file.read_text() if file.exists() else ""

    def new(self):
        return set(self.jobs.glob("sbx-*")) - self.before

    def words(self, job):
        return "".join(file.read_text() for directory in self.new() for file in directory.glob(f"slurm-{job}.out"))

    def end_of(self):
        """Nothing is in the queue of the real Slurm any more."""
        return wait_for(lambda: not self.native("squeue", "--noheader", "--format=%i").strip(), 50)

    def digest_of(self, *words):
        dump = subprocess.run([self.world.out / "sbxc", "dump", *words], capture_output=True, text=True, check=True).stdout
        return re.search(r"^# digest ([0-9a-f]{64})$", dump, re.M).group(1)

    # --- what holds

    def probes(self):
        here = self.session.run("sh", "probes.sh", "session")
        self.check(here[1] == OF_SESSION, "the session's own policy in the session", here)
        status, out, errors = self.session.run("sbatch", "--parsable", "--wait", "--output=held", "probes.sh", "job", environment={"B": "2"})
        self.check(status == 0 and self.read("held") == self.of_job, "the one that it names, in its job", f"{status} {out} {errors} {self.read('held')} {self.words(out.strip())}")
        self.check((self.world.home / "kept/job").exists(), "what the job may write and the session may not", self.words(out.strip()))
        status, out, errors = self.session.run("srun", "sh", "probes.sh", "srun", environment={"B": "2"})
        self.check(out == self.of_job, "and in a job of srun", f"{status} {out} {errors}")

    def confined(self):
        here = self.session.run("/usr/local/bin/sbx-probe", "--self")[1]
        _, out, errors = self.session.run("sbatch", "--parsable", "--wait", "--output=probes", "--wrap=/usr/local/bin/sbx-probe --self")
        self.check(here.count("yes") > 1 and self.read("probes") == here, "held by the same means", f"{here} {self.read('probes')} {errors} {self.words(out.strip())}")

    def identity(self):
        """The digest in the envelope is that of the policy by itself."""
        node = self.digest_of("-I", self.place, "node")
        envelopes = [(directory / "envelope").read_bytes() for directory in self.new()]
        self.check(envelopes and all(f"\0blob {node}\0".encode() in envelope for envelope in envelopes) and (self.jobs / f"{node}.sbx").exists(),
                   "envelopes name the policy by its own digest", node)
        logged = [line for line in self.session.lines() if "job" in line]
        self.check(logged and all(line["job-policy"] == node != line["policy"] for line in logged), "and so does the log", logged)
        self.check(not any(b"\0param " in envelope for envelope in envelopes), "with no value of the session's params")

    def variables(self):
        refused = self.session.run("sbatch", "--export=A", "--wrap=true")
        self.check(refused[0] == 1 and "the job's policy passes no variable A" in refused[2], "what only the session passes is refused", refused)

    def inside(self):
        """In the job its own section holds, and what it starts runs under its own policy."""
        write(self.session.project / "inside.sh", """#!/bin/sh
squeue 2>squeue
sbatch --wait --wrap=true 2>wait
srun sh probes.sh step >step 2>errors
sbatch --parsable --output=again probes.sh again >submitted 2>&1
""")
        status, out, errors = self.session.run("sbatch", "--parsable", "--wait", "inside.sh", environment={"B": "2"})
        self.end_of()
        said = f"{status} {out} {errors} {self.words(out.strip())}"
        self.check("squeue refused: nothing allows" in self.read("squeue") and "--wait refused: nothing allows" in self.read("wait"),
                   "the section of its own policy", self.read("squeue") + self.read("wait") + said)
        self.check(self.read("step") == self.of_job, "a step of it", self.read("step") + self.read("errors") + said)
        self.check(self.read("again") == self.of_job, "a job that it submits", f"{self.read('submitted')} {self.read('again')} {said}")

    # --- what does not fit

    def changed(self):
        policy = self.jobs / f"{self.digest_of('-I', self.place, 'node')}.sbx"
        kept = policy.read_bytes()
        broken = bytearray(kept)
        broken[len(broken) // 2] ^= 1
        cases = [("the session's own", self.session.blob.read_bytes(), "its policy is not the one that was submitted: submit it again"),
                 ("one bit of it another", bytes(broken), "not a usable policy: damaged: "),
                 ("the half of it", kept[:len(kept) // 2], "not a usable policy: truncated: "),
                 ("nothing", None, ": No such file or directory")]
        for what, data, said in cases:
            status, out, errors = self.session.run("sbatch", "--parsable", "--hold", "--output=changed", "--wrap=echo ran")
            if data is None:
                policy.unlink()
            else:
                policy.write_bytes(data)
            self.native("scontrol", "release", out.strip())
            self.end_of()
            state = self.native("scontrol", "--oneliner", "show", "job", out.strip())
            self.check("ExitCode=125:0" in state and said in self.words(out.strip()) and not self.read("changed"), f"in the place of its policy {what}: 125",
                       f"{out} {errors} {state} {self.words(out.strip())}")
            policy.write_bytes(kept)
            os.chown(policy, self.world.uid, self.world.uid)


def run(world, report):
    if not world.cluster:
        report.skip("named", world.without)
        return
    for backend in backends(report, "named"):
        tries = Tries(world, report, backend)
        try:
            for name in ("probes", "confined", "identity", "variables", "inside", "changed"):
                getattr(tries, name)()
        finally:
            tries.session.end()
            tries.native("scancel", "--me")
            tries.end_of()
