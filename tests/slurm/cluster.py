"""A real Slurm on this machine's loopback, for one run: see world/slurm-up.  Only where it is installed."""
import os
import pathlib
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NEEDED = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client"}


def missing():
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return sorted({package for program, package in NEEDED.items() if not shutil.which(program, path=path)})


class Cluster:
    def __init__(self, user, nodes=2, accounting=False, gpus=0, conf=""):
        """@conf: more lines for slurm.conf."""
        self.user = user
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="sbx-slurm-", dir="/srv" if os.path.isdir("/srv") else None))
        self.directory.chmod(0o755)
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as extra:
            extra.write(conf)
            extra.flush()
            made = self.up(nodes, accounting, gpus, extra.name)
        if made.returncode:
            raise SystemExit(f"slurm-up: {made.stderr}")
        self.conf = self.directory / "etc/slurm.conf"
        if accounting:
            subprocess.run(["sacctmgr", "-i", "add", "user", user, "Account=test"], env={"SLURM_CONF": str(self.conf), "PATH": "/usr/bin"},
                           capture_output=True, check=True)

    def up(self, nodes, accounting, gpus, extra):
        return subprocess.run([HERE / "world/slurm-up", "--quiet", "--no-sbxtest", "--nodes", str(nodes), "--dir", self.directory,
                               "--gpus", str(gpus), *(["--accounting"] if accounting else [])],
                              capture_output=True, text=True, env={**os.environ, "SLURM_TEST_EXTRA_CONF": extra})

    def end(self):
        subprocess.run([HERE / "world/slurm-down", "--quiet", "--dir", self.directory], capture_output=True)
        shutil.rmtree(self.directory, ignore_errors=True)

    def run(self, *command, cwd, environment=None, **more):
        """As the user, who reads the cluster's configuration and has no other variable."""
        variables = {"SLURM_CONF": str(self.conf), "HOME": str(cwd), "USER": self.user, "PATH": "/usr/bin:/bin", **(environment or {})}
        more.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(["setpriv", "--reuid", self.user, "--regid", self.user, "--init-groups", "--", *command],
                              cwd=cwd, env=variables, capture_output=True, text=True, timeout=60, **more)
