"""sbx_spank.so: what of the user's own Slurm runs beside the wrap.  Each first succeeds where nobody is held."""
import hashlib
import os
import re
import subprocess

from session import Session
from try_chaperon import wait_for, write

# Says in which program it was loaded.
PRELOADED = """
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void say(void)
{
	char name[64];
	int from = open("/proc/self/comm", O_RDONLY), to = open("%s", O_WRONLY | O_CREAT | O_APPEND, 0644);
	ssize_t size = read(from, name, sizeof(name));
	if (size > 0 && write(to, name, (size_t)size) < 0)
		_exit(1);
	close(from);
	close(to);
}
"""
# Becomes the program behind it with the variable before it set twice, side by side.
TWICE = """
import ctypes, os, sys
array = lambda words: (ctypes.c_char_p * (len(words) + 1))(*words, None)
ctypes.CDLL(None).execve(sys.argv[2].encode(), array([os.fsencode(word) for word in sys.argv[2:]]),
                         array([os.fsencode(f"{name}={value}") for name, value in os.environ.items()] + [sys.argv[1].encode()] * 2))
"""
# What a shell, a C library, a loader and srun would heed.
READ = {"BASH_ENV": "/x", "BASH_FUNC_[%%": "() { :; }", "ENV": "/x", "GCONV_PATH": "/x", "GLIBC_TUNABLES": "x", "LD_LIBRARY_PATH": "/x",
        "LD_AUDIT": "", "LOCPATH": "/x", "MALLOC_TRACE": "/x", "PS4": "$(id)", "SHELLOPTS": "xtrace", "SLURM_EPILOG": "/x", "SLURM_JOB_x": "1",
        "SLURM_PROLOG": "/x", "SLURM_TASK_PROLOG_HET_GROUP_0": "/x", "SLURM_STDOUTMODE": "/x", "UNKNOWN": "1"}
SET = {"HOME", "LANG", "LOGNAME", "PATH", "TMPDIR", "USER"}


def directory_of(script):
    return re.search(r"--job (\S+)", script).group(1)


