"""The network that the cases run in, and servers whose every byte a case decides."""
import contextlib
import os
import pathlib
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time

import driver

NAMES = {  # what the name server knows
    "good.test": ["203.0.113.10"], "a.good.test": ["203.0.113.10"], "notgood.test": ["203.0.113.10"],
    "other.test": ["203.0.113.11"], "api.test": ["203.0.113.12"], "narrow.test": ["203.0.113.13"],
    "plain.test": ["203.0.113.14"], "port.test": ["203.0.113.15"],
    "inner.test": ["127.0.0.1"], "private.test": ["10.1.2.3"], "metadata.test": ["169.254.169.254"],
    "mapped.test": ["::ffff:127.0.0.1"], "translated.test": ["::ffff:0:127.0.0.1"], "six.test": ["2001:db8::10"],
    "mixed.test": ["10.1.2.3", "203.0.113.10"], "two.test": ["203.0.113.99", "203.0.113.10"],
    "pinned.test": ["127.0.0.1"], "moved.test": ["203.0.113.10"],
}
POLICY = """language 1
policy "test" summary "A proxy's test"
import std/base
import std/syscalls
workspace $cwd
syscalls {
    default ENOSYS
    allow @default @network-io
}
net {
    mode proxy
"""


class Names:
    """A name server; asked: each name it was asked for."""

    def __init__(self):
        self.asked, self.silent = [], set()
        self.server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.server.bind(("127.0.0.53", 53))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            packet, peer = self.server.recvfrom(4096)
            labels, at = [], 12
            while packet[at]:
                labels.append(packet[at + 1:at + 1 + packet[at]].decode("latin-1"))
                at += 1 + packet[at]
            name, kind = ".".join(labels), struct.unpack_from("!H", packet, at + 1)[0]
            self.asked.append(name)
            if name in self.silent:
                continue
            found = [a for a in NAMES.get(name, []) if (kind == 28) == (":" in a)]
            records = b""
            for address in found:
                packed = socket.inet_pton(socket.AF_INET6 if kind == 28 else socket.AF_INET, address)
                records += struct.pack("!HHHIH", 0xC00C, kind, 1, 60, len(packed)) + packed
            head = struct.pack("!HHHHH", 0x8180 | (0 if name in NAMES else 3), 1, len(found), 0, 0)
            self.server.sendto(packet[:2] + head + packet[12:at + 5] + records, peer)


