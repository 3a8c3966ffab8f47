"""Random policies: one statement a module, so that each can be left out, and none is an
error for having no effect."""
import os

ENV_NAMES = ["A", "AB", "AB_TOKEN", "X_TOKEN", "B", "ABBA", "TMPDIR", "TMP", "PWD", "LANG"]
ENV_PATTERNS = ["A*", "*_TOKEN", "*B*", "A*B", "T*", "B*"]
DESCRIPTORS = [5, 6, 7]
ERROR = "EUCLEAN"  # no call here ends in it by itself

# Calls that do nothing, with arguments that a policy can look at: name -> one list of
# values for each argument.
WIDE = [0, 1, 2, 3, 5, 7, 8, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 32, (1 << 32) + 1, 1 << 63, (1 << 64) - 1]
NONE = (1 << 64) - 1
CALLS = {
    "ioctl": [("fd", [NONE]), ("request", WIDE + [0x5412, 0x4B00, 0x56FF])],
    "dup3": [("old", [NONE]), ("new", [90, 91]), ("flags", WIDE)],
    "socket": [("domain", [1, 2, 10, 16, 45, (1 << 32) + 1]), ("type", [1, 2, 3, 5, (1 << 32) + 2]), ("protocol", [0, 6, 17, 262])],
    "lseek": [("fd", [NONE]), ("offset", WIDE), ("whence", WIDE)],
    "flock": [("fd", [NONE]), ("operation", WIDE)],
    "madvise": [("addr", [1]), ("length", WIDE), ("advice", WIDE)],
    "mprotect": [("addr", [1]), ("length", WIDE), ("prot", WIDE)],
    "setpriority": [("which", [7, (1 << 32) + 7]), ("who", WIDE), ("priority", [0, 1, 9])],
    "sched_getparam": [("pid", [0x7FFFFFFF, NONE]), ("param", [0])],
    "setns": [("fd", [NONE]), ("flags", [0, 1])],
}
POINTERS = {"addr", "param"}
# What none of the questions needs more of: as the policy writes it, and how much that is.
LIMITS = {"memory": ("1G", 1 << 30), "processes": ("500", 500), "cpus": ("1", 1), "cpu-time": ("20m", 1200),
          "open-files": ("100", 100), "file-size": ("64M", 64 << 20), "core-size": ("1M", 1 << 20)}
SIGNATURES = """signature dup3 old:fd new:fd flags:uint
signature lseek fd:fd offset:long whence:uint
signature flock fd:fd operation:uint
signature sched_getparam pid:int param:pointer
"""


def quoted(text):
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


