"""sbx-chaperon as sbx-exec starts it, and clients that speak to it."""
import array
import json
import fcntl
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import time

MAGIC, VERSION = 0x53584253, 1
SESSION, READY, FAILED, LISTEN, NOTE = 1, 2, 3, 4, 5
HELLO, ARGUMENT, ENV, CWD, SCRIPT, NO_SCRIPT, RUN, INPUT, RESIZE, SIGNAL = range(1, 11)
WANT_SCRIPT, WANT_INPUT, OUTPUT, ERROR, TERMINAL, EXIT = range(64, 70)
NAMES = ("sbatch", "srun", "squeue", "scancel", "scontrol", "sacct", "sinfo", "sdiag", "sshare", "salloc",
         "sattach", "sacctmgr", "sreport", "sbx-budget")


def frame(kind, body=b"", magic=MAGIC, version=VERSION, size=None):
    return struct.pack("<IBBHI", magic, version, kind, 0, len(body) if size is None else size) + body


def request(words, cwd, environment=()):
    out = frame(HELLO, struct.pack("<IHH", 0, 24, 80))
    for word in words:
        out += frame(ARGUMENT, os.fsencode(word))
    for variable in environment:
        out += frame(ENV, variable.encode())
    return out + frame(CWD, str(cwd).encode()) + frame(RUN)


def memory_file(data, sealed=True):
    fd = os.memfd_create("sbx", os.MFD_ALLOW_SEALING)
    os.write(fd, data)
    if sealed:
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE)
    return fd


class Session:
    """One session of the project at @place/project; another with the same place shares its record."""

    count = 0

    def __init__(self, world, place, policy="session.pol", environment=None, shipped=False, more=(), sealed=True):
        Session.count += 1
        self.world, self.place, self.number, self.more, self.sealed = world, place, Session.count, more, sealed
        # With sanitizers, but where it is measured.
        self.built = world.out / ("sbx-chaperon" if shipped else "tests/slurm/sbx-chaperon")
        self.faults = place / f"faults-{self.number}"
        self.project, self.clients = place / "project", place / "clients"
        for directory in (place, self.project, self.clients):
            directory.mkdir(exist_ok=True)
            os.chown(directory, world.uid, world.uid)
        for name in NAMES:
            if not (self.clients / name).exists():
                shutil.copy(world.out / "sbx-slurm", self.clients / name)
        self.blob = place / "session.sbx"
        self.log = place / f"log-{self.number}"
        subprocess.run([world.out / "sbxc", "-o", self.blob, pathlib.Path(__file__).resolve().parent / policy], check=True)
        self.notes = []
        self.start(environment or {"SLURM_CONF": str(world.cluster.conf) if world.cluster else "/nowhere"})

    def values(self, environment):
        place = self.place
        out = [f"session s{self.number}", "backend bwrap", f"home {self.world.home}", f"user {self.world.user}",
               f"state {place}/state", f"jobs {place}/jobs", f"var workspace={self.project}", f"var cwd={self.project}",
               f"var home={self.world.home}", f"var user={self.world.user}"]
        out += [f"env {name}={value}" for name, value in environment.items()]
        out += self.more
        return "".join(line + "\0" for line in out).encode()

    def start(self, environment):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = self.place / f"sbx-chaperon-{self.number}"
        shutil.copy(self.built, program)
        self.process = subprocess.Popen(["/bin/bash", "-c", f'exec -c "$0" 3<&{theirs.fileno()} {theirs.fileno()}<&-', program],
                                        pass_fds=[theirs.fileno()], user=self.world.uid, group=self.world.uid, extra_groups=[],
                                        env={}, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=open(self.faults, "w"))
        theirs.close()
        self.control = ours
        log = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        fds = [memory_file(self.blob.read_bytes(), self.sealed), memory_file(self.values(environment)), log]
        ours.sendmsg([struct.pack("<Ii", SESSION, VERSION)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
        for fd in fds:
            os.close(fd)
        ours.settimeout(60)
        while True:
            message = ours.recv(2000)
            kind, text = struct.unpack_from("<I", message)[0], message[8:].split(b"\0")[0].decode()
            if kind != NOTE:
                break
            self.notes.append(text)
        if kind != READY:
            raise SystemExit(f"sbx-chaperon: {text}")
        self.path = self.place / f"socket-{self.number}"
        self.path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.path))
        os.chown(self.path, self.world.uid, self.world.uid)
        listener.listen(128)
        ours.sendmsg([struct.pack("<Ii", LISTEN, 0)],
                     [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener.fileno()]))])
        listener.close()

    def end(self):
        """What a sanitizer had to say; "" is good."""
        self.control.close()
        self.process.wait(10)
        return self.faults.read_text()

    def popen(self, *words, cwd=None, environment=None, **more):
        variables = {"SBX_SLURM_SOCKET": str(self.path), "PATH": "/usr/bin:/bin", **(environment or {})}
        return subprocess.Popen([self.clients / words[0], *words[1:]], user=self.world.uid, group=self.world.uid, extra_groups=[],
                                cwd=cwd or self.project, env=variables, text=True, **more)

    def run(self, *words, stdin="", **more):
        """A command, as a program inside calls it: (status, output, errors)."""
        process = self.popen(*words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        out, errors = process.communicate(stdin, timeout=60)
        return process.returncode, out, errors

    def connect(self):
        raw = socket.socket(socket.AF_UNIX)
        raw.settimeout(30)
        # The peer's uid is checked: it is the user's process that connects.
        os.seteuid(self.world.uid)
        try:
            raw.connect(str(self.path))
        finally:
            os.seteuid(0)
        return raw

    def lines(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def resident(self):
        """In kB, of its own."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(("RssAnon:",)):
                return int(line.split()[1])
        return 0


def hear(raw):
    """All frames until the end: {kind: bytes}, and how long it took."""
    start, data = time.monotonic(), b""
    try:
        while piece := raw.recv(65536):
            data += piece
    except ConnectionResetError:
        pass
    heard = {}
    while len(data) >= 12:
        _, _, kind, _, size = struct.unpack_from("<IBBHI", data)
        heard[kind] = heard.get(kind, b"") + data[12:12 + size]
        data = data[12 + size:]
    return heard, time.monotonic() - start
