"""A session that stays, with client.py in it:

    with Session(made, blob, backend, work) as session:
        session.ask(target="key.test:443", tls="key.test", send="GET / HTTP/1.1...")
"""
import json
import select
import subprocess

import scan
import world

CLIENT = world.STAGE / "client.py"


class Session:
    def __init__(self, made, blob, backend, work, options=(), env=()):
        self.child = subprocess.Popen(
            ["setpriv", "--reuid", str(made.uid), "--regid", str(made.uid), "--clear-groups", *made.environment(env),
             world.STAGE / "build/sbx-exec", "--backend", backend, *options, blob, "--", "/usr/bin/python3", CLIENT],
            cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started = self.child.stdout.readline().strip() == "inside"
        self.why = "" if self.started else self.child.stderr.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.said = self.child.communicate(timeout=20)[1]  # by sbx-exec

    def hear(self, seconds=20):
        """Waits until sbx-exec has said something."""
        select.select([self.child.stderr], [], [], seconds)

    def order(self, **what):
        self.child.stdin.write(json.dumps(what) + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())

    def ask(self, **what):
        return self.order(**what)

    def environment(self, name):
        return self.order(environment=name)

    def get(self, host, path="/", port=443, headers=(), method="GET", body=""):
        """One request by CONNECT and TLS; what came back, the head and the body."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        return self.ask(target=f"{host}:{port}", tls=host, send="\r\n".join(lines) + "\r\n\r\n" + body)

    def proxies(self):
        return scan.proxies(self.child.pid)

    def inside(self):
        return scan.inside(self.child.pid)
