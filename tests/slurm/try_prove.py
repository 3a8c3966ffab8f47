"""sbxc prove of a policy with Slurm, on every backend: its clients answer, the real ones and munge are shut."""
import os
import pathlib
import shutil
import socket
import subprocess

import suite
from inside import backends
from try_inside import CLIENTS

POLICY = "policies/examples/login-node.pol"
ALLOWED = ("sbatch", "srun", "squeue", "scancel", "sinfo", "scontrol-show-job", "scontrol-hold", "scontrol-release")
MUNGE = "/run/munge/munge.socket.2"


def serve_munge(world):
    """A listener in its place, in this mount namespace; None: there can be none."""
    place = world.work / "over"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)
    for name in ("upper", "work"):
        (place / name).mkdir(mode=0o755)
    options = f"lowerdir=/run,upperdir={place}/upper,workdir={place}/work"
    if subprocess.run(["mount", "-t", "overlay", "none", "-o", options, "/run"], capture_output=True).returncode:
        return None
    shutil.rmtree("/run/munge", ignore_errors=True)
    os.mkdir("/run/munge", 0o755)
    munge = socket.socket(socket.AF_UNIX)
    munge.bind(MUNGE)
    os.chmod(MUNGE, 0o777)
    munge.listen(64)
    return munge


class Tries:
    def __init__(self, world, report, backend):
        self.world, self.report, self.backend = world, report, backend
        self.stage = world.work / f"prove-{backend}"
        suite.stage(self.stage, world.out / "sbx-exec")
        for name in ("sbx-probe", "sbx-chaperon"):
            shutil.copy(world.out / name, self.stage / "build")
        shutil.copytree(world.out / "slurm", self.stage / "build/slurm", symlinks=True)
        shutil.copytree(suite.TOP / "policies", self.stage / "policies")
        suite.open_to_all(self.stage)

    def check(self, good, what, detail=""):
        self.report.check(good, f"{self.backend}, prove: {what}", detail)

    def prove(self):
        """What became of each claim that was tried: {"exec /usr/bin/squeue": {"holds"}}."""
        done = subprocess.run([self.stage / "build/sbxc", "prove", "-v", "--backend", self.backend, self.stage / POLICY],
                              cwd=self.stage, env={"PATH": "/usr/bin:/bin", "HOME": str(self.world.home), "USER": self.world.user}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, user=self.world.uid, group=self.world.uid, extra_groups=[], timeout=300)
        verdicts = {}
        for line in done.stdout.splitlines():
            for verdict in ("holds", "leaks", "vacuous", "not measurable"):
                if line.startswith(f"  {verdict} "):
                    verdicts.setdefault(line[18:].split(":" if "unix:" not in line else ": ")[0], set()).add(verdict)
        return done, verdicts

    def holds(self, munge):
        records = self.world.home / ".local/state/sbx/slurm"
        before = set(records.glob("*"))
        done, verdicts = self.prove()
        self.check(done.returncode == 0 and " 0 leak, 0 vacuous," in done.stdout, "it holds", "\n".join(done.stdout.splitlines()[-3:]) + done.stderr)
        for command in ALLOWED:
            self.check(verdicts.get(f"ask {command}") == {"holds"}, f"sbx-chaperon answers to {command}", verdicts.get(f"ask {command}"))
        for path in (f"/usr/bin/{client}" for client in CLIENTS):
            for right in ("exec", "read"):
                if os.path.exists(path):
                    self.check(verdicts.get(f"{right} {path}") == {"holds"}, f"not {right} {path}", verdicts.get(f"{right} {path}"))
        if munge:
            self.check(verdicts.get(f"connect unix:{MUNGE}") == {"holds"}, "not connect to munge", verdicts.get(f"connect unix:{MUNGE}"))
        self.check(set(records.glob("*")) == before, "no record of jobs is left of it", set(records.glob("*")) - before)

    def can_fail(self):
        """A client that is not ours."""
        client = self.stage / "build/slurm/squeue"
        client.unlink()
        client.write_text("#!/bin/sh\necho squeue: unrecognized option >&2\nexit 1\n")
        client.chmod(0o755)
        done, verdicts = self.prove()
        self.check(done.returncode == 1 and verdicts.get("ask squeue") == {"leaks"} and verdicts.get("ask sinfo") == {"holds"},
                   "another client in the place of ours is found", f"{verdicts.get('ask squeue')} {verdicts.get('ask sinfo')}")


def run(world, report):
    munge = serve_munge(world)
    if not munge:
        report.skip("munge, as prove tries it", "this kernel lays no overlay over /run")
    tries = None
    try:
        for backend in backends(report, "prove of Slurm"):
            tries = Tries(world, report, backend)
            tries.holds(munge)
        if tries:
            tries.can_fail()  # on one: who answers does not depend on it
    finally:
        if munge:
            munge.close()
            subprocess.run(["umount", "--lazy", "/run"], check=True)
        subprocess.run(["umount", "--lazy", world.work / "over"], check=True)
