"""Real clients through the proxy: curl, git, npm, pip from allowed hosts; refused ones are
told by which rule.  And a key that nobody inside ever holds."""
import contextlib
import hashlib
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import time

import scan
import suite
import world
from session import Session

HERE = pathlib.Path(__file__).resolve().parent
KEY, TOKEN = "sk-world-" + secrets.token_hex(16), "login-" + secrets.token_hex(16)
REFUSED = "sbx: {} refused: "

# How docs/egress.md has ssh go out, with what ssh makes of its marks.
BY_BASH = re.search("ProxyCommand (bash .*)", (HERE.parents[2] / "docs/egress.md").read_text())[1]
BY_BASH = BY_BASH.replace("%h:%p", "open.test:80").replace("%%", "%")

WORKS = [
    ("curl over https", "curl -sS https://open.test/files/small", "a small file"),
    ("curl over http", "curl -sS http://open.test/files/small", "a small file"),
    ("curl by SOCKS", "curl -sS --noproxy '' -x socks5h://127.0.0.1:3128 https://open.test/files/small", "a small file"),
    ("curl to a wildcard's host", "curl -sS https://a.open.test/files/small", "a small file"),
    ("curl to an IPv6 address", "curl -sS https://six.test/files/small", "a small file"),
    ("curl to a pinned private address", "curl -sS https://pinned.test/files/small", "a small file"),
    ("HTTP/2 in a tunnel is left alone", "curl -sS -o /dev/null -w %{http_version} https://open.test/files/small", "2"),
    ("HTTP/1.1 alone where TLS ends", "curl -sS -o /dev/null -w %{http_version} https://key.test/files/small", "1.1"),
    ("gzip in a tunnel", "curl -sS --compressed https://open.test/files/page.html | wc -c", "12008"),
    ("gzip where TLS ends", "curl -sS --compressed https://key.test/files/page.html | wc -c", "12008"),
    ("8 MB in a tunnel", "curl -sS https://open.test/files/large | sha256sum", "LARGE"),
    ("8 MB where TLS ends", "curl -sS https://key.test/files/large | sha256sum", "LARGE"),
    ("below an allowed prefix", "curl -sS https://paths.test/files/small", "a small file"),
    ("a tunnel by bash alone", "printf 'GET /files/small HTTP/1.0\\r\\nHost: open.test\\r\\n\\r\\n' | " + BY_BASH + " | cat",
     "a small file"),
    ("wget", "wget -q -O- https://open.test/files/small", "a small file"),
    ("wget where TLS ends", 'wget -nv -O- --ca-certificate="$SSL_CERT_FILE" https://key.test/files/small 2>/dev/null', "a small file"),
    ("git clone", "git clone -q https://git.test/project.git cloned && cat cloned/README", "cloned"),
    ("npm install", "npm install --no-audit --no-fund --registry https://npm.test/ world-package >npm.log 2>&1 || "
     "cat npm.log; node -p 'require(\"world-package\")'", "42"),
    ("npm install where an npmrc has roots of its own", "mkdir own && cd own && echo cafile=/etc/ssl/certs/ca-certificates.crt >.npmrc && "
     "npm install --no-audit --no-fund --fetch-retries 0 --registry https://npm.test/ world-package >npm.log 2>&1 || "
     "cat npm.log; node -p 'require(\"world-package\")'", "42"),
    ("pip download", "/usr/bin/python3 -m pip download -q --no-deps -i https://pypi.test/simple world-package && "
     "ls *.whl", "world_package-1.0.0-py3-none-any.whl"),
]
REFUSALS = [
    ("curl over https", "curl -sS https://denied.test/", "response 403"),
    ("curl over http", "curl -sS http://denied.test/", REFUSED.format("denied.test:80")),
    ("another port", "curl -sS http://open.test:22/", REFUSED.format("open.test:22")),
    ("by a rule with a reason", "curl -sS http://b.open.test/", "b.open.test:80 refused: deny b.open.test (clients.pol:"),
    ("another path", "curl -sS https://paths.test/other", REFUSED.format("GET https://paths.test/other") + "no rule for this path: allow paths.test "),
    ("another method", "curl -sS -d x https://paths.test/files/small", REFUSED.format("POST https://paths.test/files/small") + "no rule for this method: "),
    ("no such name", "curl -sS https://none.test/", "response 502"),
    ("git clone", "git clone -q https://denied.test/project.git x", "403"),
    ("npm install", "npm install --no-audit --no-fund --registry https://denied.test/ --fetch-retries 0 nothing", "403"),
    ("pip download", "/usr/bin/python3 -m pip download --retries 1 -i https://denied.test/simple nothing", "403 " + REFUSED.format("denied.test:443")),
]


def without(command):
    """The program that it needs and this machine has not."""
    tool = {"npm": "npm", "mkdir": "npm", "wget": "wget", "/usr/bin/python3": None}.get(command.split()[0])
    if tool and not shutil.which(tool):
        return tool
    if "-m pip" in command and not pathlib.Path("/usr/lib/python3/dist-packages/pip").exists():
        return "python3-pip"
    return None


def keys(made):
    """The real ones, outside."""
    place = pathlib.Path(made.home, ".config/sbx")
    place.mkdir(parents=True, exist_ok=True)
    (place / "world.key").write_text(KEY + "\n")
    (place / "login.json").write_text(json.dumps({"login": {"token": TOKEN}}))
    for path in (place.parent, place, place / "world.key", place / "login.json"):
        os.chown(path, made.uid, made.uid)
        path.chmod(0o700 if path.is_dir() else 0o600)
    return [str(place / "world.key"), str(place / "login.json")]


