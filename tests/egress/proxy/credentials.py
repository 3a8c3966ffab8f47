"""A credential goes to its host alone, over TLS that was verified, and does not come back."""
import base64
import codecs
import gzip
import json
import os
import random
import re
import threading
import time

import driver
from plain import get, read_answer
from tls import ask, inside
from world import Recorder, answer, eventually, expect, expect_in, read_request

KEY = "sk-test-3fe1b7c09d2a4e68"
PLACEHOLDER = "sbx-placeholder-0123456789abcdef0123456789abcdef"


def with_key(world, reply=None, tls="good", key=KEY, mode=0o600, header="x-api-key", rules=("allow api.test", "allow other.test", "allow api.test:80"),
             serve=None):
    """A proxy whose policy has one credential for api.test, and that host."""
    recorder = Recorder(reply)
    world.server(("203.0.113.12", 443), serve or recorder, world.tls(tls))
    file = world.folder / "key"
    if key is not None:
        file.write_text(key + "\n")
        file.chmod(mode)
    credential = f"""credential TEST_KEY {{
    source file {file} compat "a test"
    host   api.test:443
    header {header}
}}
"""
    proxy = world.proxy(*rules, rest=credential, values=(f"placeholder TEST_KEY={PLACEHOLDER}",))
    return proxy, recorder


def fields(head):
    return [line.split(": ", 1) for line in head.decode("latin-1").split("\r\n")[1:] if ": " in line]


def scan(proxy, world, secret=KEY):
    """Neither the log nor the notes have the secret."""
    with open(world.folder / "log", "rb") as log:
        expect(secret.encode() in log.read(), False)
    expect(secret in "".join(proxy.notes), False)


def case_it_is_put_in(world):
    """The server gets the value once, whatever the client sent in that field"""
    proxy, server = with_key(world)
    with inside(world, proxy, "api.test") as connection:
        for sent in ((), (f"x-api-key: {PLACEHOLDER}",), ("X-API-Key: mine", "x-api-key: other"), ("Connection: x-api-key", "X-Api-Key: z")):
            expect(ask(connection, "/v1/messages", *sent, host="api.test")[2], b"ok")
    for head, _ in server.seen:
        got = fields(head)
        expect([value for name, value in got if name.lower() == "x-api-key"], [KEY])
        expect(dict(got)["Accept-Encoding"], "identity")
    records = proxy.records(4)
    expect([record.get("credential") for record in records], ["TEST_KEY"] * 4)
    expect([record.get("placeholder") for record in records], [None] * 4)
    scan(proxy, world)


def case_bearer_and_basic(world):
    """Bearer TOKEN, and Basic of USER:VALUE"""
    for header, value in (("authorization bearer", "Bearer " + KEY),
                          ("authorization basic bot", "Basic " + base64.b64encode(f"bot:{KEY}".encode()).decode())):
        proxy, server = with_key(world, header=header)
        with inside(world, proxy, "api.test") as connection:
            ask(connection, "/", "Authorization: Bearer mine", host="api.test")
        expect([v for n, v in fields(server.seen[0][0]) if n.lower() == "authorization"], [value])
        world.end_case()


def case_only_to_its_host(world):
    """Another host, another port and the clear get what the client sent, and the log flags it"""
    proxy, server = with_key(world)
    clear, other = Recorder(), Recorder()
    world.server(("203.0.113.12", 80), clear)
    with proxy.connect() as connection:
        connection.sendall(get("http://api.test/", f"x-api-key: {PLACEHOLDER}"))
        expect(read_answer(connection)[2], b"ok")
    expect(dict(fields(clear.seen[0][0]))["x-api-key"], PLACEHOLDER)
    record, = proxy.records(1)
    expect((record.get("credential"), record["placeholder"]), (None, True))
    world.server(("203.0.113.11", 443), other, world.tls())
    with inside(world, proxy, "api.test") as connection:
        expect(ask(connection, "/", host="other.test")[0][:12], "HTTP/1.1 403")
    expect((server.seen, other.seen), ([], []))


def case_a_placeholder_elsewhere(world):
    """In a path, a body or another field a placeholder passes as it is, and is flagged"""
    proxy, server = with_key(world)
    with inside(world, proxy, "api.test") as connection:
        ask(connection, f"/?key={PLACEHOLDER}", host="api.test")
        ask(connection, "/", f"X-Other: {PLACEHOLDER}", host="api.test")
        ask(connection, "/", method="POST", body=f"key={PLACEHOLDER}".encode(), host="api.test")
    expect([record.get("placeholder") for record in proxy.records(3)], [True] * 3)
    sent = b"".join(head + body for head, body in server.seen)
    expect((sent.count(PLACEHOLDER.encode()), sent.count(KEY.encode())), (3, 3))


