"""A session under sbx-exec, and a program in it that runs what it is told."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess

import suite

BACKENDS = ("bwrap", "firejail", "landlock")
# Each line of its input is a command; each line of its output what became of it.
DRIVER = """
import json, os, subprocess, sys
for line in sys.stdin:
    ask = json.loads(line)
    try:
        done = subprocess.run(ask["words"], input=ask["stdin"], env={**os.environ, **ask["environment"]}, capture_output=True, text=True,
                              timeout=60)
        answer = [done.returncode, done.stdout, done.stderr]
    except OSError as error:
        answer = [126, "", str(error)]
    print(json.dumps(answer), flush=True)
"""


def backends(report, what):
    """Those that can be tried here; the others are skipped, with the reason."""
    for backend in BACKENDS:
        if why := suite.obstacle(backend):
            report.skip(f"{backend}: {what}", why)
        else:
            yield backend


def stage(world):
    """The programs, where the user can read them and nobody else change them."""
    place = world.work / "sbx"
    if not place.exists():
        place.mkdir()
        for name in ("sbx-exec", "sbx-proxy", "sbx-chaperon"):
            shutil.copy(world.out / name, place)
        shutil.copytree(world.out / "slurm", place / "slurm", symlinks=True)
        suite.open_to_all(place)
    return place


class Inside:
    """One session of the project at @place/project, on @backend; it may be asked as tests/slurm/session.py's is."""

    count = 0

    def __init__(self, world, place, backend, policy, environment=None, options=()):
        Inside.count += 1
        self.world, self.place, self.backend = world, place, backend
        self.project = place / "project"
        for directory in (place, self.project):
            directory.mkdir(exist_ok=True)
            os.chown(directory, world.uid, world.uid)
        self.programs = stage(world)
        self.blob = place / f"inside-{Inside.count}.sbx"
        self.log, self.said = place / f"slurm-log-{Inside.count}", place / f"said-{Inside.count}"
        policy = pathlib.Path(__file__).resolve().parent / policy
        subprocess.run([world.out / "sbxc", "-I", policy.parent, "-o", self.blob, policy], check=True)
        self.variables = {"PATH": "/usr/bin:/bin", "HOME": str(world.home), "USER": world.user,
                          "SLURM_CONF": str(world.cluster.conf) if world.cluster else "/nowhere", **(environment or {})}
        self.command = [self.programs / "sbx-exec", "--backend", backend, "--slurm-log", self.log, *options, self.blob, "--"]
        self.process = subprocess.Popen([*self.command, "/usr/bin/python3", "-c", DRIVER], cwd=self.project, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=open(self.said, "w"), env=self.variables, user=world.uid,
                                        group=world.uid, extra_groups=[])

    def ask(self, *words, stdin="", environment=None):
        line = json.dumps({"words": [str(word) for word in words], "stdin": stdin, "environment": environment or {}})
        with contextlib.suppress(BrokenPipeError):  # it was never started: the answer says so
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else [self.process.wait(), "", self.said.read_text()]

    def run(self, *words, **more):
        """A command, as a program inside calls it: (status, output, errors)."""
        self.ask(*words, **more)
        return self.answer()

    def once(self, *words, options=(), **more):
        """Another session of the same project: it is over when the command is."""
        return subprocess.run([*self.command[:-2], *options, *self.command[-2:], *words], cwd=self.project, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, user=self.world.uid, group=self.world.uid, extra_groups=[],
                              env=self.variables, timeout=60, **more)

    def chaperon(self):
        """The process number of its sbx-chaperon."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return next((int(child) for child in children if suite.name_of(int(child)) == "sbx-chaperon\n"), 0)

    def lines(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def end(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        return self.process.wait(20)
