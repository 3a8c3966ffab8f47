"""However a session ends, what its sruns hold of Slurm is given back, and soon."""
import contextlib
import os
import pathlib
import pty
import re
import signal
import subprocess
import time

import suite
from inside import Inside, backends
from try_chaperon import wait_for, write


class Tries:
    def __init__(self, world, report, backend):
        self.world, self.report, self.backend = world, report, backend
        self.session = Inside(world, world.work / f"life-{backend}", backend, "life.pol")
        self.project, self.begun = self.session.project, []

    def check(self, good, what, detail=""):
        self.report.check(good, f"{self.backend}: {what}", detail)

    def native(self, *words):
        return self.world.cluster.run(*words, cwd=self.project)

    def queue(self):
        return self.native("squeue", "--noheader", "--format=%i %T").stdout.split("\n")[:-1]

    def begin(self, *words, **more):
        """A session whose program is @words."""
        process = subprocess.Popen([*self.session.command, *words], cwd=self.project, env=self.session.variables, user=self.world.uid,
                                   group=self.world.uid, extra_groups=[], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
        self.begun.append(process)
        return process

    def end(self):
        for process in self.begun:
            process.kill()
            process.wait()
        self.session.end()

    def runs(self):
        return wait_for(lambda: [line for line in self.queue() if line.endswith(" RUNNING")])

    def children(self, pid, name):
        pids = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in pids if suite.name_of(int(child)) == f"{name}\n"]

    def chaperon(self, process):
        return self.children(process.pid, "sbx-chaperon")[0]

    def released(self, what):
        gone = wait_for(lambda: not self.queue())
        self.check(gone, f"{what}: the allocation is released", self.queue())
        self.native("scancel", "--me")
        wait_for(lambda: not self.queue())

    # --- ends

    def left_behind(self):
        """The program ends, and has an srun in the background."""
        process = self.begin("sh", "-c", "srun sleep 1000 & until squeue --noheader --format=%T | grep -q RUNNING; do sleep 0.1; done; exit 3",
                             stdin=subprocess.DEVNULL)
        status = process.wait(60)
        self.check(status == 3, "an srun in the background", status)
        self.released("left in the background")

    def signalled(self):
        """sbx-exec gets a signal; what is killed outright says nothing to anybody."""
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGKILL):
            process = self.begin("srun", "sleep", "1000", stdin=subprocess.DEVNULL)
            self.runs()
            process.send_signal(number)
            process.wait(60)
            self.released(f"{number.name} to sbx-exec")

    def killed(self):
        """sbx-chaperon is killed outright, and the session goes on, or ends at once."""
        for goes_on in (True, False):
            process = self.begin("sh", "-c", "srun sleep 1000; read line", stdin=subprocess.PIPE)
            self.runs()
            os.kill(self.chaperon(process), signal.SIGKILL)
            if not goes_on:
                process.terminate()
                process.wait(60)
            self.released(f"SIGKILL to sbx-chaperon, the session {'goes on' if goes_on else 'ends'}")
            process.stdin.close()
            process.wait(60)

    def hindered(self):
        """The real srun cannot give it back at once, since slurmctld hangs for a while; or never."""
        controller = int((self.world.cluster.directory / "run/slurmctld.started").read_text().split()[0])
        process = self.begin("sh", "-c", "srun sleep 1000 & read line", stdin=subprocess.PIPE)
        self.runs()
        srun = self.children(self.chaperon(process), "srun")[0]
        os.kill(controller, signal.SIGSTOP)
        process.stdin.close()
        time.sleep(1)
        os.kill(controller, signal.SIGCONT)
        process.wait(60)
        self.released("slurmctld hangs")
        self.check(wait_for(lambda: suite.name_of(srun) != "srun\n"), "slurmctld hangs: no srun is left")
        process = self.begin("sh", "-c", "srun sleep 1000 & read line", stdin=subprocess.PIPE)
        self.runs()
        chaperon = self.chaperon(process)
        os.kill(chaperon, signal.SIGSTOP)  # nobody is to hear of the end of the other
        os.kill(self.children(chaperon, "srun")[0], signal.SIGKILL)
        os.kill(chaperon, signal.SIGKILL)
        self.released("SIGKILL to srun and sbx-chaperon")
        process.stdin.close()
        process.wait(60)

    def hung_up(self):
        """The terminal is closed."""
        for words in (["srun", "sleep", "1000"], ["srun", "--pty", "sh", "-c", "sleep 1000"]):
            pid, master = pty.fork()
            if not pid:
                os.chdir(self.project)
                os.setgroups([])
                os.setgid(self.world.uid)
                os.setuid(self.world.uid)
                command = [str(word) for word in [*self.session.command, *words]]
                os.execve(command[0], command, self.session.variables)
            self.runs()
            os.close(master)
            os.waitpid(pid, 0)
            self.released(f"a closed terminal, {' '.join(words[:2])}")

    def waiting(self):
        """One that has no nodes yet."""
        holder = self.native("sbatch", "--parsable", "--exclusive", "--nodes=2", "-o", "/dev/null", "--wrap=sleep 1000").stdout.strip()
        self.runs()
        process = self.begin("srun", "--nodes=2", "sleep", "1000", stdin=subprocess.DEVNULL)
        self.check(wait_for(lambda: [line for line in self.queue() if line.endswith(" PENDING")]), "an srun that waits", self.queue())
        process.terminate()
        process.wait(60)
        self.check(wait_for(lambda: self.queue() == [f"{holder} RUNNING"]), "one that waits is gone from the queue", self.queue())
        self.native("scancel", "--me")
        wait_for(lambda: not self.queue())


    def warned(self):
        """A signal that is to warn a batch job, sent to each of its processes, as some nodes do: Slurm is there still."""
        write(self.project / "warned.sh", """#!/bin/sh
trap 'squeue --noheader --format="seen %j" >after 2>&1; srun echo step >>after 2>&1; exit 0' TERM
echo up >up
sleep 1000 & wait
""")
        for words in (["--batch"], ["--full"]):
            job = self.session.run("sbatch", "--parsable", "--output=/dev/null", "warned.sh")[1].strip()
            wait_for(lambda: (self.project / "up").exists())
            for launcher in self.processes("sbx-exec --job"):
                for chaperon in self.children(launcher, "sbx-chaperon"):
                    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT, signal.SIGHUP):
                        with contextlib.suppress(ProcessLookupError):  # the one before has ended it
                            os.kill(chaperon, number)
            self.native("scancel", "--signal=TERM", *words, job)
            wait_for(lambda: not self.queue())
            after = (self.project / "after").read_text() if (self.project / "after").exists() else ""
            self.check(after == "seen warned.sh\nstep\n", f"TERM to a job: {' '.join(words)}", after)
            for name in ("up", "after"):
                (self.project / name).unlink(missing_ok=True)

    def sat_at(self):
        """Slurm where somebody sits at a job; in any other task a client says that there is none."""
        words = ("echo job $SLURM_JOB_ID; squeue --noheader --format='seen %i %j'; sbatch --parsable --hold --wrap=true >submitted; "
                 "squeue --noheader --format='seen %i %j'; scancel $(cat submitted); echo status $?")
        process = subprocess.run(["script", "-qec", " ".join(map(str, [*self.session.command, "srun", "--pty", "sh", "-c", f'"{words}"'.replace("$", "\\$")])),
                                  "/dev/null"], cwd=self.project, env=self.session.variables, user=self.world.uid, group=self.world.uid, extra_groups=[],
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        job = re.search(r"job (\d+)", process.stdout)
        other = (self.project / "submitted").read_text().strip() if (self.project / "submitted").exists() else ""
        self.check(job and process.stdout.count(f"seen {job.group(1)} sh") == 2 and other and f"seen {other} wrap" in process.stdout and "status 0" in process.stdout,
                   "Slurm in srun --pty", f"{process.stdout} {other}")
        self.released("srun --pty, at its end")
        self.session.ask("srun", "sh", "-c", "squeue; /usr/bin/squeue")
        status, out, errors = self.session.answer()
        self.check("squeue: sbx: no Slurm here: the policy has no `slurm` section, or this is a task of srun" in errors, "none in another task", errors)

    def placeholders(self):
        """What a job that is killed outright holds in the project goes with the next session there, or the next job."""
        place = self.world.work / f"held-{self.backend}"
        place.mkdir()
        source = place / "held.pol"
        source.write_text((pathlib.Path(__file__).parent / "life.pol").read_text().replace("import std/slurm", "import std/slurm\nimport std/host-exec best-effort"))
        session = Inside(self.world, place, self.backend, source)
        kept = lambda: {name for name in os.listdir(session.project) if name.startswith(".")}
        try:
            for what in ("session", "job"):
                words = ["sbatch", "--parsable", "--output=up", "--wrap=echo up; exec sleep 1000"]
                job = (session.run(*words)[1] if what == "session" else session.once(*words).stdout).strip()
                session.end()
                wait_for(lambda: (session.project / "up").exists() and (session.project / "up").read_text())
                self.check(kept(), "a job holds names in the project", job)
                for pid in self.processes("sbx-exec --job"):
                    os.kill(pid, signal.SIGKILL)
                wait_for(lambda: not self.queue() and not self.processes("sleep 1000"))
                left = kept()
                (session.project / "up").unlink()
                if what == "session":
                    session.once("true")
                else:
                    self.submit_again(session)
                self.check(left and not kept(), f"killed outright, it leaves {len(left)} to the next {what}, which removes them", f"{left} {kept()}")
        finally:
            self.native("scancel", "--me")
            wait_for(lambda: not self.queue())

    def processes(self, text):
        found = subprocess.run(["pgrep", "-u", str(self.world.uid), "-f", text], capture_output=True, text=True)
        return [int(pid) for pid in found.stdout.split()]

    def submit_again(self, session):
        """A job whose session has ended when it begins: no session removes anything."""
        job = session.once("sbatch", "--parsable", "--hold", "--output=/dev/null", "--wrap=true").stdout.strip()
        self.native("scontrol", "release", job)
        wait_for(lambda: not self.queue())


ORDER = ("left_behind", "signalled", "killed", "hindered", "hung_up", "waiting", "warned", "sat_at", "placeholders")


def run(world, report):
    if not world.cluster:
        report.skip("life", world.without)
        return
    for backend in backends(report, "the end of a session"):
        tries = Tries(world, report, backend)
        try:
            for name in ORDER:
                getattr(tries, name)()
        finally:
            tries.end()