def case_an_unverified_server(world):
    """A server with another name's certificate gets nothing"""
    proxy, server = with_key(world, tls="wrong")
    with inside(world, proxy, "api.test") as connection:
        expect(ask(connection, "/", host="api.test")[0][:12], "HTTP/1.1 502")
    expect(server.seen, [])
    scan(proxy, world)


def case_echoes(world):
    """A server that shows what it was sent shows stars: in its head, body, chunks, packed or coded"""
    secret = KEY.encode()
    forms = [secret, base64.b64encode(secret), base64.b64encode(b"x" + secret), base64.urlsafe_b64encode(b"xy" + secret),
             base64.b64encode(b"bot:" + secret), "".join(f"%{byte:02x}" for byte in secret).encode(), json.dumps({"k": KEY}).encode(),
             "".join(f"&#{byte};" for byte in secret).encode(), base64.b64encode(b"bot:" + secret).replace(b"L", b"&amp;#x4C;")]
    body = b"before " + b" and ".join(forms) + b" after"
    packed = gzip.compress(body)
    one_by_one = b"".join(b"1\r\n" + bytes([byte]) + b"\r\n" for byte in body) + b"0\r\n\r\n"
    replies = {b"/plain": answer(body=body), b"/gzip": answer(body=packed, fields=["Content-Encoding: gzip"]),
               b"/chunks": answer(length=False, fields=["Transfer-Encoding: chunked"]) + one_by_one,
               b"/head": answer(302, fields=[f"Location: https://evil.test/?{KEY}", f"X-Echo: {KEY}"]),
               b"/error": answer(500, body=b"bad key " + secret)}
    proxy, _ = with_key(world, lambda head, _: replies[head.split(b" ")[1]])
    with inside(world, proxy, "api.test") as connection:
        for path in replies:
            status, head, got = ask(connection, path.decode(), host="api.test")
            whole = repr((status, head)).encode() + got
            for form in forms:
                expect(form in whole, False)
            expect(KEY[8:] in whole.decode("latin-1"), False)
            if path in (b"/plain", b"/gzip", b"/chunks"):
                expect((len(got), got[:7], got[-6:]), (len(body), b"before ", b" after"))
    expect([record.get("redacted", 0) > 0 for record in proxy.records(5)], [True] * 5)


def case_a_coding_that_cannot_be_read(world):
    """A body that cannot be searched is not passed on"""
    proxy, _ = with_key(world, lambda *_: answer(body=b"?", fields=["Content-Encoding: br"]))
    with inside(world, proxy, "api.test") as connection:
        status, _, body = ask(connection, "/", host="api.test")
    expect(status[:12], "HTTP/1.1 502")
    expect_in(b"a coding that cannot be searched", body)


def case_a_charset_that_cannot_be_read(world):
    """Nor is one in which the value stands in other bytes, which the program cannot ask for either"""
    proxy, server = with_key(world, lambda *_: answer(body=KEY.encode("utf-16"), fields=["Content-Type: text/plain; charset=utf-16"]))
    with inside(world, proxy, "api.test") as connection:
        status, _, body = ask(connection, "/", "Accept-Charset: utf-16", host="api.test")
    expect(status[:12], "HTTP/1.1 502")
    expect_in(b"a charset that cannot be searched", body)
    expect(b"accept-charset" in server.seen[0][0].lower(), False)


def case_a_charset_without_a_body(world):
    """An answer without a body passes, whatever charset it names"""
    odd = "Content-Type: text/plain; charset=utf-16"
    for reply, method in ((answer(204, fields=[odd], length=False), "GET"), (answer(304, fields=[odd]), "GET"), (answer(fields=[odd]), "GET"),
                          (answer(fields=[odd, "Content-Length: 9"], length=False), "HEAD")):
        proxy, _ = with_key(world, lambda *_, reply=reply: reply)
        with inside(world, proxy, "api.test") as connection:
            connection.sendall(get("/", host="api.test", method=method))
            expect(driver.read_head(connection)[9:12], reply[9:12])
        world.end_case()


