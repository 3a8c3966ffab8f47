"""sbx-exec and Slurm: from inside, on every backend, as an ordinary user."""
import os
import pathlib
import signal
import time

from inside import Inside, backends
from try_chaperon import wait_for, write

CLIENTS = ("sbatch", "srun", "squeue", "scancel", "scontrol", "sacct", "sinfo", "sstat", "sprio", "sshare", "sdiag", "salloc", "sattach",
           "sbcast", "scrontab", "strigger", "sreport", "sacctmgr")
# Says how connecting went: to a path, or to a port of this host.
CONNECT = """
import socket, sys
to = sys.argv[1]
s = socket.socket(socket.AF_UNIX) if to[0] == "/" else socket.socket()
s.settimeout(5)
s.connect(to if to[0] == "/" else ("127.0.0.1", int(to)))
print("connected")
"""


class Tries:
    def __init__(self, world, report, backend):
        self.world, self.report, self.backend = world, report, backend
        self.session = Inside(world, world.work / f"inside-{backend}", backend, "inside.pol")
        self.project = self.session.project

    def check(self, good, what, detail=""):
        self.report.check(good, f"{self.backend}: {what}", detail)

    def native(self, *words, **more):
        return self.world.cluster.run(*words, cwd=self.project, **more)

    # --- what there is

    def works(self):
        status, out, errors = self.session.run("sh", "-c", "echo $PATH; command -v squeue; cat /proc/self/environ | tr '\\0' '\\n' | grep SLURM")
        clients = str(self.session.programs / "slurm")
        self.check(out.splitlines()[:2] == [f"{clients}:/usr/bin:/bin", f"{clients}/squeue"], "its clients come first", out + errors)
        self.check([line.split("=")[0] for line in out.splitlines()[2:]] == ["SBX_SLURM_SOCKET"], "one variable of Slurm's", out)
        status, out, errors = self.session.run("sbatch", "--parsable", "--hold", "--wrap=id")
        job = out.strip()
        self.check(status == 0 and job.isdigit(), "a job is submitted", f"{status} {out}{errors}")
        self.check("JobHeldUser" in self.native("scontrol", "show", "job", job).stdout, "the real Slurm has it")
        status, out, errors = self.session.run("squeue", "--noheader", "--format=%i")
        self.check(status == 0 and out.split() == [job], "and it is seen", out + errors)
        self.check(self.session.run("scancel", job)[0] == 0, "and cancelled")
        line = next((line for line in self.session.lines() if line.get("job") == int(job)), {})
        self.check(line.get("verdict") == "allowed" and line["arguments"][0] == "sbatch", "and is in the log", line)


    # --- what there is not

    def real_clients(self):
        there = [f"/usr/bin/{client}" for client in (*CLIENTS, "munge", "unmunge") if os.path.exists(f"/usr/bin/{client}")]
        works = [path for path in there if self.native(path, "--version").returncode == 0]
        self.check(set(there) - set(works) <= {"/usr/bin/scrontab", "/usr/bin/sreport"}, "outside the real clients work", set(there) - set(works))
        answers = {path: self.session.run(path, "--version") for path in there}
        self.check(all(answer[0] == 126 and "Permission denied" in answer[2] for answer in answers.values()), "none of them can be run", answers)
        copies = self.session.run("sh", "-c", "for f; do cp $f copy && ./copy --version && echo copied; rm -f copy; done", "sh", *there)
        self.check("copied" not in copies[1], "or copied", copies)
        status, out, _ = self.session.run("sh", "-c", "for f; do /lib64/ld-linux-x86-64.so.2 $f --version && echo loaded; done", "sh", *there)
        self.check("loaded" not in out, "or loaded", out)

    def connect(self, to):
        words = ["/usr/bin/python3", "-c", CONNECT, str(to)]
        outside = self.native(*words)
        self.check(outside.stdout == "connected\n", f"outside {to} can be connected to", outside.stderr)
        return self.session.run(*words)

    def ways(self):
        """Munge, slurmctld, and the socket of another session's chaperon, whoever could reach them outside."""
        munge = [path for path in self.world.cluster.directory.rglob("*") if path.is_socket() and "munge" in path.name]
        self.check(len(munge) == 1, "there is munge", munge)
        for path in munge:
            status, out, errors = self.connect(path)
            self.check(status == 1 and not out and any(word in errors for word in ("PermissionError", "FileNotFoundError")), "no munge", out + errors)
        port = next(line.split("=")[1] for line in self.world.cluster.conf.read_text().splitlines() if line.startswith("SlurmctldPort="))
        status, out, errors = self.connect(port)
        self.check(status == 1 and not out and "Error" in errors, "no slurmctld", out + errors)
        other = Inside(self.world, self.world.work / f"other-{self.backend}", self.backend, "inside.pol")
        try:
            path = other.run("sh", "-c", "echo $SBX_SLURM_SOCKET")[1].strip()
            status, out, errors = self.connect(path)
            self.check(status == 1 and not out and "Error" in errors, "not another session's chaperon", out + errors)
        finally:
            other.end()

    def records(self):
        """What says whose a job is, and what jobs are made of: there, and nobody inside sees or changes it."""
        home = self.world.home
        names = [home / ".local/state/sbx/slurm", home / ".local/share/sbx/jobs"]
        files = [next(path for path in name.rglob("*") if path.is_file()) for name in names]
        for path in (*names, *files):
            self.check(path.exists(), f"{path.name} is there")
            command = "ls" if path.is_dir() else "cat"
            status, out, errors = self.session.run(command, path)
            self.check(status and not out, f"{command} of it fails", out + errors)
            if self.backend != "landlock":
                wide = self.wide.run(command, path)
                self.check(wide[0] and not wide[1], "also where all of the home is granted", wide)
        status, out, errors = self.session.run("sh", "-c", f"echo x >{names[1]}/new; echo x >{self.session.programs}/slurm/new")
        self.check(not (names[1] / "new").exists() and not (self.session.programs / "slurm/new").exists(), "nothing is added to it", out + errors)

    def grants(self):
        """A policy that opens the home."""
        self.wide = Inside(self.world, self.world.work / f"wide-{self.backend}", self.backend, "wide.pol")
        if self.backend == "landlock":
            status, _, said = self.wide.run("true")
            self.check(status == 125 and "beneath a grant" in said, "a grant around the records starts nothing", said)
            return
        mark = self.world.home / "mark"
        write(mark, "mark\n")
        status, out, errors = self.wide.run("cat", mark)
        self.check(out == "mark\n", "another policy opens the home", errors)
        self.records()
        self.wide.end()

    # --- Show 3: budgets and scope

    def budget(self):
        session = Inside(self.world, self.world.work / f"budget-{self.backend}", self.backend, "inside.pol")
        jobs = [session.run("sbatch", "--parsable", "--hold", "--wrap=true")[1].strip() for _ in range(3)]
        self.check(all(job.isdigit() for job in jobs), "three jobs are within the budget", jobs)
        status, _, errors = session.run("sbatch", "--parsable", "--hold", "--wrap=true")
        self.check(status == 1 and "budget session jobs 3" in errors and "1 asked for, 0 left" in errors, "the fourth is refused with what is left",
                   errors)
        self.others(session, jobs)
        session.end()

    def others(self, theirs, jobs):
        """Another project's jobs can be neither seen nor changed."""
        for words in (["squeue", "--noheader"], ["squeue", "--noheader", f"--jobs={jobs[0]}"], ["scontrol", "show", "job", jobs[0]],
                      ["scancel", jobs[0]], ["scancel", *jobs], ["scancel"]):
            status, out, errors = self.session.run(*words)
            self.check(not any(job in out for job in jobs) and (not out or words[0] != "scontrol"), f"another project's: {' '.join(words[:2])}",
                       f"{status} {out}{errors}")
        left = self.native("squeue", "--noheader", "--format=%i").stdout.split()
        self.check(set(jobs) <= set(left), "they are all there", left)
        self.check(sorted(theirs.run("squeue", "--noheader", "--format=%i")[1].split()) == sorted(jobs), "their own project sees them")
        status, _, errors = theirs.run("scancel", *jobs)
        left = self.native("squeue", "--noheader", "--format=%i").stdout.split()
        self.check(status == 0 and not set(jobs) & set(left), "and cancels them", f"{left}{errors}")

    # --- refusals

    def refusals(self):
        partition = self.session.run("sbatch", "--partition=gpu", "--wrap=true")
        self.check(partition[0] == 1 and partition[2].startswith("sbx: sbatch") and "inside.pol:" in partition[2], "an option's value, with its rule",
                   partition)
        for client, why in (("salloc", "it runs a command outside"), ("sattach", "it enters a job"), ("sbcast", "it writes files on nodes"),
                            ("scrontab", "jobs of a table"), ("strigger", "programs run by Slurm's daemons"), ("sreport", "what everybody used"),
                            ("sacctmgr", "it changes accounts")):
            status, _, errors = self.session.run(client, "-x")
            self.check(status == 1 and why in errors, f"{client} is refused with its reason", errors)

    def launches(self):
        """What the launcher does not start."""
        log, conf = self.project / "log", write(self.project / "slurm.conf", "")
        for what, environment, options, says in (
                ("a log that can be written inside", {}, ["--slurm-log", log], f"--slurm-log {log}: the policy lets it be written inside"),
                ("a configuration that can", {"SLURM_CONF": str(conf)}, [], f"SLURM_CONF={conf}: the policy lets it be written inside"),
                ("the same from /", {"SLURM_CONF": str(conf)[1:]}, [], f"SLURM_CONF={str(conf)[1:]}: the policy lets it be written inside")):
            self.session.variables.update(environment)
            done = self.session.once("true", options=options)
            self.check(done.returncode == 125 and says in done.stderr, f"{what}: refused", done.stderr)
            self.session.variables["SLURM_CONF"] = str(self.world.cluster.conf)
        self.session.variables["SLURM_CONF"] = "nowhere"
        done = self.session.once("true")
        self.check(done.returncode == 0 and "does not list its options" in done.stderr, "a configuration that is none: said, and no more", done.stderr)
        self.session.variables["SLURM_CONF"] = str(self.world.cluster.conf)
        for gone in ("sbx-chaperon", "slurm"):
            path = self.session.programs / gone
            path.rename(f"{path}.away")
            try:
                done = self.session.once("true")
            finally:
                pathlib.Path(f"{path}.away").rename(path)
            self.check(done.returncode == 125 and gone in done.stderr, f"without {gone}: refused", done.stderr)

    # --- ends

    def left(self):
        """What lies beside the sessions' records, but for those of the sessions that live."""
        return sorted(path.name for path in (self.world.home / ".local/state/sbx/sessions").glob("slurm-*"))

    def killed(self):
        """The chaperon: the session goes on without.  The launcher: nothing is left that lives."""
        before = self.left()
        session = Inside(self.world, self.world.work / f"killed-{self.backend}", self.backend, "inside.pol")
        self.check(session.run("squeue")[0] == 0, "it answers")
        self.check(len(self.left()) == len(before) + 2, "a socket and its lock", self.left())
        chaperon = session.chaperon()
        os.kill(chaperon, signal.SIGKILL)
        wait_for(lambda: "sbx-chaperon has ended: no Slurm from here on" in session.said.read_text())
        self.check("sbx-chaperon has ended: no Slurm from here on" in session.said.read_text(), "its end is said", session.said.read_text())
        start = time.monotonic()
        status, _, errors = session.run("squeue")
        self.check(status == 1 and "sbx-chaperon does not answer" in errors and time.monotonic() - start < 10, "a client says so at once", errors)
        self.check(session.run("echo", "on")[1] == "on\n", "the session goes on")
        self.check(session.end() == 0 and self.left() == before, "and leaves nothing", self.left())
        session = Inside(self.world, self.world.work / f"killed-{self.backend}", self.backend, "inside.pol")
        session.run("true")
        chaperon = session.chaperon()
        session.process.kill()
        session.process.wait()
        self.check(wait_for(lambda: not os.path.exists(f"/proc/{chaperon}") or "State:\tZ" in pathlib.Path(f"/proc/{chaperon}/status").read_text()),
                   "a launcher that was killed takes its chaperon with it")
        self.check(len(self.left()) == len(before) + 2, "its socket is left", self.left())
        self.session.once("true")
        self.check(self.left() == before, "and goes with the next session", self.left())


ORDER = ("works", "real_clients", "ways", "grants", "budget", "refusals", "launches", "killed")


def slurm_down(world, report, all_tries):
    """slurmctld hangs: each session's client says so in time, all at the same time."""
    pid = int((world.cluster.directory / "run/slurmctld.started").read_text().split()[0])
    os.kill(pid, signal.SIGSTOP)
    try:
        start = time.monotonic()
        for tries in all_tries:
            tries.session.ask("squeue")
        for tries in all_tries:
            status, _, errors = tries.session.answer()
            tries.check(status == 1 and errors and time.monotonic() - start < 13, "slurmctld hangs: an error in time", errors)
    finally:
        os.kill(pid, signal.SIGCONT)


def run(world, report):
    if not world.cluster:
        report.skip("sbx-exec with the real clients", world.without)
        return
    all_tries = []
    try:
        for backend in backends(report, "Slurm from inside"):
            all_tries.append(Tries(world, report, backend))
            for name in ORDER:
                getattr(all_tries[-1], name)()
        slurm_down(world, report, all_tries)
    finally:
        for tries in all_tries:
            tries.session.end()
