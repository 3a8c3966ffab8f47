"""Ways round a check of Slurm's options: each first works with the real clients, then does not from inside.

An attempt is the words, and a file that is there when it has worked.  TRACE in a word is that file's name, PLACE its
directory, JOB a job that is there and not the project's.
"""
import os
import subprocess

from inside import Inside, backends
from session import Session
from try_chaperon import wait_for, write


class Attempt:
    def __init__(self, title, *words, script="", stdin="", environment=None, files=None, says="", job=False):
        self.title, self.words, self.script, self.stdin, self.says = title, words, script, stdin, says
        self.environment, self.files, self.job = environment or {}, files or {}, job


TOUCH = "#!/bin/sh\ntouch TRACE\n"
ATTEMPTS = [
    Attempt("a colon makes two lines of one", "sbatch", "-J", ":", "-o", "--wrap=touch trace", stdin="#!/bin/sh\ntrue\n",
            says="a second component"),
    Attempt("an abbreviation", "sbatch", "-o", "/dev/null", "--wra=touch TRACE", says="not an option of this command: --wra="),
    Attempt("the last of two", "sbatch", "-o", "/dev/null", "--wrap=true", "--wrap=touch TRACE", says="given twice: --wrap"),
    Attempt("a job's name in the name of a file", "sbatch", "-o", "PLACE/out/%x", "-J", "../trace", "--wrap=id",
            says="has other characters", files={"out/there": ""}),
    Attempt("a file spliced into the script", "sbatch", "-o", "/dev/null", "--bbf=PLACE/more", "s.sh", script="#!/bin/sh\ntrue\n",
            files={"more": "touch TRACE\n"}, says="denied: --bbf"),
    Attempt("the same from the script", "sbatch", "-o", "/dev/null", "s.sh", script="#!/bin/sh\n#SBATCH --bbf=PLACE/more\ntrue\n",
            files={"more": "touch TRACE\n"}, says="(script, line 2)"),
    Attempt("a second option on a line", "sbatch", "s.sh", script="#!/bin/sh\n#SBATCH -J x -o TRACE --nice=5\necho\n",
            says="nothing allows: --nice"),
    Attempt("a directive of another system, far below", "sbatch", "s.sh", script="#!/bin/sh\ntrue\ntrue\n#PBS -o TRACE\necho\n"),
    Attempt("#SLURM for #SBATCH", "sbatch", "s.sh", script="#!/bin/sh\n#SLURM -o TRACE\necho\n", says="say #SBATCH"),
    Attempt("a variable beats the script", "sbatch", "s.sh", script="#!/bin/sh\n#SBATCH -o /dev/null\necho\n",
            environment={"SBATCH_ERROR": "TRACE"}, says="(variable SBATCH_ERROR)"),
    Attempt("code before the script", "sbatch", "-o", "/dev/null", "--export=ALL,BASH_ENV=PLACE/more", "s.sh", script="#!/bin/bash\ntrue\n",
            files={"more": "touch TRACE\n"}, says="the job's policy passes no variable BASH_ENV"),
    Attempt("a login shell on the node", "sbatch", "-o", "/dev/null", "--export=NONE", "--wrap=true", files={"~/.profile": "touch TRACE\n"}),
    Attempt("the same by a variable", "sbatch", "-o", "/dev/null", "--wrap=true", environment={"SLURM_GET_USER_ENV": "1"},
            files={"~/.profile": "touch TRACE\n"}),
    Attempt("a plugin of one's own", "sbatch", "--test-only", "--wrap=true", environment={"SLURM_CONF": "PLACE/slurm.conf"},
            files={"plugin": ""}),
    Attempt("a prolog on this side", "srun", "--prolog=PLACE/more", "true", files={"more": TOUCH}, says="denied: --prolog"),
    Attempt("the same by a variable", "srun", "true", environment={"SLURM_PROLOG": "PLACE/more"}, files={"more": TOUCH}),
    Attempt("a task's prolog", "srun", "--task-prolog=PLACE/more", "true", files={"more": TOUCH}, says="denied: --task-prolog"),
    Attempt("a program copied to the node", "srun", "--bcast=TRACE", "/bin/true", says="denied: --bcast"),
    Attempt("commands from a file", "srun", "-n1", "--multi-prog", "PLACE/more", files={"more": "0 touch TRACE\n"},
            says="denied: --multi-prog"),
    Attempt("srun's output outside", "srun", "-o", "TRACE", "id", says="nothing allows: --output"),
    Attempt("into another's job", "srun", "--jobid=JOB", "--overlap", "touch", "TRACE", job=True, says="denied: --jobid"),
    Attempt("the same by a variable", "srun", "touch", "TRACE", environment={"SLURM_JOB_ID": "JOB", "SLURM_OVERLAP": "1"}, job=True,
            says="denied: --"),
    Attempt("a command on this side", "salloc", "touch", "TRACE", says="it runs a command outside"),
    Attempt("scontrol writes a file", "scontrol", "write", "batch_script", "JOB", "TRACE", job=True, says="of scontrol there are: "),
    Attempt("scontrol reads commands", "scontrol", stdin="write batch_script JOB TRACE\n", job=True, says="of scontrol there are: "),
]