class Policy:
    """statements: (section, text), each of which can be left out."""

    def __init__(self, random, backend, world, probe_directory):
        self.random, self.backend, self.world = random, backend, world
        self.probe_directory = probe_directory
        self.made = []  # what a tmp or a copy stands at
        self.limits = [(name, *LIMITS[name]) for name in random.sample(list(LIMITS), random.choice([0, 0, 1, 3]))]
        self.files, self.denied = [], []
        self.mode_host = random.random() < 0.3
        self.read_only = random.random() < 0.1
        self.statements = [("fs", self.file()) for _ in range(random.randint(2, 9))]
        self.statements += [("env", self.variable()) for _ in range(random.randint(0, 6))]
        self.statements += [("syscalls", self.call()) for _ in range(random.randint(0, 5))]
        self.statements += [("net", self.socket()) for _ in range(random.randint(0, 3))]
        self.statements += [("process", self.process()) for _ in range(random.randint(0, 1))]
        soft = "" if backend == "bwrap" else " best-effort"
        self.statements += [("limits", f"{name} {text}{soft}") for name, text, _ in self.limits]

    # ---- files

    def pattern(self):
        parts = [self.random.choice(["*", "?", "**", "*.k", "a", "b", "[ab]"])
                 for _ in range(self.random.randint(1, 3))]
        if parts[-1] == "**" or not set("".join(parts)) & set("*?["):
            parts[-1] = "*"
        tree = self.random.choice(["$workspace", str(self.world.other), "~/" + self.world.home.name])
        return "/".join([tree] + parts)

    def somewhere(self):
        """Often in what a tmp or a copy stands at."""
        inside = [path for path in self.world.files + self.world.directories
                  if any(place in (path, *path.parents) for _, place in self.made)]
        if inside and self.random.random() < 0.4:
            path = self.random.choice(inside)
            return path / "n" if os.path.isdir(path) and self.random.random() < 0.2 else path
        return self.world.some()

    def file(self):
        wild = self.random.random() < 0.2
        path = None if wild else self.somewhere()
        text = self.pattern() if wild else quoted(path)
        flags = ""
        verbs = ["read", "exec", "write", "write exec", "deny", "deny write", "deny exec", "seal", "seal write"]
        verb = self.random.choice(verbs)
        if not wild and self.random.random() < (0.12 if self.backend == "bwrap" else 0.03) \
           and path not in self.world.trees and os.path.isdir(path):
            verb = self.random.choice(["tmp", "copy"])
            flags += "" if self.backend == "bwrap" else " best-effort"
            self.made.append((verb, path))
        elif not wild and self.random.random() < 0.05:
            verb, text, path = "tmp", self.random.choice(["/tmp", "/dev/shm"]), None
            flags += " best-effort"
            self.made.append((verb, type(self.world.work)(text)))
        if verb.startswith(("deny", "seal")):
            if self.backend == "landlock" and verb.startswith("deny") and self.random.random() < 0.9:
                flags += " best-effort"
            if wild:
                flags += " snapshot"
            if verb == "seal" and path and os.path.isdir(path) and self.random.random() < 0.3:
                flags += " except " + quoted(path / self.random.choice(["a", "b"]))
            if path and not os.path.exists(path) and self.random.random() < 0.3:
                flags += self.random.choice([" placeholder file", ' placeholder "{}"', " placeholder dir"])
            self.denied.append(str(path) if path else text)
        elif verb in ("read", "exec", "write", "write exec"):
            if path and not os.path.exists(path) or self.random.random() < 0.2:
                flags += " create" if path and not os.path.exists(path) and self.random.random() < 0.2 else " optional"
            if wild:
                flags = ""
        return f"{verb} {text}{flags}"

    # ---- the rest

    def variable(self):
        verb = self.random.choice(["pass", "pass", "set", "deny", "seal"])
        name = self.random.choice(ENV_NAMES)
        if verb == "set":
            value = str(self.world.other) if name.startswith("TMP") else self.random.choice(["v", "w x", "é"])
            return f"set {name} {quoted(value)}"
        if self.random.random() < 0.4:
            name = self.random.choice(ENV_PATTERNS)
        return f"{verb} {name}" + (' compat "a test"' if verb == "pass" else "")

    def condition(self, name):
        argument, values = self.random.choice([item for item in CALLS[name] if item[0] not in POINTERS])
        value = self.random.choice([v for v in values if v < 1 << 31] or [5])
        form = self.random.randrange(4)
        if form == 0:
            return f"{argument} in {value} {value + 1} 77"
        if form == 1:
            mask = self.random.choice([1, 3, 8, 0xFF])
            return f"{argument} & {mask} {self.random.choice(['==', '!='])} {self.random.choice([0, mask])}"
        return f"{argument} {self.random.choice(['==', '!=', '<', '>=', '<=', '>'])} {value}"

    def call(self):
        name = self.random.choice(list(CALLS))
        verb = self.random.choice(["allow", "deny", "deny", "deny", "seal"])
        text = f"{verb} {name}"
        if self.random.random() < 0.7:
            text += " where " + " and ".join(self.condition(name) for _ in range(self.random.randint(1, 2)))
        if verb != "allow":
            text += self.random.choice([f" with {ERROR}"] * 3 + [" with kill"])
            if self.random.random() < 0.25:
                text += self.random.choice([" without namespaces", " without network", " without tcp"])
        return text

    def socket(self):
        what = self.random.random()
        if what < 0.7 and self.world.sockets:
            path = self.random.choice(self.world.sockets)
            if self.random.random() < 0.2:
                path = path.parent
            return f'allow unix {quoted(path)} compat "a test"' + (" optional" if self.random.random() < 0.3 else "")
        if what < 0.85 and (self.mode_host or self.backend == "landlock"):
            return 'allow abstract sbx-agree-%s compat "a test"' % self.random.choice(["one", "two"])
        return "listen %d best-effort" % self.random.choice([18080, 18081])

    def process(self):
        if self.random.random() < 0.7:
            return "pass fd %d" % self.random.choice(DESCRIPTORS)
        return self.random.choice(["terminal none", 'share terminals compat "a test"'])

    def write(self, directory, statements):
        """policy.pol, with a module for each of the statements."""
        imports = []
        own = [text for section, text in statements if section == "limits"]  # no module has any
        for number, (section, text) in enumerate(statements):
            if section == "limits":
                continue
            name = f"m{number}.pol"
            imports.append(f"import m{number}")
            lines = f'language 1\nmodule "m{number}"\n'
            lines += "import std/syscalls\n" if section == "syscalls" else ""
            (directory / name).write_text(lines + f"{section} {{ {text} }}\n")
        mode = 'mode host compat "a test"' if self.mode_host else "mode none"
        (directory / "calls.pol").write_text('language 1\nmodule "calls"\n' + SIGNATURES)
        (directory / "policy.pol").write_text("\n".join([
            "language 1", 'policy "agree"', "import std/rig-alone", "import calls", *imports,
            "workspace $cwd" + (" read" if self.read_only else ""), "command /bin/true",
            f"fs {{ exec {quoted(self.probe_directory)} }}",
            "syscalls { default ENOSYS }", f"net {{ {mode} }}", f"limits {{ {'; '.join(own)} }}" if own else "", ""]))
        return directory / "policy.pol"
