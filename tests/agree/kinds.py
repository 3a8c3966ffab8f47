"""Kinds of question whose answers once parted: each a small world, a policy, and what explain
and the kernel both have to say, on each backend.

A row is "REQUEST NAME VERDICT DONE [BACKEND ...]": what sbx-probe is asked, what explain says
(allowed, refused), whether it then works (yes, no); without backends on all of them.  ~ is a
tree in the home.  "stops" has the message of a launch that may not start on some backend.
"""
import os
import shutil
import socket

import policies
import questions
import session
import worlds

# What `write ~/x` in explain's words is for sbx-probe.
ACTIONS = {"read": "read", "write": "write", "make": "write", "run": "exec", "unix": "connect", "mkdir": "write",
           "unlink": "write", "link": "write", "move": "write", "limit": "limit"}
MOUNTS = "bwrap firejail"

KINDS = [
    {"name": "a denied link that leads to nothing is held where it leads",
     "world": ["link -> gone", "file"],
     "policy": ["write exec ~", "deny exec ~/link"],
     "rows": ["read ~/link allowed yes bwrap", "make ~/gone/x allowed yes bwrap", "run ~/gone refused no bwrap",
              "read ~/file allowed yes bwrap"]},
    {"name": "a name beneath a sealed pattern, made to hold another",
     "world": ["a/"],
     "policy": ["write exec ~", "seal ~/**/a/* snapshot", "deny exec ~/a/m/n"],
     "rows": ["make ~/a/m allowed no " + MOUNTS, "make ~/a/m/o allowed yes " + MOUNTS]},
    {"name": "a seal of the very name that is granted, but for a part",
     "world": ["b/b/f", "b/c", "b/s ="],
     "policy": ["write exec ~/b", "seal ~/b except ~/b/b ~/b/n ~/b/s"],
     "rows": ["read ~/b/b/f allowed yes", "make ~/b/b/n allowed yes", "run ~/b/b/f allowed yes", "read ~/b/c refused no",
              "make ~/b/n allowed no"]},
    {"name": "what a seal beneath a grant excepts",
     "world": ["b/b/f", "b/c"],
     "policy": ["write exec ~", "seal ~/b except ~/b/b"],
     "rows": ["read ~/b/b/f allowed yes bwrap", "make ~/b/b/n allowed yes bwrap", "read ~/b/c refused no bwrap",
              "read ~/b/b/f refused no firejail"],
     "stops": {"firejail": "a grant beneath a deny"}},
    {"name": "a seal of a copy, but for a part",
     "world": ["b/b/f", "b/c"],
     "policy": ["copy ~/b", "seal ~/b except ~/b/b"],
     "rows": ["read ~/b/b/f allowed yes bwrap", "write ~/b/b/f allowed yes bwrap", "read ~/b/c refused no bwrap"],
     "kept": "b/b/f"},
    {"name": "the host's own in a tmp, with its own rights",
     "world": ["t/r/f", "t/g"],
     "policy": ["tmp ~/t", "read ~/t/r"],
     "rows": ["read ~/t/r/f allowed yes bwrap", "write ~/t/r/f refused no bwrap", "make ~/t/r/n refused no bwrap",
              "run ~/t/r/f refused no bwrap"],
     "kept": "t/r/f"},
    {"name": "the host's own in a tmp whose own files can be executed",
     "world": ["t/r/f", "t/x/f"],
     "policy": ["tmp ~/t", "exec ~/t", "read ~/t/r", "exec ~/t/x"],
     "rows": ["read ~/t/r/f allowed yes bwrap", "run ~/t/r/f refused no bwrap", "run ~/t/x/f allowed yes bwrap",
              "write ~/t/x/f refused no bwrap", "make ~/t/n allowed yes bwrap"],
     "kept": "t/r/f"},
    {"name": "the host's own in a copy, with its own rights",
     "world": ["t/r/f", "t/g"],
     "policy": ["copy ~/t", "exec ~/t", "read ~/t/r"],
     "rows": ["read ~/t/r/f allowed yes bwrap", "write ~/t/r/f refused no bwrap", "run ~/t/r/f refused no bwrap",
              "write ~/t/g allowed yes bwrap", "run ~/t/g allowed yes bwrap"],
     "kept": "t/r/f"},
    {"name": "where firejail makes no copy or tmp, all in it is closed",
     "world": ["t/g", "s/g"],
     "policy": ["exec ~", "copy ~/t best-effort", "tmp ~/s best-effort"],
     "rows": ["run ~/t/g refused no firejail", "read ~/t/g refused no firejail", "run ~/s/g refused no firejail"]},
    {"name": "a seal beneath what a best-effort pattern denies, which landlock leaves open",
     "world": ["a/b/f"],
     "policy": ["write ~", "deny ~/* best-effort snapshot", "seal write ~/*/*/* snapshot"],
     "rows": ["write ~/a/b/f refused no"],
     "stops": {"landlock": "a deny or seal beneath a grant"}},
    {"name": "an optional grant of what is not there, in a tmp",
     "world": ["t/"],
     "policy": ["tmp ~/t", "exec ~/t/n optional"],
     "rows": ["mkdir ~/t/n allowed yes bwrap", "make ~/t/o allowed yes bwrap"]},
    {"name": "what a seal in a tmp excepts",
     "world": ["t/s/x", "t/w/x"],
     "policy": ["tmp ~/t", "exec ~/t", "seal ~/t/s except ~/t/s/x", "seal write ~/t/w except ~/t/w/x"],
     "rows": ["read ~/t/s/x refused no bwrap", "write ~/t/s/x refused no bwrap", "run ~/t/s/x refused no bwrap",
              "make ~/t/w/x refused no bwrap", "make ~/t/n allowed yes bwrap"]},
    {"name": "a link in the very directory that a tmp empties by its name",
     "world": ["b/f", "b/l -> ../b"],
     "policy": ["exec ~", "tmp ~/b/l"],
     "rows": ["read ~/b allowed yes bwrap", "make ~/b/n allowed yes bwrap", "read ~/b/l refused no bwrap"]},
    {"name": "a tmp and a copy of one directory, by two names",
     "world": ["b/f", "l -> b"],
     "policy": ["exec ~", "copy ~/b", "tmp ~/l"],
     "rows": ["read ~/b allowed yes bwrap", "make ~/b/n allowed yes bwrap", "read ~/b/f allowed no bwrap"]},
    {"name": "links in a tmp that lead to what is granted",
     "world": ["b/f", "b/l -> ../b", "b/d -> ../d", "b/e -> ../d", "d/f"],
     "policy": ["tmp ~/b/l", "read ~/b/d"],
     "rows": ["read ~/b/l allowed yes bwrap", "read ~/b/d/f allowed yes bwrap", "read ~/b/e/f refused no bwrap"]},
    {"name": "a tmp as what a seal excepts",
     "world": ["s/x/f"],
     "policy": ["write ~", "seal ~/s except ~/s/x", "tmp ~/s/x"],
     "rows": ["make ~/s/x/n allowed yes bwrap", "read ~/s/x/f allowed no bwrap", "make ~/s/n refused no bwrap"]},
    {"name": "a socket by the name of a link",
     "world": ["d/s =", "l -> d", "m -> d", "o/s -> ../d/s"],
     "policy": ["net allow unix ~/l/s compat \"a test\""],
     "rows": ["unix ~/l/s allowed yes", "unix ~/d/s allowed yes", "unix ~/m/s refused no bwrap",
              "unix ~/m/s allowed yes firejail landlock", "unix ~/o/s refused no bwrap"]},
    {"name": "a socket that is closed by its own name",
     "world": ["d/s =", "l -> d"],
     "policy": ["net allow unix ~/l/s compat \"a test\"", "net seal unix ~/d"],
     "rows": ["unix ~/l/s refused no", "unix ~/d/s refused no"]},
    {"name": "a number of processes, where those outside would count",
     "world": [],
     "policy": ["limits processes 500 best-effort"],
     "rows": ["limit processes=500 allowed no bwrap", "limit processes=500 refused yes firejail landlock"]},
    {"name": "a socket that a seal excepts, which opens no socket",
     "world": ["d/s =", "d/e/s ="],
     "policy": ["write ~", "seal ~/d except ~/d/s ~/d/e", "net allow unix ~/d/s ~/d/e/s compat \"a test\""],
     "rows": ["unix ~/d/s refused no bwrap", "unix ~/d/e/s allowed yes bwrap"]},
]