class Bypass:
    def __init__(self, world, report):
        self.world, self.report = world, report
        place = world.work / "bypass"
        # With sanitizers and no launcher, then as a program inside meets it.
        self.sessions = {"": Session(world, place, policy="bypass.pol")}
        for backend in backends(report, "ways round the chaperon"):
            self.sessions[backend] = Inside(world, place, backend, "bypass.pol")
        self.place = place / "project"
        self.trace = self.place / "trace"
        self.job = "0"

    def fill(self, text):
        return text.replace("TRACE", str(self.trace)).replace("PLACE", str(self.place)).replace("JOB", self.job)

    def plugin(self):
        """A configuration that has each client load a library of ours."""
        library = self.place / "trace.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-o", library, "-"], check=True, text=True,
                       input=f'#include <fcntl.h>\n__attribute__((constructor)) static void begin(void) {{ creat("{self.trace}", 0600); }}\n')
        (self.place / "plugstack.conf").write_text(f"required {library}\n")
        conf = self.world.cluster.conf.read_text()
        (self.place / "slurm.conf").write_text("".join(f"PlugStackConfig={self.place}/plugstack.conf\n" if line.startswith("PlugStackConfig")
                                                       else line + "\n" for line in conf.splitlines()))

    def prepare(self, attempt):
        self.trace.unlink(missing_ok=True)
        if attempt.job:
            self.job = self.world.cluster.run("sbatch", "--parsable", "-o", "/dev/null", "--wrap=sleep 60", cwd=self.place).stdout.strip()
            wait_for(lambda: "R" in self.world.cluster.run("squeue", "--noheader", "-o", "%t", "-j", self.job, cwd=self.place).stdout)
        for name, text in attempt.files.items():
            path = self.world.home / name[2:] if name.startswith("~/") else self.place / name
            if name == "plugin":
                self.plugin()
                continue
            path.parent.mkdir(exist_ok=True)
            os.chown(path.parent, self.world.uid, self.world.uid)
            write(path, self.fill(text))
        if attempt.script:
            write(self.place / "s.sh", self.fill(attempt.script))

    def clear(self, attempt):
        if attempt.job:
            self.world.cluster.run("scancel", self.job, cwd=self.place)
        for name in attempt.files:
            if name.startswith("~/"):
                (self.world.home / name[2:]).unlink()

    def over(self):
        """All jobs but the one that is there for the attempt."""
        left = self.world.cluster.run("squeue", "--noheader", "-o", "%i", cwd=self.place).stdout.split()
        return set(left) <= {self.job}

    def inside(self, attempt, where, words, environment):
        title = f"{where + ': ' if where else ''}bypass: {attempt.title}"
        status, out, errors = self.sessions[where].run(*words, stdin=self.fill(attempt.stdin), environment=environment)
        if attempt.says:
            self.report.check(status == 1 and attempt.says in errors, f"{title}: refused", f"{status} {out}{errors}")
        else:
            self.report.check(status == 0, f"{title}: without it", f"{status} {out}{errors}")
            wait_for(self.over)
        self.report.check(not self.trace.exists(), f"{title}: does nothing")

    def attempt(self, attempt):
        self.prepare(attempt)
        words = [self.fill(word) for word in attempt.words]
        environment = {name: self.fill(value) for name, value in attempt.environment.items()}
        done = subprocess.run(["setpriv", "--reuid", self.world.user, "--regid", self.world.user, "--init-groups", *words],
                              cwd=self.place, capture_output=True, text=True, input=self.fill(attempt.stdin), timeout=60,
                              env={"SLURM_CONF": str(self.world.cluster.conf), "HOME": str(self.world.home), "PATH": "/usr/bin:/bin",
                                   "USER": self.world.user, **environment})
        self.report.check(wait_for(self.trace.exists), f"bypass: {attempt.title}: works outside", done.stdout + done.stderr)
        wait_for(self.over)
        self.trace.unlink(missing_ok=True)
        for where in self.sessions:
            self.inside(attempt, where, words, environment)
        self.clear(attempt)


def run(world, report):
    if not world.cluster:
        report.skip("ways round the chaperon", world.without)
        return
    tries = Bypass(world, report)
    try:
        for attempt in ATTEMPTS:
            tries.attempt(attempt)
    finally:
        for session in tries.sessions.values():
            session.end()
