"""The cases of quirks.py, each asked of the real sbatch, of ours, and of the real one with what ours hands on."""
import re
import subprocess

import quirks
import suite

# What the chaperon gives itself, whatever was asked.
OURS = {"chdir", "output", "error", "input", "export", "comment", "job-name", "ignore-pbs", "verbose", "test-only", "wrap",
        "get-user-env", "clusters"}
JOBS = "/home/u/jobs"


def options_of(report):
    """{"partition": "other", ...} of what -v prints."""
    found = {}
    for line in report.splitlines():
        name, colon, value = line.removeprefix("sbatch: ").partition(" : ")
        if colon and line.startswith("sbatch: "):
            found.setdefault(name.strip(), value.strip())
    return found


class Quirks:
    def __init__(self, world, report):
        self.world, self.report, self.place = world, report, world.work / "quirks"
        self.place.mkdir()
        self.blob = self.place / "open.sbx"
        subprocess.run([world.out / "sbxc", "-I", suite.TOP / "stdlib", "-o", self.blob, suite.TOP / "tests/slurm/open.pol"], check=True)

    def script(self, lines, name="s.sh"):
        path = self.place / name
        path.write_text("#!/bin/bash\n" + "".join(line + "\n" for line in lines) + "true\n", newline="")
        path.chmod(0o755)
        return path

    def real(self, words, environment, script):
        with open(script) as stdin:
            done = self.world.cluster.run("sbatch", "--test-only", "-v", *words, cwd=self.place, environment=environment, stdin=stdin)
        return done, options_of(done.stderr)

    def ours(self, case, script):
        command = [self.world.out / "tests/slurm/reader", self.blob, self.place]
        for name, value in case["env"].items():
            command += ["-e", f"{name}={value}"]
        done = subprocess.run([*command, "-s", script, "--", "sbatch", *case["words"]], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def check_real(self, case, done, options):
        """That the real sbatch does what the case says, or the case shows nothing."""
        title, real = case["title"], case["real"]
        if isinstance(real, str):
            self.report.check(real in done.stderr, f"sbatch: {title}", done.stderr)
            return
        for name, value in real.items():
            if name == "job-name" and value == "wrap" or name == "wrap" and value:
                continue  # -v says these in another way in part of the cases
            self.report.check(options.get(name) == value, f"sbatch: {title}: {name} is {value}", f"{options.get(name)}\n{done.stderr}")

    def check_same(self, case, options, handed_on):
        """What is handed on means the same to the real sbatch as what was asked, but for what we give ourselves."""
        words = [line for line in handed_on.splitlines() if not line.startswith("    ") and not line.startswith("sbx: ")]
        self.report.check(all(word.startswith("--") for word in words), f"{case['title']}: only long options", handed_on)
        bare = self.place / "bare.sh"
        bare.write_text("#!/bin/sh\n:\n")
        wanted = [word for word in words if JOBS not in word]
        with open(bare) as stdin:
            done = self.world.cluster.run("sbatch", "--test-only", "-v", *wanted, cwd=self.place, stdin=stdin)
        again = options_of(done.stderr)
        for name in sorted((set(options) | set(again)) - OURS):
            self.report.check(options.get(name) == again.get(name), f"{case['title']}: {name} is the same",
                              f"{options.get(name)} / {again.get(name)}\n{handed_on}")

    def explain(self, blob, words, environment=()):
        """What sbxc explain says of a line, here."""
        words = [*(f"{name}={value}" for name, value in environment), *words]
        line = " ".join(f'"{word}"' if "'" in word else f"'{word}'" for word in words)
        done = subprocess.run([self.world.out / "sbxc", "explain", "--workspace", self.place, "--home", "/home/u", blob, "slurm", line],
                              cwd=self.place, capture_output=True, text=True)
        return done.stdout + done.stderr

    def check_explain(self, case, refused):
        """sbxc explain says the same, of the script's lines and of variables, too."""
        if case["stdin"]:
            return
        said = self.explain(self.blob, ["sbatch", *case["words"]], case["env"].items())
        self.report.check((": refused" in said.split("  by ")[0]) == refused and "  by " in said, f"{case['title']}: explain says so, too", said)

    def try_agreed(self, policy, line, text):
        """What is refused beyond the options alone: by the chaperon's reading and by explain for one reason."""
        blob = self.place / f"{policy}.sbx"
        if not blob.exists():
            subprocess.run([self.world.out / "sbxc", "-I", suite.TOP / "stdlib", "-o", blob, suite.TOP / f"tests/slurm/{policy}.pol"], check=True)
        done = subprocess.run([self.world.out / "tests/slurm/reader", blob, self.place, "--", *line.split()], capture_output=True, text=True)
        said = self.explain(blob, line.split())
        if text:
            self.report.check(done.returncode == 1 and text in done.stdout, f"{policy}: {line}: refused", done.stdout + done.stderr)
            self.report.check(": refused" in said and text in said, f"{policy}: {line}: explain says so, too", said)
        else:
            self.report.check(done.returncode == 0, f"{policy}: {line}: passed on", done.stdout + done.stderr)
            self.report.check(": allowed" in said, f"{policy}: {line}: explain says so, too", said)

    def try_forced(self, line, handed_on, said):
        blob = self.place / "forced.sbx"
        subprocess.run([self.world.out / "sbxc", "-I", suite.TOP / "stdlib", "-o", blob, "tests/slurm/forced.pol"], check=True, cwd=suite.TOP)
        done = subprocess.run([self.world.out / "tests/slurm/reader", blob, self.place, "--", *line.split()], capture_output=True, text=True)
        words = done.stdout.splitlines()
        notices = "".join(word + "\n" for word in words if word.startswith("sbx: "))
        if handed_on is None:
            self.report.check(done.returncode == 1 and said in done.stdout, f"forced: {line}: refused", done.stdout)
        else:
            self.report.check(done.returncode == 0 and set(handed_on) <= set(words) and len({word.split("=")[0] for word in words if word[0] == "-"}) ==
                              sum(word[0] == "-" for word in words),
                              f"forced: {line}: handed on", done.stdout)
            self.report.check(notices.startswith(said) and bool(notices) == bool(said), f"forced: {line}: said", done.stdout)
        explained = self.explain(blob, line.split())
        self.report.check((": refused" in explained) == (handed_on is None), f"forced: {line}: explain says so, too", explained)

    def try_several(self, words, lines, said):
        script = self.script(lines)
        done = subprocess.run([self.world.out / "tests/slurm/reader", self.blob, self.place, "-s", script, "--", "sbatch", *words],
                              capture_output=True, text=True)
        found = done.stdout.splitlines()
        self.report.check(done.returncode == 1 and len(found) == len(said) and all(text in line for text, line in zip(said, found)),
                          f"several: {' '.join(words)}: all at once", done.stdout + done.stderr)
        explained = self.explain(self.blob, ["sbatch", *words])
        self.report.check(": refused" in explained and all(text in explained for text in said if " more" not in text),
                          f"several: {' '.join(words)}: explain says so, too", explained)

    def try_forced_script(self):
        """What is forced is so before the script is made, or looked for."""
        policy = self.place / "wrap.pol"
        policy.write_text('language 1\npolicy "wrap"\nimport std/slurm\nworkspace $cwd\n'
                          'slurm { allow sbatch; allow sbatch --wrap; force sbatch --wrap = "echo fixed" }\n')
        blob = self.place / "wrap.sbx"
        subprocess.run([self.world.out / "sbxc", "-I", suite.TOP / "stdlib", "-o", blob, policy], check=True)
        for words in (["--wrap=echo mine"], []):
            done = subprocess.run([self.world.out / "tests/slurm/reader", blob, self.place, "--", "sbatch", *words], capture_output=True, text=True)
            self.report.check("    wrap echo fixed\n" in done.stdout, f"forced: --wrap, beside {words}", done.stdout)

    def try_case(self, case):
        script = self.script(case["script"])
        status, text, fault = self.ours(case, script)
        self.report.check(status in (0, 1) and not fault, f"{case['title']}: read", fault)
        if case["ours"]:
            self.report.check(status == 1 and case["ours"] in text, f"{case['title']}: refused", text)
        else:
            self.report.check(status == 0, f"{case['title']}: passed on", text)
        self.check_explain(case, bool(case["ours"]))
        if not self.world.cluster:
            return
        done, options = self.real(case["words"], case["env"], script)
        self.check_real(case, done, options)
        if case["ours"] is None and not isinstance(case["real"], str):
            self.check_same(case, options, text)


CLIENTS = ("sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo", "sacct", "sstat", "sprio", "sshare", "sdiag")


def declared():
    """{"sbatch": {"--time", ...}} of std/slurm: scontrol's words together, and without the keys, which begin with a capital."""
    found, command = {}, None
    for line in (suite.TOP / "stdlib/slurm.pol").read_text().splitlines():
        if begin := re.search(r"^ *command (\w+)", line):
            command = begin[1]
        if option := re.search(r"\boption (--[-\w]+)", line):
            if command != "scontrol" or option[1][2].islower():
                found.setdefault(command, set()).add(option[1])
    return found


def compare_tables(world, report):
    """Each option of the real client is known here, and no other."""
    ours = declared()
    for client in CLIENTS:
        said = world.cluster.run(client, "--=x", cwd=world.work).stderr
        real = set(re.findall(r"'(--[-\w]+)'", said))
        report.check(len(real) > 5, f"{client}: lists its options", said)
        report.check(real == ours[client], f"{client}: std/slurm has its options, each of them",
                     f"real: {sorted(real - ours[client])}\nours: {sorted(ours[client] - real)}")


def run(world, report):
    tried = Quirks(world, report)
    for case in quirks.CASES:
        tried.try_case(case)
    for policy, line, text in quirks.AGREED:
        tried.try_agreed(policy, line, text)
    for line, handed_on, said in quirks.FORCED:
        tried.try_forced(line, handed_on, said)
    tried.try_forced_script()
    for words, lines, said in quirks.SEVERAL:
        tried.try_several(words, lines, said)
    if not world.cluster:
        report.skip("what the real sbatch makes of it", world.without)
        return
    compare_tables(world, report)
