"""Random questions: what `sbxc explain` is asked, what sbx-probe then does, and what
the one says about the other.

A question has one request to sbx-probe and one or two questions to explain.  expected()
is True (it must work), False (it must not), a text (that is the answer) or None: what
explain says does not tell, as where the kernel refuses it outside a sandbox too.
"""
import os
import stat

from policies import CALLS, DESCRIPTORS, ENV_NAMES, ERROR, LIMITS

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
        if action == "exec":
            self.asks.append(f"read {escaped(path)}")

    def expected(self, said, bare, case):
        if not said[0].allowed:
            return False
        origin = case.origin(said[-1])
        if origin == "tmp" and self.verb == "read" and case.is_made(self.path):
            return True
        if origin == "tmp":
            return case.unless_named(self.path, False)
        if origin == "copy" and not worked(bare):
            return None  # modes of the host's file are not all kept
        return worked(bare)


class Make(Path):
    """make, mkdir, over: a name that is not there, or a new one in a directory."""

    def __init__(self, path, verb="make"):
        super().__init__(verb, "write", path)
        if verb == "over":
            self.asks.append(f"write {escaped(path.parent)}")

    def expected(self, said, bare, case):
        if not all(one.allowed for one in said):
            return False
        origin = case.origin(said[0])
        if origin == "tmp":
            return True if case.is_made(self.path.parent) else case.unless_named(self.path.parent, False)
        if said[0].has("until it is made", "a launch skips"):
            return False
        if said[0].has("a launch makes"):  # a directory, which another may go over
            return False if said[0].has(f"{case.real(self.path)} does not exist") and self.verb != "over" else None
        if case.masks and said[0].has("where there are masks"):
            return False
        if not os.path.exists(self.path.parent) and case.masks:
            return None  # a launch can make it, to hold another name
        if origin == "copy" and not worked(bare):
            return None
        return worked(bare)


class Absent(Path):
    """To read a name that is not there, or to write by a link to nothing."""

    def expected(self, said, bare, case):
        made = said[0].allowed and said[0].has("where there are masks", "a launch makes")
        return None if made else case.unless_named(self.path, False) if case.origin(said[0]) else False


class Change(Path):
    """move, exchange, link, unlink: its directory changes, too.  @path: without links on its
    way, which may lead through what is moved, so that the way back is none."""

    def __init__(self, verb, path):
        super().__init__(verb, "write", path)
        self.asks.append(f"write {escaped(path.parent)}")

    def expected(self, said, bare, case):
        if not said[0].allowed or not said[1].allowed:
            return False
        origin = case.origin(said[0])
        if origin == "tmp":
            return case.unless_named(self.path, False)
        if case.is_spoken_of(self.path) or (origin == "copy" and not worked(bare)):
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


class Limit(Question):
    def __init__(self, name, value):
        super().__init__(f"limit {name} {value}", f"limit {name}")

    def expected(self, said, bare, case):
        return False if said[0].allowed else True if worked(bare) else None


def of_limits(random, policy):
    """More than the policy lets pass, or than it would."""
    set_here = {name: value for name, _, value in policy.limits}
    name = random.choice(list(set_here) or list(LIMITS))
    return Limit(name, set_here.get(name, LIMITS[name][1]))


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
            return Absent(*random.choice([("read", "read"), ("write", "write")]), path)
        return random.choice([Make(path), Make(path, "mkdir"), Make(path, "over"), Absent("read", "read", path)])
    if stat.S_ISSOCK(mode):
        return Question(f"unix {escaped(path)}", f"connect unix:{escaped(path)}")
    link = os.path.islink(path)
    if stat.S_ISDIR(mode):
        if path in world.trees or link:
            return random.choice([Path("read", "read", path), Make(path / PROBE_SUFFIX)])
        return random.choice([Path("read", "read", path), Make(path / PROBE_SUFFIX, random.choice(["make", "mkdir"])),
                              Change("move", case.real(path))])
    plain = [Path("read", "read", path), Path("write", "write", path), Path("run", "exec", path)]
    if link:
        return random.choice(plain)
    # What is taken away and made anew has to be read for that.
    ways = ["move", "exchange"] + (["unlink", "link"] if mode & stat.S_IRUSR else [])
    return random.choice(plain + [Change(random.choice(ways), case.real(path)) for _ in plain[1:]])


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
    if what < 0.96:
        return Descriptor(random.choice(DESCRIPTORS))
    if what < 0.98:
        return of_limits(random, policy)
    return random.choice([Question("use user-namespaces", "use user-namespaces"), Terminal()])
