"""What docs/slurm.md tells somebody to type, word for word, as an ordinary user with the programs installed."""
import os
import re
import shutil
import subprocess

import suite

GUIDE = suite.TOP / "docs/slurm.md"


def commands():
    """The block that the page begins with."""
    return "".join(line[4:] + "\n" for line in re.search(r"(?:^    .*\n)+", GUIDE.read_text(), re.M)[0].splitlines())


class Guide:
    def __init__(self, world, report):
        self.world, self.report, self.home = world, report, world.home
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", "/usr/local/share"], check=True)
        for name in ("stdlib", "policies"):
            shutil.copytree(suite.TOP / name, f"/usr/local/share/sbx/{name}")
        suite.open_to_all("/usr/local/share/sbx")
        shutil.copy(world.out / "sbxc", "/usr/local/bin")
        self.project = self.directory("project")

    def directory(self, name):
        path = self.home / name
        subprocess.run(["install", "-d", "-o", str(self.world.uid), "-g", str(self.world.uid), path], check=True)
        return path

    def type(self, text, stdin, **environment):
        """In a shell that ends with the first command that fails."""
        return self.world.cluster.run("/bin/bash", "-e", "-c", text, cwd=self.home, input=stdin, stdin=None,
                                      environment={"HOME": str(self.home), "EDITOR": "true",
                                                   "PATH": f"{self.home}/.local/bin:/usr/local/bin:/usr/bin:/bin", **environment})

    def begin(self):
        done = self.type(commands(), "sbatch --parsable --wait --time=1 --wrap 'touch made'\necho it is $?\n")
        lines = done.stdout.splitlines()
        self.report.check(done.returncode == 0 and "it is 0" in lines, "guide: the first commands work as they stand",
                          f"{done.returncode}\n{done.stdout}{done.stderr}")
        self.report.check((self.project / "made").exists(), "guide: a job has run", os.listdir(self.project))
        self.report.check(any(line.startswith("Submitted batch job ") for line in lines) and "JOBID" in done.stdout,
                          "guide: a command behind bash -c as well", done.stdout)

    def end(self):
        for name in ("login-node.pol", ".local/bin/login-node-sbx", ".local/share/sbx/login-node.sbx"):
            (self.home / name).unlink(missing_ok=True)
        shutil.rmtree(self.project)


def run(world, report):
    if not world.cluster:
        report.skip("what the guide says", world.without)
        return
    guide = Guide(world, report)
    try:
        guide.begin()
    finally:
        guide.end()
