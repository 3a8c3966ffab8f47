"""What docs/slurm.md tells somebody to type, word for word, as an ordinary user with the programs installed."""
import os
import re
import shlex
import shutil
import subprocess

import suite
from try_chaperon import wait_for

GUIDE = suite.TOP / "docs/slurm.md"
# The first task listens where the other finds it.
TALK = """
import os, pathlib, socket, time
port = pathlib.Path("port")
if os.environ["SLURM_PROCID"] == "0":
    s = socket.socket()
    try:
        s.bind(("127.0.0.1", 0))
        s.listen()
    except OSError as error:
        print(error)
    s.settimeout(5)
    pathlib.Path("port.new").write_text(str(s.getsockname()[1]))
    os.rename("port.new", port)
    try:
        s.accept()[0].sendall(b"heard")
    except OSError as error:
        print(error)
else:
    while not port.exists():
        time.sleep(0.1)
    try:
        print(socket.create_connection(("127.0.0.1", int(port.read_text())), 5).recv(9).decode())
    except OSError as error:
        print(error)
"""


def write(world, path, text, mode=0o644):
    path.write_text(text)
    path.chmod(mode)
    os.chown(path, world.uid, world.uid)


def commands():
    """The block that the page begins with."""
    return "".join(line[4:] + "\n" for line in re.search(r"(?:^    .*\n)+", GUIDE.read_text(), re.M)[0].splitlines())


def policies():
    """{name: text} of those that the page shows whole."""
    blocks = re.findall(r"^( *)# ([-\w]+)\.pol\n((?:\1.*\n|\n(?=\1))+)", GUIDE.read_text(), re.M)
    return {name: "".join(line[len(blank):] + "\n" for line in text.splitlines()) for blank, name, text in blocks}


