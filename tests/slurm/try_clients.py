"""The life of a client, with real clients of our own that wait until they are let go: no cluster is needed."""
import json
import os
import pathlib
import signal
import struct
import subprocess
import threading
import time

from session import ERROR, EXIT, INPUT, NO_SCRIPT, OUTPUT, RESIZE, RUN, SCRIPT, SIGNAL, Session, frame, hear, request
from try_absent import hide
from try_chaperon import wait_for

CLIENTS = ("sbatch", "srun", "squeue", "scancel", "scontrol", "sacct", "sinfo")
OPTIONS = ("me", "hold", "wrap", "parsable", "noheader", "jobs", "format", "ntasks", "oneliner", "ignore-pbs", "time")

# Those that are named in `waits`, by their name or by it and one of their words, say that they have begun and wait for `go`.
FAKE = """#!/usr/bin/python3 -B
import os, pathlib, sys, time
if '--=x' in sys.argv:
    sys.exit("possibilities: {options}")
place, name = pathlib.Path({place!r}), os.path.basename(sys.argv[0])
(place / f"line-{{name}}-{{os.getpid()}}").write_text(chr(10).join(sys.argv[1:]))
waits = (place / "waits").read_text().split()
if any(f"{{name}}:{{word}}" in waits for word in ("", *sys.argv)):
    (place / f"began-{{os.getpid()}}").touch()
    while not (place / "go").exists():
        time.sleep(0.01)
queue = place / "queue"
if name == "sbatch" and "late" in waits:
    tag = next(word[10:] for word in sys.argv if word.startswith("--comment="))
    queue.write_text(f"77 {{tag}}")
for word in waits:
    if word.startswith(f"{{name}}!"):
        os.kill(os.getpid(), 9) if word.endswith("!9") else sys.exit(int(word.split("!")[1]))
if name == "sbatch":
    print(77)
elif name == "squeue":
    row = next((word[9:] for word in sys.argv if word.startswith("--format=")), "")
    for job, tag in (line.split() for line in (queue.read_text().splitlines() if queue.exists() else ())):
        print(row.replace("%t", "PD").replace("%A", job).replace("%F", job).replace("%k", tag))
elif name == "srun":
    print(len(sys.stdin.buffer.read()))
elif "show" in sys.argv:
    print("JobId=77 TimeLimit=00:10:00 Partition=debug NumNodes=1 NumCPUs=1 NumTasks=1 CPUs/Task=1 NtasksPerN:B:S:C=0:0:*:* MinCPUsNode=1 "
          "OverSubscribe=OK TRES=cpu=1 ")
elif name == "sinfo":
    print("debug|NO|1")
"""

# What has no place once a request is whole.  None: it closes.
BAD = {
    "a frame of an unknown kind": frame(40), "another protocol": b"GET / HTTP/1.1\r\n\r\n",
    "one RUN more": frame(RUN), "a script that nobody asked for": frame(SCRIPT, b"x" * 60000),
    "input that nobody asked for": frame(INPUT, b"x"), "half a signal": frame(SIGNAL, b"x"), "a size of nothing": frame(RESIZE),
    "no script where none is wanted": frame(NO_SCRIPT, b"x"), "the end": None,
}