class Tries:
    def __init__(self, world, report):
        self.world, self.report, self.cluster = world, report, world.cluster
        self.conf = self.cluster.conf.parent / "plugstack.conf"
        self.session = Session(world, world.work / "early", policy="job.pol")
        self.trace = world.work / "trace"
        self.account = f"users={world.user}"
        self.wrapper, self.step = self.wraps()

    # --- what the tries share

    def say(self, words):
        self.conf.write_text(f"required {self.world.out}/sbx_spank.so {words}\n")

    def slurm(self, *lines):
        """What slurm.conf says beside what it said, on each node."""
        self.cluster.conf.write_text(self.plain + "".join(f"{line}\n" for line in lines))
        subprocess.run(["scontrol", "reconfigure"], env={"SLURM_CONF": str(self.cluster.conf), "PATH": "/usr/bin:/bin"}, check=True, capture_output=True)

    def check(self, good, what, detail=""):
        self.report.check(good, f"early: {what}", detail)

    def native(self, *words, variables=(), **more):
        return self.cluster.run("env", *(f"{name}={value}" for name, value in dict(variables).items()), *words, cwd=self.session.project, **more)

    def script(self, name, text):
        path = self.world.work / name
        path.unlink(missing_ok=True)
        write(path, f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def wraps(self):
        """The words that sbx-chaperon gives Slurm: a script, and what is behind srun."""
        self.plain = self.cluster.conf.read_text()
        job = self.session.run("sbatch", "--parsable", "--hold", "--output=/dev/null", "--wrap=true")[1].strip()
        script = self.native("scontrol", "write", "batch_script", job, "-").stdout
        self.native("scancel", job)
        # A step's is gone when it ends: it is copied while it waits, with the policy beside it.
        go, kept = self.session.project / "go", self.world.work / "kept"
        waits = self.session.popen("srun", "sh", "-c", "until [ -e go ]; do sleep 0.1; done; echo ran", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        known = wait_for(lambda: self.step_directories(directory_of(script)))
        subprocess.run(["cp", "-a", self.session.place / "jobs", kept], check=True)
        write(go, "")
        waits.wait(60)
        directory = kept / known[0].name
        finds = re.sub(r"--job \S+ --digest [0-9a-f]+", '--job "$1" --digest "$2"', script.split("\n", 2)[2])
        return script.rstrip("\n") + "\n", ["/bin/sh", "-c", finds.rstrip("\n") + "\n", "sbx-job", str(directory),
                                          hashlib.sha256((directory / "envelope").read_bytes()).hexdigest()]

    def step_directories(self, other):
        return [path.parent for path in (self.session.place / "jobs").glob("sbx-*/envelope") if str(path.parent) != other]

    def batch(self, *words, variables=(), text=None):
        """A job past sbx-chaperon whose script is the wrap: its end, and what slurmstepd said."""
        script, said = self.world.work / "wrapper.sh", self.world.work / "said"
        script.unlink(missing_ok=True)
        said.unlink(missing_ok=True)
        write(script, text or self.wrapper)
        done = self.native("sbatch", "--parsable", "--wait", f"--output={said}", *words, str(script), variables=variables)
        state = re.search(r"JobState=(\S+)", self.native("scontrol", "show", "job", done.stdout.strip()).stdout)
        return state.group(1) if state else done.stderr, said.read_text() if said.exists() else ""

    def traced(self):
        lines = self.trace.read_text().split() if self.trace.exists() else []
        self.trace.unlink(missing_ok=True)
        return lines

    # --- the environment

    def preload(self):
        library = self.world.work / "preloaded.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, "-x", "c", "-"], input=PRELOADED % self.trace, text=True, check=True)
        library.chmod(0o755)
        variables = {"LD_PRELOAD": library}
        for words, runs in (("", True), (self.account, False), (f"{self.account} env=LD_PRELOAD", True), (f"{self.account} env=A,LD_*", True),
                            (f"{self.account} env=A,LD_PRELOA", False), (f"{self.account} env=*", True)):
            self.say(words)
            state, said = self.batch(variables=variables)
            loaded = self.traced()
            self.check((state, "slurm_script" in loaded) == ("COMPLETED", runs), f"LD_PRELOAD in a job: {words or 'no words'}", f"{state} {said} {loaded}")
            step = self.native("srun", *self.step, variables=variables)
            loaded = self.traced()
            self.check((step.stdout, "sh" in loaded) == ("ran\n", runs), f"LD_PRELOAD in a step: {words or 'no words'}", f"{step} {loaded}")

        self.say(self.account)
        step = self.native("/usr/bin/python3", "-c", TWICE, f"LD_PRELOAD={library}", "/usr/bin/srun", *self.step)
        loaded = self.traced()
        self.check(step.stdout == "ran\n" and "srun" in loaded and "sh" not in loaded, "LD_PRELOAD twice", f"{step} {loaded}")

    def what_stays(self):
        """As the site's own task prolog finds it."""
        seen = self.world.work / "seen"
        prolog = self.cluster.directory / "task-prolog"
        prolog.write_text(f"#!/bin/sh\ntr '\\0' '\\n' </proc/$$/environ >{seen}\n")
        prolog.chmod(0o755)
        self.slurm(f"TaskProlog={prolog}")
        for words in ("", self.account):
            self.say(words)
            seen.unlink(missing_ok=True)
            state, said = self.batch(variables={**READ, "PATH": f"{self.world.work}:/usr/bin:/bin"})
            got = dict(line.split("=", 1) for line in seen.read_text().splitlines())
            bad = {name for name in got if name not in SET and not name.startswith("SLURM")} | set(got) & set(READ) - {"SLURM_JOB_x"}
            if words:
                self.check((state, bad) == ("COMPLETED", set()), "what stays of an environment", f"{said} {bad}")
                self.check(got["PATH"] == "/usr/bin:/bin" and got["SLURM_CONF"] == str(self.cluster.conf), "what is set", got)
                self.check({"SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_NODEID", "SLURM_SUBMIT_DIR"} <= set(got), "Slurm's own words to a job stay", got)
            else:
                self.check(set(READ) <= set(got) and got["PATH"] != "/usr/bin:/bin", "without being held all of it comes", sorted(set(READ) - set(got)))
        self.slurm()

    # --- task prologs and epilogs

    def prologs(self):
        refused = "sbx: this account's steps have no task prolog of their own"
        prolog, site = self.script("prolog.sh", f"echo own >>{self.trace}"), self.cluster.directory / "task-prolog"
        site.write_text(f"#!/bin/sh\necho site >>{self.trace}\n")
        site.chmod(0o755)
        for lines, first in (((), []), ((f"TaskProlog={site}",), ["site"])):
            self.slurm(*lines)
            for words, runs in (("", True), (self.account, False), (f"{self.account} task-prolog=run", True)):
                self.say(words)
                for how, option, variables in (("option", [f"--task-prolog={prolog}"], ()), ("variable", [], {"SLURM_TASK_PROLOG": prolog})):
                    step = self.native("srun", *option, *self.step, variables=variables)
                    ran = self.traced()
                    self.check((ran, step.stdout, refused in step.stderr) == (first + ["own"] * runs, "ran\n" * runs, not runs),
                               f"a task prolog by {how}: {words or 'no words'} {lines}", f"{step} {ran}")
                step = self.native("srun", *self.step)
                ran = self.traced()
                self.check((ran, step.stdout) == (first, "ran\n"), f"without one: {words or 'no words'} {lines}", f"{step} {ran}")
        self.slurm()

    def epilogs(self):
        refused = "sbx: this account's steps have no task epilog"
        epilog = self.script("epilog.sh", f"echo own >>{self.trace}")
        for words, runs in (("", True), (self.account, False), (f"{self.account} task-epilog=run", True)):
            self.say(words)
            for tasks in (1, 2):
                step = self.native("srun", f"--ntasks={tasks}", f"--task-epilog={epilog}", *self.step)
                ran = self.traced()
                self.check((ran, step.stdout, step.returncode) == (["own"] * runs * tasks, "ran\n" * tasks, 0), f"a task epilog: {words or 'no words'}", f"{step} {ran}")
            step = self.native("srun", f"--task-epilog={epilog}", "echo", "free")
            ran = self.traced()
            self.check(ran == ["own"] * runs, f"of a step that is refused: {words or 'no words'}", f"{step} {ran}")
        logs = "".join(path.read_text() for path in (self.cluster.directory / "log").glob("slurmd-*.log"))
        self.check(refused in logs, "slurmd's log says so", logs[-2000:])

    # --- what a plugin cannot hold

    def logs_in(self):
        state, said = self.batch("--export=NONE", text="#!/bin/sh\nid\n")
        if (state, "this account's jobs" in said) != ("FAILED", True):
            self.check(False, "a job with --export=NONE", f"{state} {said}")
        return "profile" in self.traced()

    def login_shell(self):
        profile = self.world.home / ".profile"
        kept = profile.read_text() if profile.exists() else None
        write(profile, f"echo profile >>{self.trace}\n")
        self.say(self.account)
        try:
            self.check(self.logs_in(), "--export=NONE runs a login shell before the plugin, which then refuses the task")
            self.slurm("GetEnvTimeout=0")
            # slurmd hears of it after scontrol has ended.
            self.check(wait_for(lambda: not self.logs_in()), "not with GetEnvTimeout=0")
        finally:
            self.slurm()
            profile.unlink() if kept is None else profile.write_text(kept)

    # --- and who goes the right way

    def sessions(self):
        self.say(self.account)
        out = self.session.project / "steps.txt"
        status, said, errors = self.session.run("sbatch", "--wait", f"--output={out}", "--ntasks=2", "--wrap=srun --ntasks=2 sh -c 'echo step'")
        self.check((status, out.read_text() if out.exists() else "") == (0, "step\nstep\n"), "a session's job and its steps", said + errors)


def run(world, report):
    if not world.cluster:
        report.skip("early", world.without)
        return
    if not (world.out / "sbx_spank.so").exists():
        report.skip("early", "not installed: libslurm-dev")
        return
    tries = Tries(world, report)
    try:
        for name in ("preload", "what_stays", "prologs", "epilogs", "login_shell", "sessions"):
            getattr(tries, name)()
    finally:
        tries.conf.write_text("")
        tries.session.end()
