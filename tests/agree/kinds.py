"""Kinds of question whose answers once parted: each a small world, a policy, and what explain
and the kernel both have to say, on each backend.

A row is "REQUEST NAME VERDICT DONE [BACKEND ...]": what sbx-probe is asked, what explain says
(allowed, refused), whether it then works (yes, no); without backends on all of them.  ~ is a
tree in the home.  A launch that has to stop is the row "launch TEXT-OF-THE-MESSAGE BACKEND ...".
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
           "unlink": "write", "link": "write", "move": "write"}
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
    {"name": "what a seal in a tmp excepts",
     "world": ["t/s/x", "t/w/x"],
     "policy": ["tmp ~/t", "exec ~/t", "seal ~/t/s except ~/t/s/x", "seal write ~/t/w except ~/t/w/x"],
     "rows": ["read ~/t/s/x refused no bwrap", "write ~/t/s/x refused no bwrap", "run ~/t/s/x refused no bwrap",
              "make ~/t/w/x refused no bwrap", "make ~/t/n allowed yes bwrap"]},
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
            section, text = text.split(" ", 1) if text.startswith("net ") else ("fs", text)
            self.statements.append((section, text.replace("~", tilde)))


class Row(questions.Question):
    def __init__(self, text, tilde):
        self.text = text
        request, name, self.verdict, done, *self.backends = text.split(" ")
        name = name.replace("~", tilde)
        super().__init__(f"{request} {name}", f"{ACTIONS[request]} {'unix:' if request == 'unix' else ''}{name}")
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


def run(launcher):
    """(how many rows, what is wrong)"""
    asked, wrong = 0, []
    for entry in KINDS:
        kind = Kind(launcher, entry)
        kept = tree_file = None
        if "kept" in entry:
            tree_file = kind.world.home / entry["kept"]
            kept = tree_file.read_bytes(), os.stat(tree_file).st_ino
        result, why = kind.run() if kind.questions else ([], None)
        if result is None:
            wrong.append(f"{entry['name']}: {why}")
        for row, said, wanted, got, _ in result or []:
            asked += 1
            if said[0].verdict != row.verdict or questions.worked(got) != wanted:
                wrong.append(f"{entry['name']}: {row.text}: explain says {said[0].verdict} ({said[0].how}) "
                             f"{said[0].notes}, sbx-probe {got}")
        if kept and (tree_file.read_bytes(), os.stat(tree_file).st_ino) != kept:
            wrong.append(f"{entry['name']}: {entry['kept']} of the host's is another one now")
        kind.world.remove()
    return asked, wrong
