"""sbx-chaperon over its wire, against a real Slurm, as an ordinary user and without sbx-exec."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

from session import ARGUMENT, CWD, ENV, ERROR, EXIT, HELLO, INPUT, RUN, Session, frame, hear, request


def write(path, text, mode=0o755):
    path.write_text(text)
    path.chmod(mode)
    os.chown(path, path.parent.stat().st_uid, path.parent.stat().st_gid)
    return path


def wait_for(question, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := question():
            return answer
        time.sleep(0.1)
    return None


class Tries:
    def __init__(self, world, report):
        self.world, self.report = world, report
        self.session = Session(world, world.work / "one")
        self.project = self.session.project

    def check(self, good, what, detail=""):
        self.report.check(good, f"chaperon: {what}", detail)

    def native(self, *words):
        return self.world.cluster.run(*words, cwd=self.world.work)

    def submit(self, *words, session=None, **more):
        status, out, errors = (session or self.session).run("sbatch", "--parsable", *words, **more)
        return out.strip() if status == 0 else f"none: {errors}"

    def sealed(self):
        try:
            Session(self.world, self.world.work / "unsealed", sealed=False).end()
            said = "it has begun"
        except SystemExit as stopped:
            said = str(stopped)
        self.check(said == "sbx-chaperon: the blob cannot be read", "a policy that somebody could change meanwhile is not read", said)

    # --- jobs

    def batch(self):
        write(self.project / "job.sh", "#!/bin/bash\n#SBATCH --job-name=first --comment='sbx-0123 mine'\n"
              'echo "$# <$1> <$2> $A in $PWD"\nexit 3\n')
        status, out, errors = self.session.run("sbatch", "--output=out-%j.txt", "job.sh", "a b", "*", environment={"A": "x", "B": "y"})
        self.check(status == 0 and out.startswith("Submitted batch job "), "a job is submitted", out + errors)
        job = out.split()[-1] if out else "0"
        text = self.session.run("scontrol", "show", "job", job)[1]
        self.check("Comment=sbx-0123 mine" in text and "JobName=first" in text, "its own comment is shown", text)
        real = self.native("scontrol", "show", "job", job).stdout
        tag = next((word.split("=", 1)[1] for word in real.split() if word.startswith("Comment=sbx-")), "")
        self.check(len(tag) == 36 and f"WorkDir={self.project}" in real, "the real comment is a tag", real)
        file = self.project / f"out-{job}.txt"
        wait_for(lambda: file.exists() and file.read_text())
        self.check(file.exists() and file.read_text() == f"2 <a b> <*> x in {self.project}\n", "arguments, variables and output",
                   file.read_text() if file.exists() else (self.session.place / "jobs" / tag).glob("*"))
        done = wait_for(lambda: "ExitCode=3:0" in self.session.run("scontrol", "show", "job", job)[1])
        self.check(done, "its exit status is Slurm's")
        script = self.native("scontrol", "write", "batch_script", job, "-").stdout
        self.check("exec \"$sbx\" --job " in script and "echo" in script and "$#" not in script, "the submitted script is ours", script)
        status, out, _ = self.session.run("squeue", "--states=all", "--format=%i %j %k")
        self.check(f"{job} first sbx-0123 mine" in out, "it is listed", out)

    def forms(self):
        job = self.submit("--wrap=echo wrapped \"$0\" $((1+1)); pwd", "--output=wrapped")
        file = self.project / "wrapped"
        wait_for(lambda: file.exists() and file.read_text().count("\n") == 2)
        self.check(file.exists() and file.read_text().startswith("wrapped ") and " 2\n" in file.read_text(), "--wrap", job)
        self.submit("--output=stdin", stdin="#!/bin/sh\n#SBATCH --ntasks=1\necho from stdin\n")
        file = self.project / "stdin"
        self.check(wait_for(lambda: file.exists() and file.read_text() == "from stdin\n"), "a script on standard input")
        (self.project / "sub").mkdir()
        os.chown(self.project / "sub", self.world.uid, self.world.uid)
        write(self.project / "sub/s.sh", "#!/usr/bin/python3\nimport os, sys\nprint(os.getcwd(), sys.argv[1:])\n")
        self.submit("--chdir=sub", "--output=where", "s.sh", "", "x\ny")
        file = self.project / "sub/where"
        self.check(wait_for(lambda: file.exists() and file.read_text() == f"{self.project}/sub ['', 'x\\ny']\n"),
                   "another interpreter, empty and odd arguments, --chdir", file.read_text() if file.exists() else "")
        status, out, errors = self.session.run("sbatch", "--wait", "--wrap=exit 7")
        self.check(status == 7 and "Submitted" in out, "--wait has the job's status", f"{status} {out} {errors}")
        status, out, errors = self.session.run("sbatch", "--quiet", "--hold", "--wrap=true")
        self.check((status, out) == (0, ""), "--quiet", out + errors)
        self.check(self.session.run("scancel", "--me")[0] == 0, "all of the project's are cancelled")
        status, out, errors = self.session.run("sbatch", "missing.sh")
        self.check(status == 1 and "Unable to open file missing.sh" in errors, "a script that is not there", errors)

    def step(self):
        status, out, errors = self.session.run("srun", "cat", stdin="through\n" * 3000)
        self.check((status, out) == (0, "through\n" * 3000), "srun: standard input and output", f"{status} {len(out)} {errors}")
        status, out, errors = self.session.run("srun", "-n2", "-l", "sh", "-c", "echo $SLURM_PROCID; echo to stderr >&2; exit 4")
        self.check(status == 4 and sorted(out.splitlines()) == ["0: 0", "1: 1"] and "to stderr" in errors, "srun -n2", out + errors)
        record = next((self.session.place / "state").glob("*.jsonl")).read_text()
        self.check(record.count('"ended":true') == 2 and "sbx-" in record, "the record has both as ended", record)
        process = self.session.popen("srun", "sh", "-c", "echo up; sleep 60", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE)
        process.stdout.readline()
        process.kill()
        process.communicate()
        gone = wait_for(lambda: not self.native("squeue", "--noheader", "--me", "--states=R").stdout.strip())
        self.check(gone, "a step whose client is killed ends", self.native("squeue", "--me").stdout)
        out = subprocess.run(["script", "-qefc", f"{self.session.clients}/srun --pty sh -c 'test -t 0 && test -t 1 && stty size && echo is one'",
                              "/dev/null"], user=self.world.uid, group=self.world.uid, extra_groups=[], cwd=self.project, text=True,
                             env={"SBX_SLURM_SOCKET": str(self.session.path), "PATH": "/usr/bin:/bin"}, capture_output=True,
                             stdin=subprocess.DEVNULL, timeout=60).stdout
        self.check("is one" in out, "srun --pty has a terminal", out)

    # --- what is refused

    def refusals(self):
        cases = [
            (["sbatch", "--partition=other", "--wrap=id"], "sbx: sbatch --partition=other refused: value not allowed: --partition, by allow "
             "sbatch --partition in debug (session.pol:13)"),
            (["sbatch", "--qos=high", "--wrap=id"], "sbx: sbatch --qos=high refused: denied: --qos, by deny sbatch --qos (session.pol:23): "
             "one queue is enough"),
            (["sbatch", "--time=0", "--wrap=id"], "value not allowed: --time, by allow sbatch --time max 1h"),
            (["sbatch", "--array=1-5", "--wrap=id"], "value not allowed: --array"),
            (["sbatch", "--uid=0", "--wrap=id"], "denied: --uid, by seal sbatch --uid"),
            (["sbatch", "-J", ":", "-o", "--wrap=touch pwned"], "a second component: :"),
            (["sbatch", "--mem=1G", "--wrap=id"], "nothing allows: --mem"),
            (["salloc", "-n1"], "denied: salloc, by seal salloc"),
            (["scontrol"], "sbx: scontrol refused: of scontrol there are: hold, release"),
            (["scontrol", "upd", "job=1"], "of scontrol there are: "),
            (["scontrol", "update", "JobId=1", "Comment=x"], "not a key of this command: Comment=x"),
            (["scontrol", "write", "batch_script", "1", "/tmp/x"], "of scontrol there are: "),
            (["squeue", "--iterate=1"], "denied: --iterate, by seal squeue --iterate"),
            (["sinfo", "extra"], "it takes no extra"),
            (["scancel"], "which job?"),
            (["srun"], "which program?"),
        ]
        for words, text in cases:
            status, out, errors = self.session.run(*words)
            self.check(status == 1 and not out and text in errors, f"refused: {' '.join(words)}", f"{status} {out}{errors}")
        line = self.session.lines()[-len(cases)]
        self.check(line["verdict"] == "refused" and line["arguments"][:2] == ["sbatch", "--partition=other"] and
                   line["rule"] == "session.pol:13" and line["session"] == "s1" and line["status"] == 1, "the log says so", line)
        status, _, errors = self.session.run("sbatch", "--wrap=id", environment={"SBATCH_PARTITION": "other"})
        self.check(status == 1 and "(variable SBATCH_PARTITION)" in errors, "a variable is checked", errors)
        status, _, errors = self.session.run("sbatch", "--wrap=id", cwd="/tmp")
        self.check(status == 1 and "a job starts in the workspace, not in /tmp" in errors, "outside the workspace", errors)

    def environment(self):
        """What is set inside reaches no real client."""
        evil = {"SLURM_CONF": "/nowhere/slurm.conf", "SLURM_CONF_SERVER": "127.0.0.1:1", "LD_PRELOAD": "/nowhere.so", "SLURM_JWT": "x",
                "SBATCH_GET_USER_ENV": "1", "SLURM_UMASK": "0000", "SQUEUE_USERS": "root"}
        status, out, errors = self.session.run("squeue", "--noheader", environment=evil)
        self.check(status in (0, 1) and ("SQUEUE_USERS" in errors or status == 0), "variables of the client: squeue", errors)
        evil.pop("SQUEUE_USERS")
        status, out, errors = self.session.run("sbatch", "--test-only", "--wrap=id", environment=evil)
        self.check(status == 0, "variables of the client: sbatch", errors)

    # --- whose jobs

    def scope(self):
        other = self.native("sbatch", "--parsable", "--hold", "-o", "/dev/null", "--wrap=true").stdout.strip()
        mine = self.submit("--hold", "--wrap=true")
        out = self.session.run("squeue", "--noheader", "--format=%i")[1].split()
        self.check(mine in out and other not in out, "only the project's jobs are listed", out)
        for words in (["scontrol", "show", "job", other], ["scancel", other], ["scontrol", "hold", other], ["squeue", f"--jobs={other}"],
                      ["scontrol", "update", f"JobId={other}", "TimeLimit=5"], ["scancel", f"0{other}"]):
            status, _, errors = self.session.run(*words)
            self.check(status == 1 and f"job {other} is not of this project" in errors, f"not ours: {' '.join(words)}", errors)
        status, _, errors = self.session.run("scontrol", "update", f"JobId={mine}", "TimeLimit=5")
        self.check(status == 0 and "TimeLimit=00:05:00" in self.native("scontrol", "show", "job", mine).stdout, "update", errors)
        status, _, errors = self.session.run("scontrol", "update", f"jobid={mine}", "timelimit=6")
        self.check(status == 0 and "TimeLimit=00:06:00" in self.native("scontrol", "show", "job", mine).stdout, "update, in lower case", errors)
        status, _, errors = self.session.run("scancel", "--state=PENDING")
        left = self.native("squeue", "--noheader", "--me", "--format=%i").stdout.split()
        self.check(status == 0 and other in left and mine not in left, "scancel without an id takes the project's alone", left)
        second = Session(self.world, self.world.work / "one")
        third = Session(self.world, self.world.work / "two")
        mine = self.submit("--hold", "--wrap=true")
        self.check(mine in second.run("squeue", "--noheader", "--format=%i")[1].split(), "another session of the project sees it")
        self.check(mine not in third.run("squeue", "--noheader", "--format=%i")[1].split(), "another project does not")
        status, _, errors = third.run("scancel", mine)
        self.check(status == 1 and "is not of this project" in errors, "nor can it cancel it", errors)
        for session in (third, self.session):
            faults = session.end()
            self.check(not faults, "no fault of memory", faults)
        self.session = second
        self.check(second.run("scancel", mine)[0] == 0, "after its session has ended the project still can")
        self.native("scancel", other)

    def many_tasks(self):
        job = self.submit("--hold", "--array=1-3", "--comment=an array", "--wrap=true")
        out = self.session.run("squeue", "--noheader", "--format=%i %k")[1]
        self.check(out == f"{job}_[1-3] an array\n", "an array is listed, with its comment", out)
        self.check(self.session.run("scancel", f"{job}_2")[0] == 0, "one of its tasks is cancelled")
        out = self.session.run("squeue", "--noheader", "--format=%i")[1]
        self.check(out == f"{job}_[1,3]\n", "and no other", out)
        self.check(self.session.run("scontrol", "release", job)[0] == 0, "the rest is released")
        done = wait_for(lambda: not self.session.run("squeue", "--noheader", f"--jobs={job}")[1].strip())
        self.check(done, "and ends")
        job = self.submit("--wrap=sleep 60")
        wait_for(lambda: "R" in self.session.run("squeue", "--noheader", "--format=%t", f"--jobs={job}")[1])
        status, _, errors = self.session.run("scontrol", "requeue", job)
        wait_for(lambda: "PD" in self.session.run("squeue", "--noheader", "--format=%t")[1])
        text = self.session.run("scontrol", "show", "job", job)[1]
        self.check(status == 0 and "Restarts=1" in text, "a job that was requeued is still the project's", errors + text)
        self.check(self.session.run("scancel", job)[0] == 0, "and cancelled")

    def budget(self):
        jobs = [self.submit("--hold", "--wrap=true") for _ in range(4)]
        status, _, errors = self.session.run("sbatch", "--hold", "--array=1-3", "--wrap=true")
        self.check(status == 1 and "budget session jobs-at-once 6" in errors and "3 asked for, 2 left" in errors, "over the budget", errors)
        said = self.session.run("sbx-budget")
        self.check(said[0] == 0 and re.fullmatch(r"budget session jobs-at-once 6 \(session\.pol:\d+\): 4 used, 2 left\n", said[1]), "what is left is told", said)
        said = self.session.run("sbx-budget", "-x")
        self.check(said == (1, "", "sbx: sbx-budget takes no -x\n"), "and nothing else", said)
        jobs.append(self.submit("--hold", "--array=1-2", "--wrap=true"))
        self.check(jobs[-1].isdigit(), "within the budget", jobs)
        self.check(self.session.run("scancel", "--me")[0] == 0, "and cancelled")

    def hours(self):
        session = Session(self.world, self.world.work / "hours", policy="hours.pol")
        job = self.submit("-n2", "--time=30", "--wrap=sleep 60", session=session)
        text = self.native("scontrol", "show", "job", job).stdout
        self.check(job.isdigit() and "JobHeldUser" not in text, "a job within the cpu-hours is let go", job + text)
        status, _, errors = session.run("sbatch", "-n4", "--time=30", "--wrap=true")
        self.check(status == 1 and "budget project cpu-hours 2 (hours.pol:13): 2 asked for, 1 left" in errors, "one over them is refused", errors)
        left = self.native("squeue", "--noheader", "--me", "--format=%i").stdout.split()
        self.check(left == [job], "and not there any more", left)
        held = self.submit("--hold", "--time=15", "--wrap=true", session=session)
        self.check("JobHeldUser" in self.native("scontrol", "show", "job", held).stdout, "who wants it held has it held", held)
        self.check(session.run("scontrol", "release", held)[0] == 0, "and may let it go")
        for words, text in ((["srun", "true"], "submit the job with sbatch"), (["sbatch", "--wait", "--wrap=true"], "there is no --wait"),
                            (["sbatch", "--time=0", "--wrap=true"], "give --time"),
                            (["scontrol", "update", f"JobId={job}", "TimeLimit=600"], "counted once"),
                            (["scontrol", "requeue", job], "counted once")):
            status, _, errors = session.run(*words)
            self.check(status == 1 and text in errors, f"hours: {' '.join(words)}", errors)
        status, _, errors = session.run("scancel", job)
        status, _, errors = session.run("sbatch", "-n2", "--time=30", "--wrap=true")
        self.check("0.7 left" in errors, "what was asked for stays counted", errors)
        said = re.sub(r":\d+\)", ")", session.run("sbx-budget")[1]).splitlines()
        self.check(said == ["budget project cpu-hours 2 (hours.pol): 1.3 used, 0.7 left", "budget session jobs 5 for 1d (hours.pol): 2 used, 3 left"],
                   "what is left of hours", said)
        out = session.run("squeue")[1]
        self.check(out.split()[:3] == ["JOBID", "NAME", "STATE"] and "USER" not in out, "the columns that the policy shows", out)
        self.check(session.run("squeue", "--Format=State:30,JobID")[1].split()[:2] == ["STATE", "JOBID"], "or some of them")
        for words, text in ((["--Format=jobid,comment"], "does not show column comment"), (["--format=%k"], "only --Format is taken"),
                            (["--Format=workdir:9"], "does not show column workdir:9"), (["--start"], "--start shows others")):
            status, _, errors = session.run("squeue", *words)
            self.check(status == 1 and text in errors, f"columns: {words[0]}", errors)
        another = Session(self.world, self.world.work / "hours", policy="hours.pol")
        status, _, errors = another.run("sbatch", "-n2", "--time=30", "--wrap=true")
        self.check("0.7 left" in errors, "for the next session, too", errors)
        self.submit("--time=1", "--wrap=true", session=another)
        another.end()
        status, _, errors = [session.run("sbatch", "--time=1", "--wrap=true") for _ in range(4)][-1]
        self.check(status == 1 and "budget session jobs 5 (hours.pol:14): 1 asked for, 0 left" in errors, "jobs in all", errors)
        session.end()

    # --- hostile and broken

    def hostile(self):
        whole = request(["sinfo"], self.project)
        cases = {
            "half a frame": whole[:20], "half a request": whole[:-12], "nothing at all": b"",
            "another protocol": b"GET / HTTP/1.1\r\n\r\n",
            "another version": frame(HELLO, b"\0" * 8, version=99), "an unknown kind": frame(40, b""),
            "a frame of 100 MB": frame(HELLO, b"", size=100 << 20),
            "a NUL in an argument": frame(HELLO, b"\0" * 8) + frame(ARGUMENT, b"a\0b"),
            "no greeting": frame(RUN), "no command": frame(HELLO, b"\0" * 8) + frame(CWD, b"/") + frame(RUN),
            "a variable without a value": frame(HELLO, b"\0" * 8) + frame(ENV, b"x"),
            "input before its time": frame(HELLO, b"\0" * 8) + frame(INPUT, b"x"),
            "a relative directory": frame(HELLO, b"\0" * 8) + frame(ARGUMENT, b"sinfo") + frame(CWD, b"x"),
            "3 MiB of arguments": frame(HELLO, b"\0" * 8) + frame(ARGUMENT, b"x" * (1 << 20)) * 3,
            "10000 arguments": frame(HELLO, b"\0" * 8) + frame(ARGUMENT, b"x") * 10000,
        }
        open_ones = []
        for title, data in cases.items():
            raw = self.session.connect()
            try:
                raw.sendall(data)
            except OSError:
                pass
            open_ones.append((title, raw))
        status, out, errors = self.session.run("sinfo")
        self.check(status == 0 and "PARTITION" in out, "others are served meanwhile", errors)
        for title, raw in open_ones:
            heard, seconds = hear(raw)
            self.check(heard.get(ERROR, b"").startswith(b"sbx: ") and EXIT in heard and seconds < 7, f"{title}: an error in time",
                       f"{heard} {seconds:.1f}")
        raw = self.session.connect()
        raw.sendall(request(["sbatch"], self.project))
        try:
            for _ in range(20):
                raw.sendall(frame(5, b"#" * (1 << 20)))
        except OSError:
            pass
        heard, _ = hear(raw)
        self.check(b"too long" in heard.get(ERROR, b""), "a script of 20 MiB", heard.get(ERROR))
        many = [self.session.connect() for _ in range(70)]
        answers = [hear(raw)[0].get(ERROR, b"") for raw in many[64:]]
        self.check(all(b"64 commands run" in answer for answer in answers), "the 65th client is told", answers)
        for raw in many:
            raw.close()
        processes = [self.session.popen("sinfo", stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(50)]
        good = [process.communicate(timeout=60)[0] != "" and process.returncode == 0 for process in processes]
        self.check(all(good), "50 clients at once", f"{good.count(True)} of 50")
        for name in ("\x1b[31m", "a\nb", "\u202e"):
            errors = self.session.run("sbatch", f"--{name}", "--wrap=id")[2]
            self.check("\x1b" not in errors and errors.count("\n") == 1, "odd bytes are escaped", repr(errors))

    def strangers(self):
        raw = socket.socket(socket.AF_UNIX)
        raw.connect(str(self.session.path))  # as root
        self.check(hear(raw)[0] == {}, "another user is not served")

    def real_client(self):
        """What a real client is given, seen by one of ours in the place of sdiag, which lacks an option of the table."""
        fake = pathlib.Path("/usr/local/bin/sdiag")
        fake.write_text("#!/usr/bin/python3 -B\nimport os, sys\n"
                        "if '--=x' in sys.argv:\n    sys.exit(\"sdiag: option '--=x' is ambiguous; possibilities: '--help' '--sort-by-time'\")\n"
                        "print(*sorted(os.environ), *sorted(os.listdir('/proc/self/fd')), os.getcwd(), *sys.argv[1:])\n")
        fake.chmod(0o755)
        subprocess.run(["mount", "--bind", fake, "/usr/bin/sdiag"], check=True)
        try:
            session = Session(self.world, self.world.work / "fake")
            self.check("Slurm's sdiag of this machine has no --sort-by-id: it is refused" in session.notes, "a surprise is told", session.notes)
            self.check(not any("--reset" in note for note in session.notes), "but not what the policy has no use for", session.notes)
            status, out, errors = session.run("sdiag", "--sort-by-time", environment={"EVIL": "1"})
            self.check(out == "HOME LANG LOGNAME PATH SLURM_CONF USER 0 1 2 3 / --sort-by-time\n",
                       "three descriptors (and the one that reads them), six variables", out + errors)
            status, _, errors = session.run("sdiag", "--sort-by-id")
            self.check(status == 1 and "the real one here has no --sort-by-id" in errors, "and refused", errors)
            fake.write_text("#!/usr/bin/python3 -B\nimport os, sys\nif '--=x' in sys.argv:\n    sys.exit(\"possibilities: '--help'\")\n"
                            f"for path in ({str(self.project)!r}, '/tmp', {str(session.place / 'jobs')!r}):\n    try:\n"
                            "        open(path + '/written', 'w').close()\n        print('wrote', path)\n"
                            "    except PermissionError:\n        print('not', path)\n")
            out = session.run("sdiag")[1]
            if "wrote /tmp" in out:
                self.report.skip("files that a real client may change", "this kernel has no Landlock")
            else:
                self.check(out == f"not {self.project}\nnot /tmp\nwrote {session.place}/jobs\n", "it changes no file of the user's", out)
            fake.chmod(0o777)
            status, _, errors = session.run("sdiag")
            self.check(status == 1 and "/usr/bin/sdiag can be changed by others than root" in errors, "a client that anybody can change", errors)
            session.end()
        finally:
            subprocess.run(["umount", "/usr/bin/sdiag"], check=True)

    def asked_by_name(self):
        """Whose jobs: --me, like a number, has Slurm search all of nsswitch.conf for a user of that name."""
        fake = pathlib.Path("/usr/local/bin/squeue")
        fake.write_text("#!/usr/bin/python3 -B\nimport sys\nif '--=x' in sys.argv:\n    sys.exit(\"possibilities: '--help'\")\n"
                        "print(*sys.argv[1:], file=sys.stderr)\n")
        fake.chmod(0o755)
        subprocess.run(["mount", "--bind", fake, "/usr/bin/squeue"], check=True)
        try:
            session = Session(self.world, self.world.work / "named")
            for words in (["squeue"], ["scancel", "1"]):
                errors = session.run(*words)[2]
                self.check(f"--user={self.world.user} " in errors and "--me" not in errors, f"{words[0]}: squeue is asked by the user's name", errors)
            session.end()
            self.check(not list((session.place / "state").iterdir()), "a project that submits nothing leaves no record")
        finally:
            subprocess.run(["umount", "/usr/bin/squeue"], check=True)

    def slurm_down(self):
        pid = int((self.world.cluster.directory / "run/slurmctld.started").read_text().split()[0])
        os.kill(pid, signal.SIGSTOP)
        try:
            start = time.monotonic()
            status, _, errors = self.session.run("squeue")
            self.check(status == 1 and errors and time.monotonic() - start < 13, "slurmctld hangs: an error in time",
                       f"{time.monotonic() - start:.1f} s: {errors}")
        finally:
            os.kill(pid, signal.SIGCONT)
        wait_for(lambda: self.session.run("sinfo")[0] == 0)

    def speed(self):
        session = Session(self.world, self.world.work / "speed", shipped=True)
        start = time.monotonic()
        for _ in range(100):
            raw = session.connect()
            raw.sendall(request(["sbatch", "--uid=0"], session.project))
            hear(raw)
        each = (time.monotonic() - start) * 10
        self.check(each < 5, "a refusal takes little", f"{each:.2f} ms")
        print(f"  a refusal: {each:.2f} ms; of its own {session.resident()} kB are resident")
        many = [session.connect() for _ in range(70)]
        for raw in many:
            raw.close()
        session.run("sinfo")
        self.check(session.resident() < 4096, "it is small", session.resident())
        session.end()

    def killed(self):
        process = self.session.popen("srun", "sleep", "60", stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wait_for(lambda: self.native("squeue", "--noheader", "--me", "--states=R").stdout.strip())
        self.session.process.kill()
        start = time.monotonic()
        errors = process.communicate(timeout=30)[1]
        self.check(process.returncode == 1 and "has ended" in errors and time.monotonic() - start < 5, "a client of one that was killed", errors)
        gone = wait_for(lambda: not self.native("squeue", "--noheader", "--me", "--states=R").stdout.strip())
        self.check(gone, "what it ran has ended, too")
        self.session.process.wait()
        status, _, errors = self.session.run("sinfo")
        self.check(status == 1 and "does not answer" in errors, "and the next one hears it", errors)


ORDER = ("sealed", "batch", "forms", "step", "refusals", "environment", "many_tasks", "budget", "hours", "hostile", "strangers", "speed", "real_client", "asked_by_name", "slurm_down", "scope", "killed")


def run(world, report):
    if not world.cluster:
        report.skip("sbx-chaperon with the real clients", world.without)
        return
    tries = Tries(world, report)
    try:
        for name in ORDER:
            getattr(tries, name)()
    finally:
        if tries.session.process.poll() is None:
            tries.session.end()
