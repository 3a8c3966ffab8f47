"""sbx_spank.so in the slurmstepd of a cluster: what each line of plugstack.conf lets be executed."""
import os
import re
import subprocess

from session import Session
from try_chaperon import wait_for


class Tries:
    def __init__(self, world, report):
        self.world, self.report = world, report
        self.conf = world.cluster.conf.parent / "plugstack.conf"
        self.session = Session(world, world.work / "spank", policy="job.pol")

    def say(self, words):
        """To each slurmstepd and client that starts from now on."""
        self.conf.write_text(f"required {self.world.out}/sbx_spank.so {words}\n")

    def check(self, good, what, detail=""):
        self.report.check(good, f"spank: {what}", detail)

    def native(self, *words):
        return self.world.cluster.run(*words, cwd=self.session.project)

    def batch(self, submit, *words):
        """Its end, and what slurmstepd said of it."""
        job = submit("sbatch", "--parsable", *words, "--wrap=echo ran")
        wait_for(lambda: not self.native("squeue", "--noheader").stdout.strip())
        text = self.native("scontrol", "--oneliner", "show", "job", job).stdout
        said = re.search(r"StdOut=(\S+)", text).group(1)
        return re.search(r"JobState=(\S+)", text).group(1), open(said).read() if os.path.exists(said) else ""

    def free(self, *words):
        return self.native(*words).stdout.strip()

    def held(self, *words):
        return self.session.run(*words)[1].strip()

    def accounts(self):
        ours = "this account's jobs are submitted from inside a session of sbx-exec"
        for words, refuses in (("", False), (f"users=root,{self.world.user}", True), (f"users={self.world.user}x,x{self.world.user}", False),
                               (f"groups={self.world.user}", True), ("groups=root", False)):
            self.say(words)
            state, said = self.batch(self.free)
            self.check((state, ours in said, "ran" in said) == (("FAILED", True, False) if refuses else ("COMPLETED", False, True)),
                       f"a job past the wrap: {words or 'no words'}", f"{state} {said}")
            step = self.native("srun", "echo", "ran")
            self.check((ours in step.stderr and "ran" not in step.stdout) if refuses else step.stdout == "ran\n", f"a step past it: {words or 'no words'}", step)
            state, said = self.batch(self.held)
            self.check(state == "COMPLETED", f"a session's job: {words or 'no words'}", f"{state} {said}")
            status, out, errors = self.session.run("srun", "echo", "ran")
            self.check((status, out) == (0, "ran\n"), f"a session's srun: {words or 'no words'}", out + errors)

    def near_misses(self):
        """What only looks like the wrap."""
        self.say(f"users={self.world.user}")
        script = self.session.project / "near.sh"
        job = self.held("sbatch", "--parsable", "--hold", "--wrap=true")
        wrapper = self.native("scontrol", "write", "batch_script", job, "-").stdout
        self.native("scancel", job)
        for name, text in (("a line more", wrapper + "id\n"), ("a line before", wrapper.replace(":\n", "id\n", 1)), ("another program", wrapper.replace(
                "/usr/local/bin", "/tmp")), ("two words for one", wrapper.replace(" --digest", " x --digest"))):
            script.write_text(text)
            state, said = self.batch(lambda *words: self.native(*words[:-1], str(script)).stdout.strip())
            self.check(text != wrapper and state == "FAILED" and "this account's jobs" in said, f"not quite: {name}", f"{state} {said}")
        step = self.native("srun", "/bin/sh", "-c", "exit 0", "sbx-job", "/d", "0" * 64)
        self.check("this account's jobs" in step.stderr and step.returncode, "not quite: another step", step)

    def entering(self):
        """A session's job while it runs."""
        self.say("")
        job = self.held("sbatch", "--parsable", "--wrap=sleep 1234")
        wait_for(lambda: "RUNNING" in self.native("scontrol", "show", "job", job).stdout)
        step = self.native("srun", f"--jobid={job}", "--overlap", "echo", "in")
        self.check("this job is a session's: it is entered only from inside it" in step.stderr and "in\n" not in step.stdout, "a session's job is not entered", step)
        self.conf.write_text("")
        step = self.native("srun", f"--jobid={job}", "--overlap", "echo", "in")
        self.check(step.stdout == "in\n", "without the plugin it is", step)
        self.native("scancel", job)
        wait_for(lambda: not self.native("squeue", "--noheader").stdout.strip())

    def policies(self):
        listed, dump = self.world.work / "policies", subprocess.run([self.world.out / "sbxc", "dump", self.session.blob], capture_output=True, text=True).stdout
        digest = re.search("[0-9a-f]{64}", dump).group(0)
        self.say(f"users={self.world.user} policies={listed}")
        for text, runs in (("", False), (f"{digest[:63]}{'0' if digest[63] != '0' else '1'} another\n", False), (f"# ours\n{digest} job.pol\n", True)):
            listed.write_text(text)
            state, said = self.batch(self.held)
            words = "" if runs else "the site does not list the policy of this job"
            self.check((state == "COMPLETED") == runs and words in said, f"policies: {text[:12]!r}", f"{state} {said}")
        listed.unlink()
        state, said = self.batch(self.held)
        self.check(state == "FAILED" and f"sbx: policies={listed} of plugstack.conf cannot be read: No such file or directory\n" in said,
                   "policies: no such file", f"{state} {said}")

    def envelopes(self):
        """With a list of policies the envelope has to be the one that the digest is of."""
        listed = self.world.work / "policies"
        listed.write_text("")
        self.say(f"users={self.world.user} policies={listed}")
        job = self.held("sbatch", "--parsable", "--hold", "--wrap=true")
        script = self.session.project / "other.sh"
        script.write_text(re.sub("--digest [0-9a-f]+", "--digest " + "0" * 64, self.native("scontrol", "write", "batch_script", job, "-").stdout))
        self.native("scancel", job)
        state, said = self.batch(lambda *words: self.native(*words[:-1], str(script)).stdout.strip())
        self.check(state == "FAILED" and "sbx: this job has no envelope with the digest that it names\n" in said, "policies: another digest", f"{state} {said}")

    def mistakes(self):
        self.say("user=x")
        step = self.native("srun", "true")
        self.check(step.returncode and "plugstack.conf: no word user=x: users=, groups=, policies=, env=, task-prolog=run, task-epilog=run\n" in step.stderr, "a word that it does not know", step)
        for words in ("task-prolog=yes", "task-epilog="):
            self.say(words)
            step = self.native("srun", "true")
            self.check(step.returncode and f"no word {words}:" in step.stderr, f"not a word: {words}", step)

    def unknown_names(self):
        """They hold nobody, in the log of who may mend it; the others are held."""
        self.say(f"users=nosuchuser,{self.world.user} groups=nosuchgroup")
        state, said = self.batch(self.free)
        logs = "".join(path.read_text() for path in (self.world.cluster.directory / "log").glob("slurmd-*.log"))
        self.check(state == "FAILED" and "nosuch" not in said, "a name of nobody beside one that is held", f"{state} {said}")
        for what in ("account 'nosuchuser'", "group 'nosuchgroup'"):
            self.check(f"error: sbx: plugstack.conf: no {what} is known: it holds nobody\n" in logs, f"slurmd's log: no {what}", logs[-1000:])


def run(world, report):
    if not world.cluster:
        report.skip("spank", world.without)
        return
    if not (world.out / "sbx_spank.so").exists():
        report.skip("spank", "not installed: libslurm-dev")
        return
    tries = Tries(world, report)
    try:
        for name in ("accounts", "near_misses", "entering", "policies", "envelopes", "mistakes", "unknown_names"):
            getattr(tries, name)()
    finally:
        tries.conf.write_text("")
        tries.session.end()
