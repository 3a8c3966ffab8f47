"""One launch: a world, a policy, what is asked of it, and where the two answers part."""
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess

import policies
import questions
import worlds

SECONDS = 60  # for one launch: longer is a hang


class Said:
    """An answer of explain's."""

    def __init__(self, line):
        self.verdict, self.how, self.rule, *self.notes = line.split("\t")
        self.allowed = self.verdict == "allowed"

    def has(self, *words):
        return any(word in note for note in self.notes for word in words)


def real(path):
    return pathlib.Path(os.path.realpath(path))


class Disagreement(Exception):
    pass


class Launcher:
    """What all launches on one backend share."""

    def __init__(self, place, backend, home, numbers):
        self.place, self.backend, self.home = place, backend, home
        self.top = place / backend
        self.bin, self.numbers = place / "sbx/build", numbers
        self.probe = self.bin / "inside/sbx-probe"
        self.tcp = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.abstract, self.listening = {}, []
        for name in ("one", "two"):
            there = socket.socket(socket.AF_UNIX)
            self.abstract[name] = f"sbx-agree-{name}-{backend}-{os.getuid()}"
            there.bind("\0" + self.abstract[name])
            there.listen(4096)
            self.listening.append(there)

    def clear(self):
        worlds.clear(self.top, self.home / f"agree-{self.backend}")