def run(made, report, backends):
    kept = keys(made)
    large = hashlib.sha256((world.PLACE / "www/files/large").read_bytes()).hexdigest()
    blob = made.compile(HERE / "clients.pol")
    for backend in backends:
        if why := suite.obstacle(backend):
            report.skip(f"clients: {backend}", why)
            continue
        work = made.workspace(f"clients-{backend}")
        for kind, table in (("works", WORKS), ("is refused", REFUSALS)):
            for what, command, wanted in table:
                name = f"clients: {backend}: {what} {kind}"
                if tool := without(command):
                    report.skip(name, f"{tool} is not installed")
                    continue
                done = made.sbx(blob, backend, work, "sh", "-c", command, options=["-q"])
                text = done.stdout + done.stderr
                report.check(wanted.replace("LARGE", large) in text, name, text)
        hold(made, report, blob, backend, work, kept)
        stream(made, report, blob, backend, work)
        killed(made, report, blob, backend, work)


def killed(made, report, blob, backend, work):
    """Without its proxy a session has no network, and goes on."""
    with Session(made, blob, backend, work) as session:
        if not session.started:
            return
        before = session.get("open.test", "/files/small")["answer"]
        for pid in session.proxies():
            with contextlib.suppress(ProcessLookupError):  # one goes with the other
                os.kill(pid, signal.SIGKILL)
        began = time.monotonic()
        after = session.get("open.test", "/files/small")
        report.check("a small file" in before and not after["answer"] and time.monotonic() - began < 4,  # a time-out takes 5
                     f"clients: {backend}: the proxy killed: no network, at once", (before, after))
        report.check(session.environment("HTTPS_PROXY") is not None, f"clients: {backend}: ... and the session goes on")
        session.hear()
    report.check("the proxy has ended" in session.said, f"clients: {backend}: ... and that is said", session.said)


def stream(made, report, blob, backend, work):
    """Events and WebSockets, as they come, in a tunnel and where TLS ends."""
    frame = "\x81\x85abcd" + "".join(chr(ord(c) ^ ord(k)) for c, k in zip("hello", "abcda"))
    upgrade = ("GET /socket HTTP/1.1\r\nHost: {0}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n")
    with Session(made, blob, backend, work, options=["-q"]) as session:
        if not session.started:
            return
        for host in ("open.test", "key.test"):
            said = session.get(host, "/events")
            first, last = said.get("times") or (0, 0)
            report.check("data: 4" in said["answer"] and last - first > 0.5,
                         f"clients: {backend}: {host}: events come one by one", said)
            said = session.ask(target=f"{host}:443", tls=host, send=upgrade.format(host) + frame, wait=0.4)
            report.check(" 101 " in said["answer"] and said["answer"].endswith("\x81\x05hello"),
                         f"clients: {backend}: {host}: a WebSocket speaks", said)


def hold(made, report, blob, backend, work, kept):
    """What the session can see of the key, while it uses it."""
    log = work.parent / f"{backend}.log"
    with Session(made, blob, backend, work, options=["--net-log", log]) as session:
        if not session.started:
            report.check(False, f"clients: {backend}: a session starts", session.why)
            return
        placeholder = session.environment("WORLD_KEY") or ""
        answer = session.get("key.test", "/held", headers=[f"X-Api-Key: {placeholder}"])["answer"]
        bearer = session.get("paths.test", "/files/small")["answer"]
        report.check("200 OK" in answer and "a small file" in bearer, f"clients: {backend}: both credentials are used",
                     answer + bearer)
        report.check(any(KEY in line for line in made.requests()), f"clients: {backend}: the server got the key",
                     made.requests()[-1:])
        report.check(KEY not in answer and "*" * 8 in answer, f"clients: {backend}: its echo is overwritten", answer)
        inside = session.inside()
        for secret in (KEY, TOKEN):
            places, looked_at = scan.everywhere(inside, secret.encode())
            report.check(not places and looked_at > 1 << 20, f"clients: {backend}: nothing in the session holds it",
                         places)
        places, _ = scan.everywhere(inside, placeholder.encode())
        report.check(any("memory" in place for place in places) and any("environ" in place for place in places),
                     f"clients: {backend}: the same search finds the placeholder", places)
        session.ask(send=f"GET http://open.test/{KEY} HTTP/1.1\r\nHost: open.test\r\nConnection: close\r\n\r\n")
        places, _ = scan.everywhere(inside, KEY.encode())
        report.check(bool(places), f"clients: {backend}: and the key, once it is inside")
        session.get("key.test", "/wrong")
        held = [pid for pid in session.proxies() if scan.in_proc(pid, KEY.encode())]
        report.check(session.proxies() and not held, f"clients: {backend}: no /proc file of the proxy shows it", held)
    report.check("WORLD_KEY" in session.said and "401" in session.said and KEY not in session.said,
                 f"clients: {backend}: that a server does not take the key is said", session.said)
    found = scan.in_files([made.home, "/tmp", "/var/tmp/sbx", "/run"], TOKEN.encode(), kept)
    report.check(not found, f"clients: {backend}: no file holds it, nor the log", found)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    report.check(any(line.get("credential") == "WORLD_KEY" for line in lines),
                 f"clients: {backend}: the log names the credential", lines)
