"""A policy with Slurm where parts of it are not installed: what a launch and --check say, and that the rest goes on."""
import os
import pathlib
import subprocess

from inside import Inside, backends
from try_inside import CLIENTS

ALLOWED = "inside.pol:13"


def hide(world):
    """Slurm is not in /usr/bin, in this mount namespace."""
    place = world.work / "over"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)
    for name in ("upper", "work"):
        (place / name).mkdir()
    options = f"lowerdir=/usr/bin,upperdir={place}/upper,workdir={place}/work"
    if subprocess.run(["mount", "-t", "overlay", "none", "-o", options, "/usr/bin"], capture_output=True).returncode:
        return False
    for client in CLIENTS:
        pathlib.Path("/usr/bin", client).unlink(missing_ok=True)
    return True


class Tries:
    def __init__(self, world, report, backend):
        self.report, self.backend = report, backend
        self.session = Inside(world, world.work / f"absent-{backend}", backend, "inside.pol")

    def check(self, good, what, detail=""):
        self.report.check(good, f"{self.backend}, not installed: {what}", detail)

    def without_slurm(self):
        """The session begins; each command says what is missing."""
        session = self.session
        status, out, errors = session.run("squeue")
        said = session.said.read_text()
        self.check("no Slurm: /usr/bin/sbatch is not installed, nor is another client that the policy allows: each is refused" in said, "said at the start", said)
        self.check(said.count("installed") == 1, "and once", said)
        self.check((status, out) == (1, "") and errors == "sbx: squeue refused: /usr/bin/squeue is not installed\n", "each command says so", errors)
        self.check(session.run("echo", "on")[1] == "on\n", "the session goes on")
        done = session.once("true", options=["--check"])
        lines = done.stdout.splitlines()
        self.check(done.returncode == 0, "--check: the policy can be enforced", done.stdout)
        self.check(f"note no Slurm: /usr/bin/sbatch: No such file or directory ({ALLOWED})" in lines, "--check: what is missing", done.stdout)
        for line in (f"yes  chaperon {session.programs}/sbx-chaperon", f"yes  Slurm's clients {session.programs}/slurm"):
            self.check(line in lines, f"--check: {line}", done.stdout)

    def without(self, path, needed):
        """Without @path of an installation nothing is started."""
        away = path.with_name(f"{path.name}.away")
        path.rename(away)
        try:
            done = self.session.once("true")
            says = f"slurm needs {needed}: No such file or directory ({ALLOWED}): install it"
            self.check(done.returncode == 125 and done.stderr == f"sbx-exec: {says}\n", f"without {path.name}: nothing is started", done.stderr)
            done = self.session.once("true", options=["--check"])
            self.check(done.returncode == 125 and f"no   {says}" in done.stdout.splitlines(), f"without {path.name}: --check says so", done.stdout)
            self.check("does not exist" not in done.stdout, "and once", done.stdout)
        finally:
            away.rename(path)


def some_clients(world, report, backend):
    """Slurm is there, but for one of its programs."""
    fake = pathlib.Path("/usr/bin/squeue")
    fake.write_text("#!/bin/sh\necho \"possibilities: '--help'\" >&2\nexit 1\n")
    fake.chmod(0o755)
    session = Inside(world, world.work / f"absent-{backend}", backend, "inside.pol")
    try:
        session.run("true")
        said = session.said.read_text()
        report.check("sbx-exec: /usr/bin/sbatch is not installed: sbatch is refused\n" in said, f"{backend}, not installed: the one that is missing is named", said)
        report.check("no Slurm" not in said and said.count("sbatch is refused") == 1 and "squeue is refused" not in said, f"{backend}, not installed: each once", said)
    finally:
        session.end()
        fake.unlink()


def try_all(world, report):
    last = None
    for last in backends(report, "Slurm that is not installed"):
        tries = Tries(world, report, last)
        programs = tries.session.programs
        try:
            tries.without_slurm()
            tries.without(programs / "sbx-chaperon", programs / "sbx-chaperon")
            tries.without(programs / "slurm", os.path.realpath(programs / "../lib/sbx/slurm/sbatch"))
        finally:
            tries.session.end()
    if last:
        some_clients(world, report, last)


def run(world, report):
    if not hide(world):
        report.skip("Slurm that is not installed", "this kernel lays no overlay over /usr/bin")
        return
    try:
        try_all(world, report)
    finally:
        for place in ("/usr/bin", world.work / "over"):
            subprocess.run(["umount", "--lazy", place], check=True)
