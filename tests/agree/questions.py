"""Random questions: what `sbxc explain` is asked, what sbx-probe then does, and what
the one says about the other.

A question has one request to sbx-probe and one or two questions to explain.  expected()
is True (it must work), False (it must not), a text (that is the answer) or None: what
explain says does not tell, as where the kernel refuses it outside a sandbox too.
"""
import os
import stat

from policies import CALLS, DESCRIPTORS, ENV_NAMES, ERROR

PROBE_SUFFIX = ".sbx-probe"
EUCLEAN, SIGSYS = 117, 31
ERRORS = {"EUCLEAN": EUCLEAN, "EPERM": 1, "ENOSYS": 38, "EAFNOSUPPORT": 97, "EOPNOTSUPP": 95, "ENOTTY": 25}
HOST = ["/etc/passwd", "/etc/hostname", "/usr/lib", "/usr/bin/env", "/bin/sh", "/var/tmp", "/tmp", "/dev/null",
        "/dev/full", "/dev/shm", "/proc/self/status", "/proc/sys/kernel/ostype", "/sys/kernel", "/run", "/home", "/",
        "/proc/1/environ", "/etc", "/opt", "/root", "/tmp/x", "/dev/shm/x", "/dev/pts", "/dev/ptmx"]


def escaped(text):
    return "".join(chr(b) if 0x20 < b < 0x7F and b != 0x25 else f"%{b:02x}" for b in os.fsencode(str(text)))


def worked(answer):
    return answer == "ok" or answer == "gone" or answer.startswith("value ")


class Question:
    path = None

    def __init__(self, request, *asks):
        self.request, self.asks = request, list(asks)

    def __str__(self):
        return self.asks[0]

    def expected(self, said, bare, case):
        """@said: what explain answered, one for each question to it."""
        if said[0].has("SOCK_CLOEXEC alone", "may not be there"):
            return None  # the probe asks for one kind; explain does not say
        if not said[0].allowed:
            return False
        return True if worked(bare) else None


class Path(Question):
    """read, write, run: of what is there."""

    def __init__(self, verb, action, path):
        super().__init__(f"{verb} {escaped(path)}", f"{action} {escaped(path)}")
        self.verb, self.path = verb, path

    def expected(self, said, bare, case):
        made = case.made(self.path)
        if not said[0].allowed:
            return False
        if made and case.is_mixed(self.path):
            return None
        if made == "tmp":
            return True if case.is_made(self.path) and self.verb == "read" else False
        if made == "copy" and not worked(bare):
            return None  # modes of the host's file are not all kept
        return worked(bare)


class Make(Path):
    """A name that is not there, or a new one in a directory."""

    def __init__(self, path):
        super().__init__("make", "write", path)

    def expected(self, said, bare, case):
        if not said[0].allowed:
            return False
        if case.made(self.path) and case.is_mixed(self.path):
            return None
        if case.made(self.path) == "tmp":
            return case.is_made(self.path.parent)
        if said[0].has("until it is made", "a launch skips"):
            return False
        if said[0].has("a launch makes"):
            return False if said[0].has(f"{case.real(self.path)} does not exist") else None
        if case.masks and said[0].has("where there are masks"):
            return False
        if not os.path.exists(self.path.parent) and case.masks:
            return None  # a launch can make it, to hold another name
        return worked(bare)


class Absent(Path):
    """To read a name that is not there."""

    def expected(self, said, bare, case):
        if case.made(self.path) and case.is_mixed(self.path):
            return None  # what is held in it is made there
        made = said[0].allowed and said[0].has("where there are masks", "a launch makes")
        return None if made else False


class Move(Path):
    """move, exchange: its directory changes, too.  @path: without links on its way, which may
    lead through what is moved, so that the way back is none."""

    def __init__(self, verb, path):
        super().__init__(verb, "write", path)
        self.asks.append(f"write {escaped(path.parent)}")

    def expected(self, said, bare, case):
        if not said[0].allowed or not said[1].allowed:
            return False
        if case.made(self.path) and case.is_mixed(self.path):
            return None
        if case.made(self.path) == "tmp":
            return False
        if case.is_spoken_of(self.path):
            return None  # a mount of its own, or one beneath it, which nothing moves
        return worked(bare)


