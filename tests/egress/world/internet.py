#!/usr/bin/python3
"""What is on the other side: a network namespace with DNS, TLS servers (nginx before
a server of our own) and one that lies.  usage: internet.py DIR; `joined` on standard
input says that the link is there; `ready` on standard output, that all serve."""
import base64
import ctypes
import hashlib
import http.server
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
import time

import dns
from arrivals import Arrivals, bound, start
from names import ELSEWHERE, HOSTS

CLONE_NEWNET, PR_SET_PDEATHSIG = 0x40000000, 1
WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Backend(http.server.BaseHTTPRequestHandler):
    """Behind nginx."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def handle_one(self):
        path = self.path.partition("?")[0]
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if self.headers.get("X-Git"):
            return self.git(body)
        if self.headers.get("Upgrade") == "websocket":
            return self.websocket()
        if path == "/events":
            return self.events()
        said = json.dumps({"host": self.headers["X-Asked-Host"], "method": self.command, "path": self.path,
                           "headers": self.headers.items(), "body": body.decode("latin-1")}).encode()
        with open(self.server.log, "ab") as log:
            log.write(said + b"\n")
        status = 401 if path == "/wrong" else 200
        self.answer(status, said, {"Content-Type": "application/json"})

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = handle_one

    def answer(self, status, body, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def events(self):
        """Five, a fifth of a second apart."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for number in range(5):
            self.wfile.write(f"data: {number} {time.time():.3f}\n\n".encode())
            time.sleep(0.2)
        self.close_connection = True

    def websocket(self):
        """Sends back each short text frame."""
        key = base64.b64encode(hashlib.sha1((self.headers["Sec-WebSocket-Key"] + WEBSOCKET).encode()).digest())
        self.send_response(101)
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", key.decode())):
            self.send_header(name, value)
        self.end_headers()
        while len(head := self.rfile.read(2)) == 2:
            length = head[1] & 127
            mask = self.rfile.read(4)
            text = bytes(byte ^ mask[i % 4] for i, byte in enumerate(self.rfile.read(length)))
            self.wfile.write(bytes([0x81, length]) + text)
        self.close_connection = True

    def git(self, body):
        path, _, query = self.path.partition("?")
        if self.headers.get("Content-Encoding") == "gzip":
            import gzip
            body = gzip.decompress(body)
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env={
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": self.server.repositories, "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command,
            "GIT_PROTOCOL": self.headers.get("Git-Protocol") or "", "REMOTE_ADDR": "-", "CONTENT_LENGTH": str(len(body)),
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
            "CONTENT_TYPE": self.headers.get("Content-Type") or ""}).stdout
        head, _, content = done.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.answer(int(headers.pop("Status", "200").split()[0]), content, headers)


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that goes away is no news here."""


def lie(connection):
    """Each path is a way in which a server goes wrong."""
    with connection, connection.makefile("rb") as reader:
        path = reader.readline().split()[1].decode()
        while reader.readline().strip():
            pass
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
        if path == "/stall":
            time.sleep(30)
        elif path == "/reset":
            connection.sendall(head + b"Content-Length: 100\r\n\r\nten bytes.")
            raw = connection.unwrap_socket
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        elif path == "/short":
            connection.sendall(head + b"Content-Length: 100\r\n\r\nten bytes.")
        elif path == "/long":
            connection.sendall(head + b"Content-Length: 5\r\n\r\nten bytes.HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        elif path == "/both":
            connection.sendall(head + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")


def liars(listener, context):
    def one(raw):
        try:
            connection = context.wrap_socket(raw, server_side=True)
            connection.unwrap_socket = raw
            lie(connection)
        except (OSError, IndexError, AttributeError):
            pass
    while True:
        start(one, listener.accept()[0])


def nginx(place):
    """One server a name; what differs is said in its line."""
    good = "ssl_certificate {0}/tls/good.pem; ssl_certificate_key {0}/tls/good.key;".format(place)
    pass_on = "proxy_pass http://127.0.0.1:8001; proxy_http_version 1.1; proxy_buffering off; " \
        "proxy_set_header Host $host; proxy_set_header X-Asked-Host $http_host; " \
        "proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $http_connection;"
    bad = {name: f"ssl_certificate {place}/tls/{name}.pem; ssl_certificate_key {place}/tls/{name}.key;"
           for name in ("self", "wrong", "old")}
    servers = []
    for name, address in HOSTS.items():
        if name in ("liar.test", "none.test", "home.test"):
            continue
        certificate = bad.get(name.partition(".")[0], good)
        where = {"git.test": pass_on + " proxy_set_header X-Git yes;"}.get(name, pass_on)
        if name == "api.anthropic.com":
            where = where.replace("8001", "8002")
        at = f"[{address}]" if ":" in address else address
        files = "" if name == "git.test" else f"location /files/ {{ root {place}/www; }}"
        if name in ("npm.test", "pypi.test"):
            where = f"root {place}/www/{name}; default_type application/json; index index.html index.json;"
        servers.append(f"""server {{
            listen {at}:80; listen {at}:443 ssl http2; server_name {name};
            {certificate} location / {{ {where} }} {files} }}""")
    config = place / "nginx.conf"
    config.write_text(f"""daemon off; master_process off; pid {place}/nginx.pid; error_log {place}/nginx.log; user root;
        events {{ worker_connections 1024; }}
        http {{ access_log off; keepalive_requests 100000; default_type text/plain; server_names_hash_bucket_size 128; gzip on; gzip_types *;
            gzip_min_length 1; types {{ text/html html; }} client_max_body_size 64m;
            client_body_temp_path {place}/nginx-body; proxy_temp_path {place}/nginx-proxy;
            fastcgi_temp_path {place}/nginx-f; uwsgi_temp_path {place}/nginx-u; scgi_temp_path {place}/nginx-s;
            {' '.join(servers)} }}""")
    return subprocess.Popen(["/usr/sbin/nginx", "-e", place / "nginx.log", "-c", config], stdout=subprocess.DEVNULL,
                            preexec_fn=lambda: ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL))


def serves(host, port):
    for _ in range(200):
        try:
            socket.create_connection((host, port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f"nothing serves at {host}:{port}")


def main():
    place = pathlib.Path(sys.argv[1])
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    print("apart", flush=True)
    sys.stdin.readline()
    addresses = [("in", f"{address}/24") for address in sorted({a for a in HOSTS.values() if a and a[:3] == "203"})]
    addresses += [("in", "203.0.113.53/24"), ("in", "2001:db8::10/64")] + [("lo", f"{a}/32") for a in ELSEWHERE]
    for interface, address in addresses:
        subprocess.run(["ip", "addr", "add", address, "dev", interface] + ["nodad"] * (":" in address), check=True)
    for interface in ("lo", "in"):
        subprocess.run(["ip", "link", "set", interface, "up"], check=True)
    pathlib.Path("/proc/sys/net/ipv4/tcp_fastopen").write_text("3")

    arrivals = Arrivals(place / "arrivals")
    arrivals.sniff("in")
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        for port in (22, 9999):
            listener = bound(family, socket.SOCK_STREAM, (address, port))
            listener.setsockopt(socket.IPPROTO_TCP, 23, 16)  # TCP_FASTOPEN
            arrivals.listen(listener, "elsewhere")
    multipath = bound(socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", 9998), 262)
    arrivals.listen(multipath, "elsewhere")
    dns.serve(place / "dns")

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(place / "tls/good.pem", place / "tls/good.key")
    liar = bound(socket.AF_INET, socket.SOCK_STREAM, (HOSTS["liar.test"], 443))
    liar.listen(16)
    start(liars, liar, context)
    backend = Server(("127.0.0.1", 8001), Backend)
    backend.log, backend.repositories = place / "requests", place / "repositories"
    start(backend.serve_forever)
    started = nginx(place)
    serves("127.0.0.1", 8001)
    serves(HOSTS["open.test"], 443)
    print("ready", flush=True)
    sys.stdin.read()  # until our parent closes it, or ends
    started.terminate()
    started.wait()


main()