class Small(worlds.World):
    """"dir/", "file", "socket =", "link -> target", each beneath ~."""

    def __init__(self, entry, top, home, probe):
        self.work, self.other, self.home = top / "w", top / "o", home
        self.trees = [self.work, self.other, self.home]
        self.sockets, self.listening, self.closed = [], [], []
        for tree in self.trees:
            tree.mkdir(parents=True)
        for text in entry["world"]:
            name, _, what = text.partition(" ")
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith("/"):
                path.mkdir()
            elif what == "=":
                self.listen(path)
            elif what:
                path.symlink_to(what.split()[1])
            else:
                shutil.copy(probe, path)


class Fixed(policies.Policy):
    def __init__(self, entry, probe_directory, tilde):
        self.probe_directory, self.mode_host, self.read_only, self.made = probe_directory, False, False, []
        self.statements = []
        for text in entry["policy"]:
            section, text = text.split(" ", 1) if text.startswith(("net ", "limits ")) else ("fs", text)
            self.statements.append((section, text.replace("~", tilde)))


class Row(questions.Question):
    def __init__(self, text, tilde):
        self.text = text
        request, name, self.verdict, done, *self.backends = text.split(" ")
        name = name.replace("~", tilde)
        super().__init__(f"{request} {name.replace('=', ' ')}", f"{ACTIONS[request]} {'unix:' if request == 'unix' else ''}{name.split('=')[0]}")
        self.works = done == "yes"

    def expected(self, said, bare, case):
        return self.works