class Variable(Question):
    def __init__(self, name):
        super().__init__(f"env {name}", f"see {name}")
        self.name = name

    def expected(self, said, bare, case):
        if not said[0].allowed:
            return False
        if said[0].has("sbx-exec sets it"):
            return True
        if said[0].rule.startswith("set "):
            word = said[0].rule.split(" ", 2)[2].strip('"')
            return True if word[0] in "~$" else "value " + escaped(word)
        outside = case.environment.get(self.name)
        return False if outside is None else True if self.name == "PWD" else "value " + escaped(outside)


class Call(Question):
    def __init__(self, name, number, values):
        words = " ".join(f"arg{n}={value:#x}" for n, value in enumerate(values))
        super().__init__("call " + " ".join(map(str, [number, *values])), f"call {name} {words}")

    def expected(self, said, bare, case):
        if said[0].allowed:
            return bare
        if "killed" in said[0].how:
            return f"signal {SIGSYS}"
        number = ERRORS.get(said[0].how)
        answer = f"error {number}"
        return None if answer == bare or number is None else answer


class Terminal(Question):
    def __init__(self):
        super().__init__("use pty", "use pty")

    def expected(self, said, bare, case):
        if any(" ioctl" in text for _, text in case.policy.statements):
            return None  # the probe uses it
        return super().expected(said, bare, case)


class Descriptor(Question):
    def __init__(self, number):
        super().__init__(f"fd {number}", f"use fd:{number}")


def of_files(random, world, policy, case):
    path = world.some()
    if random.random() < 0.12:
        path = type(path)(random.choice(HOST))
        if os.path.isdir(path) or not os.path.exists(path):
            return Path("read", "read", path)
        return random.choice([Path("read", "read", path), Path("exec", "exec", path)])
    if policy.denied and random.random() < 0.3:
        near = random.choice(policy.denied)
        if near.startswith("/") and not set(near) & set("*?["):
            path = type(path)(near)
            path = random.choice([path, path / "a", path.parent, path.parent / "n"])
    if not path.is_absolute() or not case.own(path):
        path = world.some()
    try:
        mode = os.stat(path).st_mode
    except OSError:
        if os.path.islink(path):
            return Path(*random.choice([("read", "read"), ("write", "write")]), path)
        return random.choice([Make(path), Make(path), Absent("read", "read", path)])
    if stat.S_ISSOCK(mode):
        return Question(f"unix {escaped(path)}", f"connect unix:{escaped(path)}")
    link = os.path.islink(path)
    if stat.S_ISDIR(mode):
        if path in world.trees or link:
            return random.choice([Path("read", "read", path), Make(path / PROBE_SUFFIX)])
        return random.choice([Path("read", "read", path), Make(path / PROBE_SUFFIX), Move("move", case.real(path))])
    plain = [Path("read", "read", path), Path("write", "write", path), Path("run", "exec", path)]
    return random.choice(plain if link else plain + [Move("move", case.real(path)), Move("exchange", case.real(path))])


def of_calls(random, numbers):
    name = random.choice(list(CALLS))
    values = [random.choice(values) for _, values in CALLS[name]]
    return Call(name, numbers[name], values + [0] * (6 - len(values)))


def of_sockets(random, world, case):
    what = random.random()
    if what < 0.4:
        return Question(f"tcp {case.port}", f"connect 127.0.0.1:{case.port}")
    if what < 0.6:
        name = random.choice(["one", "two"])
        return Question(f"abstract {case.abstract[name]}", f"connect abstract:{case.abstract[name]}")
    if not world.sockets:
        return Question("use user-namespaces", "use user-namespaces")
    path = random.choice(world.sockets)
    return Question(f"unix {escaped(path)}", f"connect unix:{escaped(path)}")


def some(random, world, policy, case):
    what = random.random()
    if what < 0.6:
        return of_files(random, world, policy, case)
    if what < 0.7:
        return Variable(random.choice(ENV_NAMES + ["TEMP", "OLDPWD", "HOME", "PATH"]))
    if what < 0.84:
        return of_calls(random, case.numbers)
    if what < 0.94:
        return of_sockets(random, world, case)
    if what < 0.97:
        return Descriptor(random.choice(DESCRIPTORS))
    return random.choice([Question("use user-namespaces", "use user-namespaces"), Terminal()])