class Server:
    """Each connection is given to @serve(connection) in a thread of its own."""

    def __init__(self, address, serve, tls=None):
        self.serve, self.tls, self.connections, self.errors = serve, tls, [], []
        self.socket = socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(address)
        self.socket.listen(512)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.one, args=(connection,), daemon=True).start()

    def one(self, connection):
        connection.settimeout(20)
        self.connections.append(connection)
        try:
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
            with connection:
                self.serve(connection)
        except (OSError, ValueError) as error:
            self.errors.append(error)

    def end(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class World:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sbx-proxy."))
        for command in (["ip", "link", "set", "lo", "up"],
                        ["ip", "addr", "add", "203.0.113.0/24", "dev", "lo"],
                        ["ip", "-6", "addr", "add", "2001:db8::10/128", "dev", "lo", "nodad"],
                        ["ip", "addr", "add", "10.1.2.3/32", "dev", "lo"],
                        ["ip", "addr", "add", "169.254.169.254/32", "dev", "lo"]):
            subprocess.run(command, check=True)
        self.replace("/etc/resolv.conf", "nameserver 127.0.0.53\nsearch search.test\n")
        self.replace("/etc/hosts", "127.0.0.1 localhost\n203.0.113.16 hosts.test\n")
        self.names = Names()
        self.stack = contextlib.ExitStack()
        self.make_certificates()

    def replace(self, path, text):
        file = self.folder / os.path.basename(path)
        file.write_text(text)
        subprocess.run(["mount", "--bind", file, path], check=True)

    def make_certificates(self):
        """An authority, which stands for those of the world, and servers' certificates."""
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        openssl("req", "-x509", *key, "-subj", "/CN=test roots", "-keyout", "ca.key", "-out", "ca.pem",
                "-addext", "keyUsage=critical,keyCertSign", "-addext", "basicConstraints=critical,CA:TRUE")
        for name, hosts in (("good", "good.test,*.good.test,other.test,api.test,narrow.test,port.test"),
                            ("wrong", "elsewhere.test")):
            openssl("req", "-x509", *key, "-CA", "ca.pem", "-CAkey", "ca.key", "-subj", f"/CN={name}",
                    "-keyout", f"{name}.key", "-out", f"{name}.pem", "-addext", "basicConstraints=critical,CA:FALSE",
                    "-addext", "subjectAltName=" + ",".join("DNS:" + host for host in hosts.split(",")))
        openssl("req", "-x509", *key, "-subj", "/CN=private", "-keyout", "private.key", "-out", "private.pem",
                "-addext", "subjectAltName=DNS:narrow.test")
        self.roots = str(self.folder / "ca.pem")

    def tls(self, name="good"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        return context

    # -- for one case ---------------------------------------------------------------

    def end_case(self):
        self.stack.close()
        del self.names.asked[:]

    def blob(self, rules, rest=""):
        text = POLICY + "".join(f"    {rule}\n" for rule in rules) + "}\n" + rest
        return driver.compile_policy(text, self.folder)

    def proxy(self, *rules, rest="", **options):
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        proxy = driver.Proxy(self.blob(rules, rest), log=str(log), roots=self.roots, **options)
        return self.stack.enter_context(proxy)

    def server(self, address, serve, tls=None):
        server = Server(address, serve, tls)
        self.stack.callback(server.end)
        return server

    def trust(self, proxy):
        """A client inside that trusts the session's bundle."""
        bundle = self.folder / "bundle.pem"
        bundle.write_bytes(os.pread(proxy.bundle, 1 << 22, 0))
        context = ssl.create_default_context(cafile=str(bundle))
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        return context

    def __del__(self):
        shutil.rmtree(self.folder, ignore_errors=True)


# ---- what servers do ------------------------------------------------------------------

def echo(connection):
    """Sends back what comes, then, once the other side is done, `bye`."""
    while data := connection.recv(65536):
        connection.sendall(data)
    connection.sendall(b"bye")


def read_request(connection):
    """The head and the body of one request, as bytes; (b"", b"") at the end."""
    head = driver.read_head(connection)
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    body = b""
    if b"content-length" in fields:
        body = driver.read_exactly(connection, int(fields[b"content-length"]))
    elif fields.get(b"transfer-encoding") == b"chunked":
        body = read_chunks(connection)
    return head, body


def read_chunks(connection):
    body = b""
    while True:
        line = b""
        while not line.endswith(b"\r\n"):
            line += connection.recv(1) or b"cut off\r\n"
        size = int(line, 16)
        body += driver.read_exactly(connection, size)
        driver.read_exactly(connection, 2)
        if not size:
            return body


def answer(status=200, body=b"", fields=(), length=True):
    head = f"HTTP/1.1 {status} Some Reason\r\n" + "".join(field + "\r\n" for field in fields)
    if length:
        head += f"Content-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


class Recorder:
    """Serves requests one after the other; seen: (head, body) of each."""

    def __init__(self, reply=None):
        self.seen, self.reply = [], reply or (lambda head, body: answer(body=b"ok"))

    def __call__(self, connection):
        while True:
            head, body = read_request(connection)
            if not head:
                return
            self.seen.append((head, body))
            connection.sendall(self.reply(head, body))


def expect(seen, wanted):
    if seen != wanted:
        raise AssertionError(f"wanted {wanted!r}\n     got {seen!r}")


def expect_in(part, whole):
    if part not in whole:
        raise AssertionError(f"wanted {part!r}\n     in {whole!r}")


def eventually(condition, seconds=5, show=None):
    limit = time.time() + seconds
    while not condition():
        if time.time() > limit:
            raise AssertionError("it does not come to be" + (f": {show()}" if show else ""))
        time.sleep(0.01)