class Case:
    def __init__(self, launcher, seed, count):
        self.launcher, self.seed = launcher, seed
        launcher.clear()
        launcher.top.mkdir()
        draw = random.Random(seed)
        self.masks = launcher.backend != "landlock"
        self.numbers, self.abstract = launcher.numbers, launcher.abstract
        self.port = launcher.tcp.getsockname()[1]
        self.world = worlds.World(draw, launcher.top, launcher.home / f"agree-{launcher.backend}", launcher.probe)
        self.policy = policies.Policy(draw, launcher.backend, self.world, launcher.probe.parent)
        self.policy.statements = [(section, re.sub(r"sbx-agree-(one|two)", lambda m: self.abstract[m[1]], text))
                                  for section, text in self.policy.statements]
        self.environment = {name: f"value-{name}" for name in policies.ENV_NAMES if draw.random() < 0.7}
        self.environment.update(HOME=str(launcher.home), PATH="/usr/bin:/bin", PWD=str(self.world.work))
        if "TMPDIR" in self.environment:
            self.environment["TMPDIR"] = "/tmp"
        self.questions = [questions.some(draw, self.world, self.policy, self) for _ in range(count)]
        # What takes a name away comes last: it gives back another inode.
        self.questions.sort(key=lambda question: question.request.startswith(("unlink ", "link ", "over ")))
        self.draw = draw
        while not self.compile(self.policy.statements, "tried"):  # calls refused with two errors
            calls = [one for one in self.policy.statements if one[0] == "syscalls"]
            if not calls:
                break
            self.policy.statements.remove(draw.choice(calls))

    # ---- what a question wants to know

    def own(self, path):
        return any(path == tree or tree in path.parents for tree in self.world.trees)

    def real(self, path):
        """Of the name itself, not of what it leads to."""
        return real(path.parent) / path.name

    def origin(self, said):
        """"tmp" or "copy" where what explain's rule opens is one, "host" where it is the host's own."""
        if "host's own" in said.how or (self.launcher.backend == "landlock" and said.rule.startswith("copy ")):
            return "host"
        verb, _, text = said.rule.partition(" ")
        if verb in ("tmp", "copy"):
            return verb
        name = text[1:].split('"')[0] if text.startswith('"') else text.split(" ")[0]
        return next((made for made, place in self.places() if name.startswith("/") and place == real(name)), "host")

    def places(self):
        """Where a tmp or a copy stands."""
        found = (re.match(r'(tmp|copy) "?(/[^"]*?)"?( best-effort)?$', text) for _, text in self.current)
        return [(one[1], real(one[2])) for one in found if one]

    def unless_named(self, path, answer):
        """@answer, unless other rules name something of the host's at @path or in it, in a tmp or a copy."""
        if any(set("*?[") & set(text) for section, text in self.current if section == "fs"):
            return None
        named = [real(name) for _, text in self.current for name in re.findall(r'"(/[^"]*)"', text)]
        return None if any(real(path) in (name, *name.parents) for name in named) else answer

    def is_made(self, path):
        return any(place == real(path) for _, place in self.places())

    def is_spoken_of(self, path):
        """Do rules name it, or something in it, or a pattern that could?"""
        if any("*" in text or "?" in text or "[" in text for _, text in self.current):
            return True
        path = self.real(path)
        for _, text in self.current:
            for name in re.findall(r'"([^"]*)"', text):
                name = type(path)(name)
                if not name.is_absolute():
                    continue
                for spelled in (name, self.real(name), real(name)):
                    if spelled == path or path in spelled.parents:
                        return True
        return False

    # ---- answers

    def compile(self, statements, name):
        """The blob, or None: the statements do not go together."""
        directory = self.launcher.top / name
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        source = self.policy.write(directory, statements)
        done = subprocess.run([self.launcher.bin / "sbxc", "-I", directory, source, "-o", directory / "policy.sbx"],
                              capture_output=True, text=True)
        self.complaint = done.stdout + done.stderr
        return directory / "policy.sbx" if done.returncode == 0 else None

    def ask(self, blob):
        lines = [line for question in self.questions for line in question.asks]
        done = subprocess.run([self.launcher.bin / "agree-ask", blob, self.launcher.backend, self.world.work],
                              input="\n".join(lines) + "\n", capture_output=True, text=True, cwd=self.world.work,
                              errors="surrogateescape")
        if done.returncode or len(done.stdout.splitlines()) != len(lines):
            raise Disagreement(f"explain gave no answers: {done.stderr}")
        said = iter(map(Said, done.stdout.splitlines()))
        return [[next(said) for _ in question.asks] for question in self.questions]

    def probe(self, command):
        """The answers, and what was said on standard error."""
        kept = []
        null = os.open("/dev/null", os.O_RDWR)

        def give():
            for number in policies.DESCRIPTORS:
                os.dup2(null, number)

        done = subprocess.run(command, input="".join(question.request + "\n" for question in self.questions),
                              capture_output=True, text=True, cwd=self.world.work, env=self.environment,
                              close_fds=False, preexec_fn=give, timeout=SECONDS, errors="surrogateescape")
        os.close(null)
        del kept
        return done.stdout.splitlines(), done.stderr

    def launch(self, blob):
        return self.probe([self.launcher.bin / "sbx-exec", "-q", "--backend", self.launcher.backend, blob, "--",
                           self.launcher.probe])

    def run(self, statements=None, left_out=None):
        """[(question, said, wanted, got)], of those that can be told; None and why: no session starts.
        @left_out: a statement that is explained and not enforced."""
        statements = self.current = self.policy.statements if statements is None else statements
        blob = self.compile(statements, "explained")
        if not blob:
            return None, "it does not compile: " + self.complaint.splitlines()[0]
        said = self.ask(blob)
        if left_out is not None:
            blob = self.compile([one for one in statements if one is not left_out], "enforced")
            if not blob:
                return None, "it does not compile: " + self.complaint.splitlines()[0]
        bare, _ = self.probe([self.launcher.probe])
        answers, complaint = self.launch(blob)
        if not answers:
            return None, complaint.splitlines()[0] if complaint else "nothing was answered"
        if len(answers) != len(self.questions) or len(bare) != len(self.questions):
            raise Disagreement(f"{len(answers)} and {len(bare)} answers to {len(self.questions)} requests: {complaint}")
        result = []
        for question, words, got, outside in zip(self.questions, said, answers, bare):
            wanted = question.expected(words, outside, self)
            if wanted is not None:
                result.append((question, words, wanted, got, outside))
        return result, None


def agrees(wanted, got):
    if isinstance(wanted, bool):
        return questions.worked(got) == wanted
    return got == wanted