def case_the_charsets_that_can_be_read(world):
    """Of the table's charsets each that Python knows has ASCII's bytes for ASCII's characters"""
    ascii = bytes(range(32, 127))
    with open(os.path.join(driver.ROOT, "proxy/charsets.def")) as file:
        names = re.findall(r'"([^"]+)"', file.read().split("*/", 1)[1])
    known = 0
    for name in names:
        try:
            expect((name, ascii.decode().encode(name).removeprefix(codecs.BOM_UTF8)), (name, ascii))
            expect((name, ascii.decode(name)), (name, ascii.decode()))
            known += 1
        except LookupError:
            pass
    expect((len(names) > 300, known > 100), (True, True))


def case_two_codings(world):
    """Nor is one that is packed twice, in one field or in two, nor one of two fields of which one says that it is not packed"""
    for coding in (["Content-Encoding: gzip, br"], ["Content-Encoding: gzip", "Content-Encoding: br"], ["Content-Encoding: ", "Content-Encoding: gzip"],
                   ["Content-Encoding: identity", "Content-Encoding: gzip"], ["Content-Encoding: gzip", "content-encoding: identity"]):
        proxy, _ = with_key(world, lambda *_, fields=coding: answer(body=gzip.compress(b"?"), fields=fields))
        with inside(world, proxy, "api.test") as connection:
            expect(ask(connection, "/", host="api.test")[0][:12], "HTTP/1.1 502")
        world.end_case()


