"""What a program inside tries with the proxy and the credentials, with real servers behind:
each row says what comes back, and what the server must have got, or not."""
import json
import pathlib

import suite
from clients import KEY, TOKEN, keys
from session import Session

CLIENTS = pathlib.Path(__file__).resolve().parent.parent / "clients/clients.pol"


class Bench:
    def __init__(self, made, report, backend, session):
        self.made, self.report, self.backend, self.session = made, report, backend, session
        self.placeholder = session.environment("WORLD_KEY")

    def check(self, good, what, detail=""):
        self.report.check(good, f"cases: {self.backend}: {what}", detail)

    def upstream(self, action):
        """What the servers were asked meanwhile, and what came back."""
        before = len(self.made.requests())
        answer = action()
        return [json.loads(line) for line in self.made.requests()[before:]], answer


def request(host, path="/", *headers, method="GET", body=""):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines) + "\r\n\r\n" + body


def named(headers, name):
    return [value for each, value in headers if each.lower() == name]


def names_and_ports(bench):
    """Whole labels; a rule without a port is 443 alone."""
    table = {"open.test:443": "200", "a.open.test:443": "200", "a.b.open.test:443": "200", "OPEN.test:443": "200",
             "notopen.test:443": "403", "open.test.denied.test:443": "403", "open.testx:443": "403",
             "-open.test:443": "40", "key.open.testkey.test:443": "403", "b.open.test:443": "403",
             "open.test:22": "403", "open.test:9999": "403", "open.test:0": "40", "open.test:65536": "400",
             "open.test:https": "400", "open.test": "40", "203.0.113.10:443": "403", "[2001:db8::10]:443": "403",
             "written.test:443": "403", "pinned.test:443": "200", "lan.test:443": "403", "six.test:443": "200"}
    bench.made.asked()
    for target, wanted in table.items():
        said = bench.session.ask(target=target, send="", wait=0)["proxy"]
        bench.check(said.startswith("HTTP/1.1 " + wanted), f"CONNECT {target}: {wanted}", said)
    strange = [name for name in bench.made.asked() if not name.endswith((".open.test", "open.test", "pinned.test",
                                                                         "lan.test", "six.test"))]
    bench.check(not strange, "no other name was asked for", strange)
    for name in ("open.test\t", "open\x7f.test", "open.test\r", "", "a" * 300, "op en.test", "open.test\0", "ö.test"):
        said = bench.session.ask(target=f"{name}:443", send="", wait=0.2)["proxy"]
        bench.check(not said.startswith("HTTP/1.1 200"), f"CONNECT {name[:20]!a}: refused", said)
    bench.check(not bench.made.asked(), "none of these was asked for")