class Fakes:
    """A session whose real clients wait."""

    def __init__(self, world, name, policy):
        place = world.work / name
        self.jobs = place / "jobs"
        for directory in (place, self.jobs):
            directory.mkdir()
            os.chown(directory, world.uid, world.uid)
        self.waits()
        options = " ".join(f"'--{option}'" for option in OPTIONS)
        for client in CLIENTS:
            fake = pathlib.Path("/usr/bin", client)
            fake.write_text(FAKE.format(place=str(self.jobs), options=options))
            fake.chmod(0o755)
        self.session = Session(world, place, policy=policy)
        self.project = self.session.project

    def waits(self, *clients):
        """From now on these; all others answer at once."""
        for left in (*self.jobs.glob("began-*"), *self.jobs.glob("go"), *self.jobs.glob("line-*")):
            left.unlink()
        (self.jobs / "waits").write_text(" ".join(clients))

    def go(self):
        (self.jobs / "go").touch()

    def record(self):
        return next((self.session.place / "state").glob("*.jsonl"))

    def queue(self, *jobs):
        """What squeue says from now on: (id, tag)."""
        (self.jobs / "queue").write_text("".join(f"{job} {tag}\n" for job, tag in jobs))

    def lines(self, client):
        """The words that the real one was started with, each time since waits()."""
        return [file.read_text().split("\n") for file in self.jobs.glob(f"line-{client}-*")]

    def ask(self, *words):
        """A client whose real one runs, and waits."""
        raw = self.session.connect()
        raw.sendall(request(words, self.project))
        if not wait_for(lambda: list(self.jobs.glob("began-*"))):
            raise SystemExit(f"{words} has not begun: {hear(raw)[0]}")
        return raw

    def answer(self, *words):
        """What a client hears on its standard error."""
        raw = self.session.connect()
        try:
            raw.sendall(request(words, self.project))
        except BrokenPipeError:
            pass  # it hears that before it is heard
        return hear(raw)[0].get(ERROR, b"")

    def turn(self):
        """What was sent before is taken in; False: sbx-chaperon is no more."""
        try:
            return b"refused" in self.answer("sbatch", "--uid=0")
        except ConnectionRefusedError:
            return False


class LongPlace(Session):
    def values(self, environment):
        return super().values(environment).replace(f"jobs {self.place}/jobs".encode(), f"jobs {self.place}{'/j' * 1960}".encode())