def case_frames_that_are_compressed(world):
    """WebSocket goes on where its frames can be searched; not where the server compresses them, which nobody asked for"""
    agreed = b"HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    for more, status in ((b"", "101"), (b"Sec-WebSocket-Extensions: permessage-deflate\r\n", "502")):
        proxy, server = with_key(world, lambda *_, more=more: agreed + more + b"\r\n")
        with inside(world, proxy, "api.test") as connection:
            connection.sendall(get("/", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Extensions: permessage-deflate", host="api.test"))
            expect(driver.read_head(connection)[9:12].decode(), status)
        expect("sec-websocket-extensions" in server.seen[0][0].decode().lower(), False)
        world.end_case()


def bomb(size):
    """A server whose answer unpacks to that many zeros and the value, by its length or in one chunk"""
    packed = gzip.compress(bytes(size) + KEY.encode())

    def serve(connection):
        chunks = driver.read_head(connection).startswith(b"GET /chunks ")
        framing = b"Transfer-Encoding: chunked" if chunks else b"Content-Length: %d" % len(packed)
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed) if chunks else packed
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n" + framing + b"\r\n\r\n" + body)
    return serve


def case_a_bomb(world):
    """What unpacks to a thousand times its size arrives whole, also where the program waits before it reads"""
    size = 32 << 20
    proxy, _ = with_key(world, serve=bomb(size))
    for path in ("/length", "/chunks"):
        with inside(world, proxy, "api.test") as connection:
            connection.sendall(get(path, "Connection: close", host="api.test"))
            time.sleep(0.3)
            driver.read_head(connection)
            zeros = stars = 0
            while part := connection.recv(1 << 16):
                zeros += part.count(0)
                stars += part.count(b"*")
            expect((zeros, stars), (size, len(KEY)))
    expect([record["verdict"] for record in proxy.records(2)], ["allowed"] * 2)


def case_what_the_server_kept(world):
    """The value of an earlier request, of another credential or from before it was renewed, does not come back either"""
    seen = []

    def reply(head, _):
        seen.append(head)
        return answer(body=b"".join(seen))
    world.server(("203.0.113.12", 443), Recorder(reply), world.tls())
    (world.folder / "key").write_text(KEY + "\n")
    (world.folder / "key").chmod(0o600)
    other = "another-value-" + KEY[::-1]
    proxy = world.proxy("allow api.test", rest=f"""credential ONE {{ source file {world.folder}/key compat "a test"; host api.test; header x-api-key; refresh 1s }}
credential TWO {{ source env OTHER compat "a test"; host api.test; header authorization bearer }}
""", values=("placeholder ONE=sbx-placeholder-1", "placeholder TWO=sbx-placeholder-2", f"env OTHER={other}"))
    with inside(world, proxy, "api.test") as connection:
        bodies = [ask(connection, "/", "Authorization: Bearer sbx-placeholder-2", host="api.test")[2], ask(connection, "/", host="api.test")[2]]
        (world.folder / "key").write_text("the-value-after-it\n")
        time.sleep(1.2)
        bodies.append(ask(connection, "/", host="api.test")[2])
    expect([value.encode() in b"".join(seen) for value in (KEY, other, "the-value-after-it")], [True] * 3)
    for body in bodies:
        expect([value.encode() in body for value in (KEY, other, "the-value-after-it")], [False] * 3)


def case_nobody_else_s_key(world):
    """Where several credentials go to a host, one goes out, and nothing that the program wrote into the fields of the others, absent ones too"""
    server = Recorder()
    world.server(("203.0.113.12", 443), server, world.tls())
    rest = "".join(f"""credential {name} optional {{ source env REAL_{name} compat "a test"; host api.test; header {header} }}
""" for name, header in (("ONE", "x-api-key"), ("TWO", "authorization bearer"), ("THREE", "x-other-key")))
    proxy = world.proxy("allow api.test", rest=rest, values=("placeholder ONE=sbx-placeholder-1", "placeholder TWO=sbx-placeholder-2",
                                                             f"env REAL_ONE={KEY}", "env REAL_TWO=another-key"))
    with inside(world, proxy, "api.test") as connection:
        ask(connection, "/", "x-api-key: sbx-placeholder-1", "Authorization: Bearer evil", "X-Other-Key: evil", host="api.test")
        ask(connection, "/", "x-api-key: evil", "Authorization: Bearer sbx-placeholder-2", "X_Other_Key: evil", host="api.test")
    names = ("x-api-key", "authorization", "x-other-key", "x_other_key")
    expect([[field for field in fields(head) if field[0].lower() in names] for head, _ in server.seen],
           [[["x-api-key", KEY]], [["authorization", "Bearer another-key"]]])


def case_events_stream(world):
    """Events pass at once, although each is searched"""
    def serve(connection):
        driver.read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number in range(3):
            event = f"data: {number} {KEY}\n\n".encode()
            connection.sendall(f"{len(event):x}\r\n".encode() + event + b"\r\n")
            gate.acquire(timeout=5)
        connection.sendall(b"0\r\n\r\n")
    gate = threading.Semaphore(0)
    proxy, _ = with_key(world, serve=serve)
    with inside(world, proxy, "api.test") as connection:
        connection.sendall(get("/", host="api.test"))
        driver.read_head(connection)
        for number in range(3):
            got = b""
            while not got.endswith(b"\n\n\r\n"):
                got += connection.recv(1)
            expect_in(f"data: {number} ".encode(), got)
            expect_in(b"*" * len(KEY), got)
            gate.release()
        expect(driver.read_exactly(connection, 5), b"0\r\n\r\n")


def case_a_wrong_key_is_told(world):
    """401 comes through, is told to the person once, and the source is read again at the next request that finds it changed"""
    proxy, server = with_key(world, lambda head, _: answer(200 if b"new-and-good" in head else 401))
    with inside(world, proxy, "api.test") as connection:
        expect(ask(connection, "/", host="api.test")[0][9:12], "401")
        kind, note = proxy.hear()
        expect((kind, note), (driver.NOTE, "api.test refuses the credential TEST_KEY (401): is it still valid?"))
        other = world.folder / "other-key"
        other.write_text("new-and-good\n")
        other.chmod(0o600)
        other.rename(world.folder / "key")
        # The first may still wait for what the 401 made the keeper read.
        eventually(lambda: ask(connection, "/", host="api.test")[0][9:12] == "200")
    expect(dict(fields(server.seen[-1][0]))["x-api-key"], "new-and-good")


def case_a_missing_source(world):
    """Without its source there is no session, and the reason names credential and file"""
    (world.folder / "key").unlink(missing_ok=True)
    try:
        with_key(world, key=None)
        raise AssertionError("it has begun")
    except driver.Failed as failed:
        expect_in("TEST_KEY", str(failed))
        expect_in(str(world.folder / "key"), str(failed))
    world.end_case()
    try:
        with_key(world, mode=0o644)
        raise AssertionError("it has begun")
    except driver.Failed as failed:
        expect_in("chmod 600", str(failed))


def case_a_source_that_goes_away(world):
    """Later on the program is told that the value cannot be had; where it was and why, only the person is"""
    (world.folder / "key").write_text(KEY + "\n")
    (world.folder / "key").chmod(0o600)
    world.server(("203.0.113.12", 443), Recorder(), world.tls())
    proxy = world.proxy("allow api.test", rest=f"""credential TEST_KEY {{ source file {world.folder}/key compat "a test"; host api.test; header x-api-key; refresh 1s }}
""", values=(f"placeholder TEST_KEY={PLACEHOLDER}",))
    with inside(world, proxy, "api.test") as connection:
        expect(ask(connection, "/", host="api.test")[2], b"ok")
        (world.folder / "key").chmod(0o640)
        time.sleep(1.2)
        status, _, body = ask(connection, "/", host="api.test")
        expect((status[:12], body), ("HTTP/1.1 502", b"sbx: api.test:443 failed: the credential TEST_KEY cannot be had now: sbx-exec says why\n"))
        kind, note = proxy.hear()
        expect((kind, note), (driver.NOTE, f"credential TEST_KEY: {world.folder}/key: others can read or write it: chmod 600 {world.folder}/key"))


def case_from_a_command(world):
    """A command mints the value, outside, with an environment of its own; its own words say why it cannot"""
    program = world.folder / "mint"
    (world.folder / "mint.broken").unlink(missing_ok=True)
    program.write_text("#!/bin/sh\nenv | sort | tr '\\n' ' ' | sed 's/ $//' >\"$0.env\"\n[ ! -e \"$0.broken\" ] || { echo 'Traceback:' >&2; echo 'no account here' >&2; exit 4; }\necho minted-value-1\n")
    program.chmod(0o700)
    server = Recorder()
    world.server(("203.0.113.12", 443), server, world.tls())
    rest = f"""credential TEST_KEY {{ source exec {program} now compat "a test"; host api.test; header x-api-key }}
"""
    values = (f"placeholder TEST_KEY={PLACEHOLDER}", "var home=/home/u", "var user=u")
    proxy = world.proxy("allow api.test", rest=rest, values=values)
    with inside(world, proxy, "api.test") as connection:
        ask(connection, "/", host="api.test")
    expect(dict(fields(server.seen[0][0]))["x-api-key"], "minted-value-1")
    names = {word.split("=")[0] for word in (world.folder / "mint.env").read_text().split()}
    expect(names - {"PWD", "_", "SHLVL", "OLDPWD"}, {"PATH", "HOME", "USER", "LANG"})
    (world.folder / "mint.broken").touch()
    try:
        world.proxy("allow api.test", rest=rest, values=values)
        raise AssertionError("it has begun")
    except driver.Failed as failed:
        expect(str(failed), f"credential TEST_KEY: {program}: it ended with status 4: no account here")


def case_many_at_once(world):
    """200 requests at once each get the value"""
    proxy, server = with_key(world)
    trust = world.trust(proxy)
    wrong = []

    def one():
        with trust.wrap_socket(proxy.tunnel("api.test", 443, timeout=30), server_hostname="api.test") as connection:
            if ask(connection, "/", host="api.test")[2] != b"ok":
                wrong.append(1)
    threads = [threading.Thread(target=one) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect((wrong, len(server.seen)), ([], 200))
    expect({dict(fields(head))["x-api-key"] for head, _ in server.seen}, {KEY})


def case_whatever_the_pieces(world):
    """Bodies of any size, cut anywhere, by length or in chunks, packed or not, arrive unchanged; echoes do not"""
    chance = random.Random(7)
    size = (0, 1, 100, 16383, 16384, 16385, 70000, 300000)

    def in_pieces(connection, data):
        while data:
            piece = chance.choice((1, 7, 1000, 16384, 100000)) if len(data) < 5000 else chance.choice((5000, 16384, 100000))
            connection.sendall(data[:piece])
            data = data[piece:]

    def chunked(data):
        out = b""
        while data:
            piece = chance.choice((1, 10, 4000)) if len(data) < 2000 else chance.choice((4000, 16384, 65536))
            out += f"{len(data[:piece]):x}\r\n".encode() + data[:piece] + b"\r\n"
            data = data[piece:]
        return out + b"0\r\n\r\n"

    def serve(connection):
        while (request := read_request(connection))[0]:
            body = request[1][::-1] + KEY.encode() + b"end"
            head = ["HTTP/1.1 200 OK"]
            if chance.random() < 0.4:
                body = gzip.compress(body, 1)
                head.append("Content-Encoding: gzip")
            if chance.random() < 0.5:
                body = chunked(body)
                head.append("Transfer-Encoding: chunked")
            else:
                head.append(f"Content-Length: {len(body)}")
            in_pieces(connection, "\r\n".join(head).encode() + b"\r\n\r\n" + body)
    proxy, _ = with_key(world, serve=serve)
    for _ in range(4):
        with inside(world, proxy, "api.test") as connection:
            for _ in range(12):
                data = chance.randbytes(chance.choice(size))
                if chance.random() < 0.5:
                    request = get("/", method="POST", host="api.test", body=data)
                else:
                    request = get("/", "Transfer-Encoding: chunked", method="POST", host="api.test") + chunked(data)
                in_pieces(connection, request)
                got = read_answer(connection)[2]
                expect((got[:len(data)] == data[::-1], got[len(data):]), (True, b"*" * len(KEY) + b"end"))