def every_request(bench):
    """What is allowed is asked of each request, not of each connection."""
    get = "GET http://{}/ HTTP/1.1\r\nHost: {}\r\n\r\n".format
    table = [
        ("pipelined, the second to another host", get("open.test", "open.test") + get("denied.test", "denied.test"), 1),
        ("another host in Host", get("open.test", "denied.test"), 0),
        ("two hosts", "GET http://open.test/ HTTP/1.1\r\nHost: open.test\r\nHost: denied.test\r\n\r\n", 0),
        ("two lengths and a second request", "POST http://open.test/ HTTP/1.1\r\nHost: open.test\r\nContent-Length: 0\r\n"
         "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get("denied.test", "denied.test"), 0),
    ]
    for what, data, allowed in table:
        asked, said = bench.upstream(lambda data=data: bench.session.ask(send=data, wait=1))
        hosts = [each["host"] for each in asked]
        bench.check(len(hosts) <= allowed and "denied.test" not in hosts, f"{what}: {allowed} of it arrives", (hosts, said))
        bench.check(said["closed"] or " 40" in said["answer"], f"{what}: and is answered", said)
    data = request("key.test", "/one") + request("denied.test", "/two")
    asked, said = bench.upstream(lambda: bench.session.ask(target="key.test:443", tls="key.test", send=data, wait=1))
    bench.check([each["path"] for each in asked] == ["/one"] and said["closed"],
                "where TLS ends, another Host ends the connection", (asked, said))
    asked, said = bench.upstream(lambda: bench.session.ask(
        target="paths.test:443", tls="paths.test", wait=1,
        send=request("paths.test", "/files/small") + request("paths.test", "/other")))
    bench.check("a small file" in said["answer"] and " 403 " in said["answer"] and not asked,
                "each path of a kept connection is judged", (asked, said))
    for path in ("/files/../other", "/files/%2e%2e/other", "/files%2f..%2fother", "//other", "/files\\..\\other", "/filesx"):
        asked, said = bench.upstream(lambda path=path: bench.session.get("paths.test", path))
        bench.check(" 40" in said["answer"] and not asked, f"a path of {path}", (asked, said))
    for host, sni in (("open.test", "denied.test"), ("open.test", "a.open.test"), ("key.test", "denied.test"),
                      ("key.test", "open.test")):
        said = bench.session.ask(target=f"{host}:443", tls=sni, careless=True, send=request(sni), wait=1)
        bench.check(said["tls"] or not said["answer"], f"CONNECT {host}, TLS with {sni}: closed", said)


def nowhere_else(bench):
    """The key goes to its host over TLS, and to no other."""
    placeholder = bench.placeholder
    with_key = [f"X-Api-Key: {placeholder}"]
    table = [
        ("another host that claims to be it", lambda: bench.session.ask(
            send=f"GET http://open.test/ HTTP/1.1\r\nHost: key.test\r\n{with_key[0]}\r\n\r\n", wait=1)),
        ("the same without TLS", lambda: bench.session.ask(
            send=f"GET http://key.test/ HTTP/1.1\r\nHost: key.test\r\n{with_key[0]}\r\n\r\n", wait=1)),
        ("an allowed host without the credential", lambda: bench.session.get("open.test", "/x", headers=with_key)),
        ("where a repository would have it go", lambda: bench.session.get("evil.test", "/", headers=with_key)),
        ("a certificate that nobody signed", lambda: bench.session.get("self.test", "/", headers=with_key)),
        ("a certificate of another name", lambda: bench.session.get("wrong.test", "/", headers=with_key)),
        ("an expired certificate", lambda: bench.session.get("old.test", "/", headers=with_key)),
    ]
    for what, action in table:
        asked, said = bench.upstream(action)
        bench.check(KEY not in json.dumps(asked), f"no key to {what}", (asked, said))
    asked, _ = bench.upstream(table[2][1])
    bench.check(asked and named(asked[0]["headers"], "x-api-key") == [placeholder],
                "to another host the placeholder goes as it is", asked)


def one_header(bench):
    """Exactly one, the real one, whatever the client says."""
    placeholder = bench.placeholder
    table = {
        "no header": [], "the placeholder": [f"X-Api-Key: {placeholder}"], "its own": ["X-API-KEY: mine"],
        "twice": ["x-api-key: a", "X-Api-Key: b"], "another case": [f"x-API-kEY: {placeholder}"],
        "to be dropped": [f"X-Api-Key: {placeholder}", "Connection: X-Api-Key"],
        "of the proxy's": ["Proxy-Authorization: Basic eDp5", "Proxy-Connection: X-Api-Key"],
    }
    for what, headers in table.items():
        send = request("key.test", "/headers", *headers)
        asked, said = bench.upstream(lambda send=send: bench.session.ask(
            target="key.test:443", tls="key.test", send=send, wait=0.5))
        got = [named(each["headers"], "x-api-key") for each in asked]
        bench.check(got == [[KEY]], f"{what}: one header, the real one", (got, said))
        bench.check(KEY not in said["answer"], f"{what}: the echo is overwritten", said)
        leftover = [name for each in asked for name, _ in each["headers"] if name.lower().startswith("proxy-")]
        bench.check(not leftover, f"{what}: nothing of the proxy's goes on", leftover)
    for what, header in (("a blank before the colon", "X-Api-Key : x"), ("a folded line", "X-Other: a\r\n b"),
                         ("a NUL", "X-Other: a\0b"), ("two lengths", "Content-Length: 1\r\nContent-Length: 2"),
                         ("a bare line feed", "X-Other: a\nX-Api-Key: b")):
        asked, said = bench.upstream(lambda header=header: bench.session.ask(
            target="key.test:443", tls="key.test", send=request("key.test", "/headers", header), wait=1))
        bench.check(" 400 " in said["answer"] and said["closed"] and not asked, f"{what}: 400, and closed", (asked, said))


def nothing_else_is_replaced(bench):
    """The placeholder in other places passes as it is."""
    placeholder = bench.placeholder
    asked, said = bench.upstream(lambda: bench.session.get(
        "key.test", f"/{placeholder}?q={placeholder}", method="POST", body=json.dumps({"key": placeholder}),
        headers=[f"Referer: https://open.test/{placeholder}", f"X-Other: {placeholder}"]))
    got = asked[0] if asked else {"path": "", "body": "", "headers": []}
    bench.check(got["path"] == f"/{placeholder}?q={placeholder}", "in a path and a query", said)
    bench.check(placeholder in got["body"] and KEY not in got["body"], "in a body", got)
    bench.check(named(got["headers"], "x-other") == [placeholder] and named(got["headers"], "x-api-key") == [KEY],
                "in another header", got)
    asked, _ = bench.upstream(lambda: bench.session.get("paths.test", "/files/small", headers=["Authorization: Bearer x"]))
    bench.check(TOKEN != bench.session.environment("WORLD_TOKEN"), "a token of a JSON file is outside, too")


def bad_servers(bench):
    """A server that lies gives an error, not a hang, and nothing of a second answer."""
    for path in ("/short", "/reset", "/long", "/both"):
        said = bench.session.get("liar.test", path)
        bench.check("evil" not in said["answer"] and said["closed"], f"liar.test{path} ends", said)


def run(made, report, backends):
    keys(made)
    blob = made.compile(CLIENTS)
    seen = set()
    for backend in backends:
        if why := suite.obstacle(backend):
            report.skip(f"cases: {backend}", why)
            continue
        with Session(made, blob, backend, made.workspace(f"cases-{backend}"), options=["-q"]) as session:
            if not session.started:
                report.check(False, f"cases: {backend}: a session starts", session.why)
                continue
            bench = Bench(made, report, backend, session)
            seen.add(bench.placeholder)
            for part in (names_and_ports, every_request, nowhere_else, one_header, nothing_else_is_replaced, bad_servers):
                part(bench)
    report.check(len(seen) == len([b for b in backends if not suite.obstacle(b)]), "cases: each session has a placeholder of its own", seen)