class Tries:
    def __init__(self, world, report):
        self.world, self.report = world, report

    def check(self, good, what, detail=""):
        self.report.check(good, f"clients: {what}", detail)

    def end(self, fakes, what):
        faults = fakes.session.end()
        self.check(not faults and fakes.session.process.returncode == 0, f"{what}: no fault of memory", faults)

    def bad_at(self, fakes, stage, words, waits, good):
        """Bad frames while @waits runs: it is served on, and @good is what the client hears in the end."""
        for title, data in BAD.items():
            if words[0] == "srun" and data == BAD["input that nobody asked for"]:
                continue  # it did ask
            fakes.waits(waits)
            raw = fakes.ask(*words)
            if data is None:
                raw.close()
            else:
                raw.sendall(data)
            alive = fakes.turn()
            fakes.go()
            heard = hear(raw)[0] if data is not None else good
            fits = all(heard.get(kind, b"").startswith(text) for kind, text in good.items())
            alive = alive and fakes.turn()
            self.check(alive and fits, f"{stage}: {title}", heard if alive else fakes.session.faults.read_text())
            if not alive:
                return

    def bad_frames(self):
        fakes = Fakes(self.world, "frames", "session.pol")
        submitted = {ERROR: b"sbx: ", OUTPUT: b"Submitted batch job 77\n", EXIT: struct.pack("<I", 0)}
        ended = {ERROR: b"sbx: ", EXIT: struct.pack("<I", 15)}
        self.bad_at(fakes, "sbatch submits", ["sbatch", "--hold", "--wrap=true"], "sbatch:", submitted)
        self.bad_at(fakes, "sbatch asks for the queue", ["sbatch", "--hold", "--wrap=true"], "squeue:", ended)
        self.bad_at(fakes, "srun runs", ["srun", "true"], "srun:", ended)
        self.bad_at(fakes, "squeue answers", ["squeue"], "squeue:", ended)
        self.bad_at(fakes, "scancel asks for the queue", ["scancel", "77"], "squeue:", ended)
        self.bad_at(fakes, "scontrol shows a job", ["scontrol", "show", "job", "77"], "scontrol:", ended)
        self.end(fakes, "frames")
        fakes = Fakes(self.world, "hours", "clients.pol")
        for word in ("show", "release"):
            self.bad_at(fakes, f"hours: {word}", ["sbatch", "--time=1", "--wrap=true"], f"scontrol:{word}", submitted)
        self.end(fakes, "hours")

    def bad_script(self):
        fakes = Fakes(self.world, "script", "session.pol")
        for title, data in BAD.items():
            if title.startswith(("a script", "no script")):
                continue
            raw = fakes.session.connect()
            raw.sendall(request(["sbatch", "--hold"], fakes.project))
            raw.recv(12)
            if data is None:
                raw.close()
            else:
                raw.sendall(data)
            heard = hear(raw)[0] if data is not None else {ERROR: b"sbx: ", EXIT: b""}
            self.check(fakes.turn() and heard.get(ERROR, b"").startswith(b"sbx: ") and EXIT in heard, f"a script is wanted: {title}", heard)
        self.end(fakes, "script")

    def not_waited_for(self):
        """Who was dropped is told for some seconds what its submission ends with, and then no more; it is written down."""
        fakes = Fakes(self.world, "late", "session.pol")
        fakes.waits("sbatch:")
        raw = fakes.ask("sbatch", "--hold", "--wrap=true")
        raw.sendall(frame(40))
        heard = hear(raw)[0]
        self.check(ERROR in heard and EXIT not in heard, "the connection is closed", heard)
        fakes.go()
        record = fakes.record()
        self.check(wait_for(lambda: '"job":77' in record.read_text()), "and its job is written down", record.read_text())
        self.end(fakes, "late")

    def signalled(self):
        """No signal ends an sbatch before it has said what it submitted."""
        cases = (("session.pol", ["--hold"], "sbatch:"), ("clients.pol", ["--time=1"], "sbatch:"), ("clients.pol", ["--time=1"], "scontrol:show"),
                 ("clients.pol", ["--time=1"], "scontrol:release"))
        for number, (policy, words, waits) in enumerate(cases):
            fakes = Fakes(self.world, f"signal-{number}", policy)
            fakes.waits(waits)
            raw = fakes.ask("sbatch", *words, "--wrap=true")
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                raw.sendall(frame(SIGNAL, struct.pack("<I", number)))
            fakes.turn()
            fakes.go()
            heard = hear(raw)[0]
            self.check(heard == {OUTPUT: b"Submitted batch job 77\n", EXIT: bytes(4)}, f"{policy}, {waits} signals are for nobody", heard)
            self.check("failed" not in fakes.record().read_text(), "its job is none that failed", fakes.record().read_text())
            self.end(fakes, "signals")

    def unknown(self):
        """An sbatch that does not say what it submitted: the queue knows it by its tag."""
        for how, status, failed in (("sbatch!9", 9, False), ("sbatch!1", 256, True)):
            fakes = Fakes(self.world, f"unknown-{status}", "session.pol")
            fakes.waits(how, "late")
            raw = fakes.session.connect()
            raw.sendall(request(["sbatch", "--hold", "--wrap=true"], fakes.project))
            heard = hear(raw)[0]
            self.check(heard == {EXIT: struct.pack("<I", status)}, f"{how}: its end is told", heard)
            self.check(("failed" in fakes.record().read_text()) == failed, f"{how}: failed is what says so", fakes.record().read_text())
            fakes.waits()
            refused = fakes.session.run("sbatch", "--hold", "--array=1-4", "--wrap=true")  # of another id, and the queue is asked
            errors = fakes.session.run("scancel", "77")[2]
            self.check(not errors and '"job":77' in fakes.record().read_text(), f"{how}: it is the project's", f"{refused}{errors}{fakes.record().read_text()}")
            gone = [word for line in fakes.lines("scancel") for word in line]
            self.check(gone == ["77"], f"{how}: and is cancelled", gone)
            self.end(fakes, "unknown")

    # --- what is kept for clients, and how long

    def half_scripts(self):
        """Scripts that do not come: their places are for those who wait."""
        fakes = Fakes(self.world, "half", "session.pol")
        clients = [fakes.session.connect() for _ in range(64)]
        for raw in clients:
            raw.sendall(request(["sbatch", "--hold"], fakes.project))
            raw.recv(12)
            raw.sendall(frame(SCRIPT, b"#!/bin/sh\n"))
        self.check(b"64 commands run" in fakes.answer("sbatch", "--uid=0"), "half scripts: each place is taken")
        self.check(wait_for(fakes.turn), "half scripts: but not for long")
        heard = hear(clients[0])[0]
        self.check(heard.get(ERROR) == b"sbx: the script did not arrive in time, and others wait\n", "half scripts: the oldest hears why", heard)
        clients[-1].sendall(frame(SCRIPT, b"true\n") + frame(SCRIPT))
        heard = hear(clients[-1])[0]
        self.check(heard.get(OUTPUT) == b"Submitted batch job 77\n", "half scripts: the others may still come", heard)
        for raw in clients:
            raw.close()
        self.end(fakes, "half scripts")

    def long_scripts(self):
        """A bound for what all send together, which each gives back."""
        fakes = Fakes(self.world, "long", "session.pol")
        script = (frame(SCRIPT, b"#!/bin/sh\n") + frame(SCRIPT, b"#" * (1 << 20)) * 14)
        clients = [fakes.session.connect() for _ in range(6)]
        refused = 0
        for raw in clients:
            raw.sendall(request(["sbatch", "--hold"], fakes.project))
            raw.recv(12)
            try:
                raw.sendall(script)
            except OSError:
                pass
            fakes.turn()
            raw.setblocking(False)
            try:
                refused += b"sbx: too much is asked for at the same time: try again\n" in raw.recv(4096)
            except BlockingIOError:
                pass
        self.check(refused == 2, "84 MiB of scripts: some are told to come again", refused)
        for raw in clients:
            raw.close()
        fakes.turn()
        fakes.waits("sbatch:")
        clients = [fakes.session.connect() for _ in range(6)]
        for raw in clients:
            raw.sendall(request(["sbatch", "--hold"], fakes.project))
            raw.recv(12)
            raw.sendall(script + frame(SCRIPT))
            fakes.turn()
        began = wait_for(lambda: len(list(fakes.jobs.glob("began-*"))) == 6)
        self.check(began, "what is submitted is not held any more", list(fakes.jobs.glob("began-*")))
        fakes.go()
        heard = [hear(raw)[0].get(OUTPUT) for raw in clients]
        self.check(heard == [b"Submitted batch job 77\n"] * 6, "and all of them are answered", heard)
        self.end(fakes, "long scripts")

    def slow_reader(self):
        """Input that a program does not read yet: it is waited for as long as it takes, and none is lost."""
        fakes = Fakes(self.world, "slow", "session.pol")
        fakes.waits("srun:")
        process = fakes.session.popen("srun", "true", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for(lambda: list(fakes.jobs.glob("began-*")))
        sender = threading.Thread(target=lambda: (process.stdin.write("x" * (5 << 20)), process.stdin.close()))
        sender.start()
        time.sleep(7)  # past each time limit that there is for who does not send
        fakes.go()
        sender.join()
        out, errors = process.stdout.read(), process.stderr.read()
        self.check((process.wait(), out) == (0, f"{5 << 20}\n"), "srun: 5 MiB of input for a program that reads late", out + errors)
        self.end(fakes, "slow")

    # --- many jobs

    def long_lists(self):
        """A list of ids comes to the real client whole, or not at all."""
        fakes = Fakes(self.world, "lists", "session.pol")
        fakes.session.run("sbatch", "--hold", "--wrap=true")
        fakes.queue((77, json.loads(fakes.record().read_text().splitlines()[0])["tag"]))
        for words in (["scontrol", "release"], ["scontrol", "hold"], ["squeue", "--jobs"]):
            fakes.waits()
            text = ",".join(["77"] * 6000)
            fakes.session.run(*words[:-1], *([f"--jobs={text}"] if words[0] == "squeue" else [words[-1], text]))
            given = [word.removeprefix("--jobs=") for line in fakes.lines(words[0]) for word in line if "77,77" in word]
            self.check(given == [text], f"{' '.join(words)}: 18,000 bytes of ids", f"{len(given)}: {given and given[0][-20:]}")
        fakes.waits()
        status, _, errors = fakes.session.run("scontrol", "release", "77_[1000000-1009999].batch")
        self.check((status, errors) == (1, "sbx: scontrol-release refused: too many jobs for one command\n"), "more than an argument holds", errors)
        self.check(not fakes.lines("scontrol"), "and scontrol is not asked")
        status, _, errors = fakes.session.run("scancel", "77_[0-10000]")
        self.check((status, errors) == (1, "sbx: scancel refused: 77_[0-10000] too many jobs\n"), "more than one can name", errors)
        self.end(fakes, "lists")

    def long_names(self):
        """Nothing else is cut, either: another column, another file."""
        here = pathlib.Path(__file__).resolve().parent
        for count, size in ((100, 2099), (300, 6299)):
            policy = self.world.work / "columns.pol"
            columns = [f"column{number:03}" + "x" * 11 for number in range(count)]
            policy.write_text((here / "session.pol").read_text().replace("deny  sbatch", f"show squeue {' '.join(columns)}\n    deny  sbatch"))
            fakes = Fakes(self.world, f"columns-{count}", policy)
            fakes.waits()
            errors = fakes.session.run("squeue")[2]
            asked = [word[9:] for line in fakes.lines("squeue") for word in line if word.startswith("--Format=")]
            if size < 4096:
                self.check(asked == [",".join(columns)], f"{size} bytes of columns", asked or errors)
            else:
                self.check("the policy shows more columns than one list can name" in errors and not asked, f"{size} bytes of columns", asked or errors)
            self.end(fakes, "columns")
        fakes = Fakes(self.world, "names", "session.pol")
        errors = fakes.answer("sbatch", "--chdir=" + "d" * 4000, "s" * 4500)
        self.check(errors == b"sbx: sbatch refused: the name of the script is too long\n", "a script of a long name", errors[-200:])
        self.end(fakes, "names")
        try:
            LongPlace(self.world, self.world.work / "place").end()
            said = "it has begun"
        except SystemExit as stopped:
            said = str(stopped)
        self.check(said == "sbx-chaperon: the name of the directory of jobs or of their records is too long", "a directory of jobs of a long name", said)

    def long_record(self):
        """A project of more jobs than a list of ids has: those in the queue are listed, however old, and all are cancelled."""
        fakes = Fakes(self.world, "record", "session.pol")
        fakes.session.run("sbatch", "--hold", "--wrap=true")
        line = json.loads(fakes.record().read_text().splitlines()[0])
        jobs = [(1000 + number, f"sbx-{number:032x}") for number in range(12000)]
        with fakes.record().open("a") as file:
            for job, tag in jobs:
                file.write(json.dumps({**line, "tag": tag}) + "\n" + json.dumps({"tag": tag, "job": job}) + "\n")
        fakes.queue(*jobs[:2], (5, "sbx-" + "f" * 32))
        fakes.waits()
        fakes.session.run("squeue")
        asked = next(word for line in fakes.lines("squeue") for word in line if word.startswith("--jobs="))[7:].split(",")
        self.check({"1000", "1001", "12999"} <= set(asked) and "5" not in asked, "squeue: the old ones that are in the queue", asked[:4])
        self.check(len(asked) == 10002, "and the newest", len(asked))
        errors = fakes.session.run("sacct")[2]
        self.check(errors == "sbx: of this project's 12001 jobs the newest 10000 are listed\n", "sacct says what it leaves out", errors)
        fakes.queue(*jobs)
        fakes.waits()
        errors = fakes.session.run("scancel", "--me")[2]
        gone = {word for line in fakes.lines("scancel") for word in line}
        self.check({str(job) for job, _ in jobs} <= gone, "scancel: each of 12,000", f"{len(gone)} {errors}")
        self.end(fakes, "record")


ORDER = ("bad_frames", "bad_script", "not_waited_for", "signalled", "unknown", "half_scripts", "long_scripts", "slow_reader", "long_lists", "long_names", "long_record")


def run(world, report):
    if not hide(world):
        report.skip("the life of a client", "this kernel lays no overlay over /usr/bin")
        return
    tries = Tries(world, report)
    try:
        for name in ORDER:
            getattr(tries, name)()
    finally:
        for place in ("/usr/bin", world.work / "over"):
            subprocess.run(["umount", "--lazy", place], check=True)