class Kind(session.Case):
    def __init__(self, launcher, entry):
        self.launcher = launcher
        launcher.clear()
        launcher.top.mkdir()
        tree = launcher.home / f"agree-{launcher.backend}"
        self.world = Small(entry, launcher.top, tree, launcher.probe)
        self.policy = Fixed(entry, launcher.probe.parent, str(tree))
        self.environment = {"HOME": str(launcher.home), "PATH": "/usr/bin:/bin", "PWD": str(self.world.work)}
        rows = [Row(text, str(tree)) for text in entry["rows"]]
        self.questions = [row for row in rows if not row.backends or launcher.backend in row.backends]


def differs(entry, row, said, got):
    if said.verdict == row.verdict and (got is None or questions.worked(got) == row.works):
        return []
    return [f"{entry['name']}: {row.text}: explain says {said.verdict} ({said.how}) {said.notes}, sbx-probe {got}"]


def one(kind, entry):
    """What is wrong."""
    kept = kind.world.home / entry["kept"] if "kept" in entry else None
    before = kept and (kept.read_bytes(), os.stat(kept).st_ino)
    stops = entry.get("stops", {}).get(kind.launcher.backend)
    result, why = kind.run()
    if stops and result is None and stops in why:
        said = kind.ask(kind.compile(kind.policy.statements, "asked"))
        result = [(row, words, None, None, None) for row, words in zip(kind.questions, said)]
    if result is None or (stops and not why):
        return [f"{entry['name']}: {why or 'the launch does not stop'}"]
    wrong = [text for row, said, _, got, _ in result for text in differs(entry, row, said[0], got)]
    if kept and (kept.read_bytes(), os.stat(kept).st_ino) != before:
        wrong.append(f"{entry['name']}: {entry['kept']} of the host's is another one now")
    return wrong


def run(launcher):
    """(how many rows, what is wrong)"""
    asked, wrong = 0, []
    for entry in KINDS:
        kind = Kind(launcher, entry)
        asked += len(kind.questions)
        wrong += one(kind, entry) if kind.questions else []
        kind.world.remove()
    return asked, wrong