class Guide:
    def __init__(self, world, report):
        self.world, self.report, self.home = world, report, world.home
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", "/usr/local/share"], check=True)
        for name in ("stdlib", "policies"):
            shutil.copytree(suite.TOP / name, f"/usr/local/share/sbx/{name}")
        suite.open_to_all("/usr/local/share/sbx")
        shutil.copy(world.out / "sbxc", "/usr/local/bin")
        self.project = self.directory("project")
        self.made = ["login-node.pol", ".local/bin/login-node-sbx", ".local/share/sbx/login-node.sbx"]  # to be removed

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

    def inside(self, text, **more):
        """A command of a program in a session of the example."""
        done = self.type(f"cd ~/project; login-node-sbx bash -c '{text}'", "", **more)
        return done.returncode, done.stdout, done.stderr

    def quiet(self):
        """Nothing ends while something else is looked at."""
        wait_for(lambda: not self.world.cluster.run("squeue", "--noheader", "--states=PD,R,CG", "--format=%i %r", cwd=self.home)
                 .stdout.replace("JobHeldUser", "").strip(" \n0123456789"))

    def usual(self):
        """What people type, allowed by the example as it is shipped."""
        status, job, errors = self.inside("sbatch --parsable --hold -J \"nf-foo (1)\" -c 1 --wrap true")
        self.report.check(status == 0 and job.strip().isdigit(), "example: a job with a name of workflow managers", errors)
        job = job.strip()
        lines = [f"squeue {words}" for words in (
            "", "--me", "-u $USER", "-u $(id -u)", "--user=$USER -t PD,R", "-l", "-o \"%i %j\"", "-O JobID,Name:30,State", "--start", f"-j {job}",
            "-p debug -h", "-M all")]
        lines += ["sinfo", "sinfo -s", "sinfo -N -l", "sinfo -o \"%P %D\"", "sinfo -O NodeList", f"scontrol show job {job}", f"scontrol -o show job {job}",
                  f"scontrol -d show job {job}", "scontrol show hostnames n[1-2]", "scontrol show hostlist n1,n2"]
        for client in ("sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo", "sacct", "sstat", "sprio"):
            lines += [f"{client} --version", f"{client} -V", *([] if client == "sacct" else [f"{client} --help"])]  # its help wants a database
        lines += ["srun -J x -n1 -c1 -p debug -t 1 -N1 --mem=1G true"]
        script = "for line; do eval \"$line\" >/dev/null 2>err || { echo \"$line\"; cat err; }; done"
        done = self.type(f"cd ~/project; login-node-sbx bash -c '{script}' bash {' '.join(shlex.quote(line) for line in lines)}", "")
        self.report.check((done.returncode, done.stdout) == (0, ""), "example: what people type works", done.stdout + done.stderr)
        self.quiet()
        done = self.inside("scancel -u $USER -n \"nf-foo (1)\" --clusters=all")
        self.report.check(done == (0, "", ""), "example: scancel by name", done)
        for client in ("sbatch", "squeue", "scontrol"):
            real = self.world.cluster.run(client, "--version", cwd=self.home)
            self.report.check(self.inside(f"{client} --version")[:2] == (0, real.stdout), f"example: {client} --version is the real one's", real.stdout)

    def workflows(self):
        """As snakemake and nextflow submit, look and cancel."""
        script = ("#!/bin/bash\n#SBATCH -J nf-foo_(1)\n#SBATCH -o .command.log\n#SBATCH --no-requeue\n#SBATCH --signal B:USR2@30\n#SBATCH -c 1\n"
                  "#SBATCH -t 01:00:00\n#SBATCH --mem 1024M\n#SBATCH -p debug\ntrue\n")
        write(self.world, self.project / ".command.run", script)
        lines = ["sbatch .command.run", "squeue --noheader -o \"%i %t\" -t all -p debug -u $USER",
                 "sbatch --parsable --job-name 8e1b4f6e-2d59-4a3c --output .snakemake/%j.log --export=ALL --comment rule_all_x -p debug -t 10 "
                 "--mem 1000 --ntasks=1 --cpus-per-task=1 -D $PWD --wrap=\"true --wildcards 'a b'\""]
        script = "for line; do eval \"$line\" >/dev/null 2>err || { echo \"$line\"; cat err; }; done"
        done = self.type(f"cd ~/project; login-node-sbx bash -c '{script}' bash {' '.join(shlex.quote(line) for line in lines)}", "")
        self.report.check((done.returncode, done.stdout) == (0, ""), "example: workflow managers submit and look", done.stdout + done.stderr)

    def completing(self):
        """What is over but for the site's epilog is in the queue, and nobody can cancel it."""
        hold, epilog = (self.world.cluster.directory / name for name in ("hold", "epilog"))
        self.quiet()
        hold.touch()
        epilog.write_text(f"#!/bin/sh\nwhile [ -e {hold} ]; do sleep 0.1; done\n")
        epilog.chmod(0o755)
        with open(self.world.cluster.conf, "a") as conf:
            conf.write(f"Epilog={epilog}\n")
        subprocess.run(["scontrol", "reconfigure"], env={"SLURM_CONF": str(self.world.cluster.conf), "PATH": "/usr/bin"}, check=True)
        try:
            status, out, errors = self.inside("J=$(sbatch --parsable -t 1 --wrap true); until [ \"$(squeue -h -t all -o %t -j $J)\" = CG ]; do sleep 0.1; done; scancel -u $USER -n wrap")
        finally:
            hold.unlink()
        self.report.check(status == 0 and not errors, "example: scancel leaves out what is over", f"{status} {out}{errors}")

    def others(self):
        """And what is not."""
        for words, says in (("squeue -u root", "is not the user of the session: root"), ("squeue --user=$USER,root", "is not the user of the session: "),
                            ("scancel -u root", "is not the user of the session: root"), ("sacct --user=root", "is not the user of the session: root"),
                            ("sacct -a", "denied: --allusers"), ("squeue -i 1", "denied: --iterate"), ("squeue --json", "denied: --json"),
                            ("squeue -M other", "is not all, by which this cluster is meant: other"),
                            ("scontrol", "only --help and --version are without a command"), ("scontrol ping", "only --help and --version"),
                            ("scontrol show hostnames /etc/passwd", "it takes one list of names"), ("scontrol show hostnames", "it takes one list"),
                            ("scontrol show hostnames a[0-9999]b[0-9999]", "more than 65536 names"), ("scontrol show hostnames n[1-40000],m[1,3-40000]", "more than 65536 names"),
                            ("scontrol show hostlist -- -x", "it takes one list"), ("scancel --quiet", "which job?"), ("scancel -s USR1", "which job?"),
                            ("scancel -M all", "which job?"), ("sbatch -p other --wrap true", "value not allowed: --partition"),
                            ("srun -N 3 true", "value not allowed: --nodes"), ("srun -t 5:00:00 true", "value not allowed: --time")):
            status, out, errors = self.inside(words)
            self.report.check(status == 1 and not out and says in errors, f"example: {words} is refused", f"{status} {out}{errors}")

    def unsaid(self):
        """What a line does not say is within the limits all the same."""
        job = self.inside("sbatch --parsable --hold -n 8 --wrap true")[1].strip()
        text = self.world.cluster.run("scontrol", "show", "job", job, cwd=self.home).stdout
        for has in ("Partition=debug", "TimeLimit=00:30:00", "NumNodes=1-1", "MinMemoryNode=1G"):
            self.report.check(has in text, f"example: of sbatch, {has}", text)
        self.inside(f"scancel {job}")
        status, out, errors = self.inside("srun sh -c \"echo job \\$SLURM_JOB_ID; sleep 30\" & sleep 0; "
                                          "for i in $(seq 100); do squeue -h -t R -o \"%i %P %l %D %m\" | grep . && break; sleep 0.1; done; scancel --me; wait")
        self.report.check("debug 30:00 1 1G" in out, "example: of srun, too", out + errors)

    def steps(self):
        """A step has what its job has, and not what is added to a job that does not say it."""
        script = ("#!/bin/bash\n#SBATCH --time=60 --nodes=2 --ntasks=2 --output=out --job-name=steps\n"
                  "scontrol show hostnames\nscontrol show hostlist $(srun sh -c 'echo $SLURMD_NODENAME' | sort | paste -sd,)\n"
                  "srun -l echo task; echo $SLURM_JOB_NAME\n")
        (self.project / "steps.sh").write_text(script)
        status, _, errors = self.inside("sbatch --wait steps.sh")
        said = (self.project / "out").read_text().splitlines() if status == 0 else errors.splitlines()
        said = [line for line in said if not line.startswith("srun: ")]  # it may have to wait for the step before
        self.report.check(said[:3] == ["n1", "n2", "n[1-2]"] and sorted(said[3:5]) == ["0: task", "1: task"] and said[5:] == ["steps"],
                          "example: a job on two nodes asks for their names and starts steps", said)

    def install(self, name, text):
        write(self.world, self.home / f"{name}.pol", text)
        done = self.type(f"sbxc install ~/{name}.pol", "")
        self.report.check(done.returncode == 0 and not done.stderr, f"guide: {name} is installed", done.stdout + done.stderr)
        self.made += [f"{name}.pol", f".local/bin/{name}-sbx", f".local/share/sbx/{name}.sbx"]

    def agent(self, text):
        """With a program of that name in its place."""
        self.install("claude-slurm", text)
        self.made += [".local/bin/claude", ".config/sbx/anthropic.key"]
        for name in (".config", ".config/sbx"):
            self.directory(name)
        write(self.world, self.home / ".config/sbx/anthropic.key", "no key at all\n", 0o600)
        write(self.world, self.home / ".local/bin/claude", "#!/bin/sh\nsbatch --parsable --wait --output=%j.txt --wrap 'echo I submit' && cat *.txt\n", 0o755)
        done = self.type("cd ~/project; claude-slurm-sbx", "")
        self.report.check("I submit" in done.stdout, "guide: an agent submits", f"{done.returncode} {done.stdout}{done.stderr}")

    def together(self, policy, script, *files):
        """What two tasks of a step say, from the second on."""
        for name in files:
            (self.project / name).unlink(missing_ok=True)
        words = f"srun -n2 -l bash -c {shlex.quote(script)}"
        done = self.type(f"cd ~/project; {policy}-sbx bash -c {shlex.quote(words)}", "")
        return sorted(line[3:] for line in done.stdout.splitlines() if line.startswith("1: ")), done.stderr

    def tasks(self, ranks):
        """What tasks of one step have in common, by the example and by the page's other policies."""
        name = f"rank-{os.getpid()}"
        memory = (f"if [ $SLURM_PROCID = 0 ]; then echo shared >/dev/shm/{name}; : >written; while [ ! -e read ]; do sleep 0.1; done; rm /dev/shm/{name}; "
                  f"else while [ ! -e written ]; do sleep 0.1; done; cat /dev/shm/{name} 2>&1; : >read; fi")
        self.install("ranks", ranks)
        said, errors = self.together("login-node", memory, "written", "read")
        self.report.check("No such file" in "".join(said), "guide: memory is each task's own", f"{said}{errors}")
        said, errors = self.together("ranks", memory, "written", "read")
        self.report.check(said == ["shared"], "guide: or shared, where the policy says so", f"{said}{errors}")
        write(self.world, self.project / "talk.py", TALK)
        self.install("talk", (self.home / "login-node.pol").read_text().replace('policy "login-node"', 'policy "talk"')
                     .replace("mode none", 'mode host compat "the tasks of a step find each other"').replace(" 127.0.0.1:6817", ""))
        said, errors = self.together("login-node", "python3 talk.py", "port")
        self.report.check(len(said) == 1 and said[0] != "heard", "guide: no TCP between tasks", f"{said}{errors}")
        said, errors = self.together("talk", "python3 talk.py", "port")
        self.report.check(said == ["heard"], "guide: but with mode host", f"{said}{errors}")

    def budget(self):
        """From outside, too: another session of the project."""
        status, out, errors = self.inside("sbx-budget")
        self.report.check(status == 0 and re.fullmatch(r"(budget (project jobs-at-once 50|session jobs 500) \(.*login-node\.pol:\d+\): 0 used, \d+ left\n){2}", out),
                          "guide: what is left of the budgets", out + errors)

    def alone(self):
        """What a task has not got."""
        done = self.type("cd ~/project; login-node-sbx bash -c 'srun --mpi=pmi2 sh -c \"echo \\${PMI_FD-no PMI}; squeue\"'", "")
        self.report.check("no PMI" in done.stdout and "no Slurm here: " in done.stderr and "this is a task of srun" in done.stderr, "guide: a task has neither PMI nor Slurm", done.stdout + done.stderr)

    def environment(self):
        """The block about variables, in a policy."""
        block = next(block for block in re.findall(r"(?:^    .*\n)+", GUIDE.read_text(), re.M) if "OMP_NUM_THREADS" in block)
        self.install("variables", "language 1\npolicy \"variables\"\nextend examples/login-node\n" + block)
        done = self.type("cd ~/project; variables-sbx bash -c 'sbatch --wait -o out --wrap \"echo \\$OMP_NUM_THREADS \\$LD_LIBRARY_PATH\" && cat out'", "",
                         OMP_NUM_THREADS="4", LD_LIBRARY_PATH="/opt/x")
        self.report.check("4 /opt/x" in done.stdout, "guide: a job has the variables that are passed", done.stdout + done.stderr)

    def end(self):
        for name in self.made:
            (self.home / name).unlink(missing_ok=True)
        shutil.rmtree(self.project)


def run(world, report):
    if not world.cluster:
        report.skip("what the guide says", world.without)
        return
    guide = Guide(world, report)
    try:
        guide.begin()
        guide.usual()
        guide.workflows()
        guide.completing()
        guide.others()
        guide.unsaid()
        guide.steps()
        shown = policies()
        guide.agent(shown["claude-slurm"])
        guide.tasks(shown["ranks"])
        guide.alone()
        guide.budget()
        guide.environment()
    finally:
        guide.end()
