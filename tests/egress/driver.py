"""Starts sbx-proxy as sbx-exec does, over the wire of blob/proxy_wire.h.

    with Proxy(blob, log=path) as proxy:
        connection = proxy.connect()

Nothing here knows how the proxy works: what a test sees is what a program inside
sees, the log, and the descriptors and memory of the process in /proc.
"""
import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("O", os.path.join(ROOT, "build"))

VERSION = 1
SESSION, READY, FAILED, LISTEN, NOTE, EXPECT, FORGET, SUMMARY = range(1, 9)
EXPECTED = 1


def sealed(name, content, seals=0xf):
    """A memory file that nobody changes any more: seal, shrink, grow, write."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(fd, content)
    fcntl.fcntl(fd, 1033, seals)  # F_ADD_SEALS
    return fd


def compile_policy(text, folder, name="test"):
    """The blob of a policy, as bytes."""
    source, blob = os.path.join(folder, name + ".pol"), os.path.join(folder, name + ".sbx")
    with open(source, "w", encoding="utf-8") as out:
        out.write(text)
    done = subprocess.run([os.path.join(BUILD, "sbxc"), source, "-o", blob],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise AssertionError("the test's policy does not compile:\n" + done.stdout)
    with open(blob, "rb") as file:
        return file.read()


class Failed(Exception):
    """PROXY_FAILED, with its text."""


class Proxy:
    """One session's proxy; values: the strings of PROXY_SESSION beside the session's name."""

    def __init__(self, blob, *, values=(), log=None, expected=False, roots=None, start=True,
                 program=None):
        self.program = program or os.environ.get("SBX_PROXY", os.path.join(BUILD, "sbx-proxy"))
        self.blob, self.values, self.log, self.expected = blob, list(values), log, expected
        self.roots = roots
        self.bundle = os.memfd_create("bundle", os.MFD_CLOEXEC)
        self.listener = None
        self.notes = []
        self.pid = 0
        if start:
            self.start()

    # -- the session ----------------------------------------------------------

    def spawn(self):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        error = 2 if "SBX_PROXY" in os.environ else null
        # A descriptor that is 3 already would stay close-on-exec.
        high = fcntl.fcntl(theirs.fileno(), fcntl.F_DUPFD_CLOEXEC, 16)
        theirs.close()
        env = {k: v for k, v in os.environ.items() if k in ("ASAN_OPTIONS", "UBSAN_OPTIONS")}
        self.pid = os.posix_spawn(self.program, ["sbx-proxy"], env, file_actions=[
            (os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1),
            (os.POSIX_SPAWN_DUP2, error, 2), (os.POSIX_SPAWN_DUP2, high, 3)])
        os.close(null)
        os.close(high)

    def say(self, kind, value=0, text="", fds=()):
        message = struct.pack("<Ii", kind, value) + (text.encode() + b"\0" if text else b"")
        socket.send_fds(self.control, [message], list(fds))

    def hear(self, timeout=20):
        """One message: kind, text."""
        ready, _, _ = select.select([self.control], [], [], timeout)
        if not ready:
            raise AssertionError("sbx-proxy says nothing")
        data = self.control.recv(4096)
        if not data:
            raise AssertionError("sbx-proxy has ended")
        kind, _ = struct.unpack("<Ii", data[:8])
        return kind, data[8:].split(b"\0")[0].decode()

    def open_session(self, version=VERSION, *, blob_seals=0xf, values_seals=0xf):
        strings = ["session test-1"] + self.values
        if self.roots:
            strings.append("roots " + self.roots)
        fds = [sealed("blob", self.blob, blob_seals),
               sealed("values", b"".join(s.encode() + b"\0" for s in strings), values_seals), self.bundle]
        if self.log:
            fds.append(os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC,
                               0o600))
        self.say(SESSION, version, fds=fds)
        for fd in fds:
            if fd != self.bundle:
                os.close(fd)

    def start(self):
        self.spawn()
        self.open_session()
        kind, text = self.hear()
        while kind == NOTE:
            self.notes.append(text)
            kind, text = self.hear()
        if kind != READY:
            raise Failed(text)
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(1024)
        self.address = self.listener.getsockname()
        self.say(LISTEN, EXPECTED if self.expected else 0, fds=[self.listener.fileno()])
        self.listener.close()

    def last_words(self):
        """Shuts our half of descriptor 3: what it says before it goes, as (value, text)"""
        self.control.shutdown(socket.SHUT_WR)
        said = []
        while data := self.control.recv(4096):
            kind, value = struct.unpack("<Ii", data[:8])
            text = data[8:].split(b"\0")[0].decode()
            said.append((value, text) if kind == SUMMARY else ("a note", text))
        return said

    def end(self):
        """Closes descriptor 3: the proxy has to go by itself.  Its exit status."""
        self.control.close()
        limit = time.time() + 10
        while time.time() < limit:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return status
            time.sleep(0.005)
        self.kill()
        raise AssertionError("sbx-proxy goes on although its session is over")

    def kill(self):
        if self.pid:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
            self.pid = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if not self.pid:
            return
        if kind:
            self.kill()
        elif self.end():
            raise AssertionError("sbx-proxy ended with an error")

    # -- what can be seen ------------------------------------------------------

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def at_rest(self):
        """How many descriptors there are once nothing goes on."""
        self.exchange(b"")
        count, same = -1, 0
        while same < 4:
            time.sleep(0.02)
            now = self.descriptors()
            count, same = now, same + 1 if now == count else 0
        return count

    def memory_kb(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmRSS"):
                    return int(line.split()[1])
        raise AssertionError("no VmRSS")

    def records(self, count=None, timeout=5):
        """The lines of the log; waits until there are @count."""
        limit = time.time() + timeout
        while True:
            with open(self.log, encoding="ascii") as file:
                lines = [json.loads(line) for line in file]
            if count is None or len(lines) >= count:
                return lines
            if time.time() > limit:
                raise AssertionError(f"the log has {len(lines)} lines, not {count}: {lines}")
            time.sleep(0.01)

    # -- what a program inside does ---------------------------------------------

    def connect(self, timeout=10):
        connection = socket.socket()
        connection.settimeout(timeout)
        if self.expected:
            connection.bind(("127.0.0.1", 0))
            self.say(EXPECT, connection.getsockname()[1])
        connection.connect(self.address)
        return connection

    def tunnel(self, host, port, timeout=10):
        """A connection behind CONNECT, or AssertionError with the answer."""
        connection = self.connect(timeout)
        connection.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        answer = read_head(connection)
        if not answer.startswith(b"HTTP/1.1 200 "):
            rest = read_all(connection)
            connection.close()
            raise AssertionError((answer + rest).decode("latin-1"))
        return connection

    def exchange(self, data, timeout=10):
        """All that comes back for these bytes until the proxy closes."""
        with self.connect(timeout) as connection:
            connection.sendall(data)
            if not data:
                connection.shutdown(socket.SHUT_WR)
            return read_all(connection)


def read_head(connection):
    """Up to the empty line, byte by byte: nothing behind it is taken."""
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            break
        data += byte
    return data


def read_all(connection):
    data = b""
    try:
        while True:
            part = connection.recv(65536)
            if not part:
                return data
            data += part
    except ConnectionResetError:
        return data


def read_exactly(connection, size):
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            break
        data += part
    return data
