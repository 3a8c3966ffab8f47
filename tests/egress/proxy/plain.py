"""Requests with a whole URL: each is decided by itself."""
import socket
import threading
import time

import driver
from world import Recorder, answer, expect, expect_in


def get(url, *fields, method="GET", host=None, body=b""):
    host = host or url.split("/")[2]
    lines = [f"{method} {url} HTTP/1.1", f"Host: {host}", *fields]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def read_answer(connection):
    """One answer with a length or chunks: (status line, fields, body)."""
    head = driver.read_head(connection)
    lines = head.decode("latin-1").split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
    if fields.get("transfer-encoding") == "chunked":
        body = b""
        while True:
            line = b""
            while not line.endswith(b"\r\n"):
                line += connection.recv(1)
            part = driver.read_exactly(connection, int(line, 16))
            driver.read_exactly(connection, 2)
            if not part:
                break
            body += part
    else:
        body = driver.read_exactly(connection, int(fields.get("content-length", 0)))
    return lines[0], fields, body


def plain(world, reply=None, address=("203.0.113.14", 80)):
    recorder = Recorder(reply)
    world.server(address, recorder)
    return world.proxy("allow plain.test:80", "allow good.test:80"), recorder


def case_a_request(world):
    """A request goes out with a path for a target, its own Host, and no field of this hop"""
    proxy, server = plain(world)
    with proxy.connect() as connection:
        connection.sendall(get("http://plain.test/a/b?c=d", "Accept: */*", "Proxy-Connection: keep-alive", "Connection: X-Gone",
                               "X-Gone: 1", "Proxy-Authorization: Basic eDp5", "Keep-Alive: 5", "TE: trailers"))
        status, _, body = read_answer(connection)
    expect((status, body), ("HTTP/1.1 200 Some Reason", b"ok"))
    head = server.seen[0][0].decode()
    expect(head.split("\r\n")[0], "GET /a/b?c=d HTTP/1.1")
    expect_in("\r\nHost: plain.test\r\n", head)
    expect_in("\r\nAccept: */*\r\n", head)
    for gone in ("X-Gone", "Proxy-", "Keep-Alive", "TE:", "keep-alive"):
        expect(gone in head, False)
    record, = proxy.records(1)
    expect((record["via"], record["method"], record["path"], record["status"], record["verdict"]), ("http", "GET", "/a/b", 200, "allowed"))
    expect(record["sent"], len(head))


def case_each_request_anew(world):
    """On a kept connection the next request may go elsewhere, and is decided again"""
    proxy, server = plain(world)
    other = Recorder()
    world.server(("203.0.113.10", 80), other)
    with proxy.connect() as connection:
        for url in ("http://plain.test/1", "http://good.test/2", "http://plain.test/3", "http://plain.test/4"):
            connection.sendall(get(url))
            expect(read_answer(connection)[2], b"ok")
        connection.sendall(get("http://evil.test/5"))
        expect(read_answer(connection)[2], b"sbx: evil.test:80 refused: no rule allows it\n")
    expect([record.get("address") for record in proxy.records(5)],
           ["203.0.113.14", "203.0.113.10", "203.0.113.14", "203.0.113.14", None])
    expect([head.split(b" ")[1] for head, _ in server.seen], [b"/1", b"/3", b"/4"])
    expect([head.split(b" ")[1] for head, _ in other.seen], [b"/2"])


def case_host_and_target(world):
    """Host and target have to name the same"""
    proxy, server = plain(world)
    for host in ("good.test", "plain.test:81", "plain.test.evil.test", "evil.test"):
        expect_in(b" 403 ", proxy.exchange(get("http://plain.test/", host=host))[:14])
    for host in ("plain.test:80", "PLAIN.test"):
        expect_in(b" 200 ", proxy.exchange(get("http://plain.test/", "Connection: close", host=host))[:14])
    expect(len(server.seen), 2)


def case_targets_that_are_none(world):
    """A path, another scheme, userinfo, a fragment: refused with a line that says what to do"""
    proxy = world.proxy("allow plain.test:80 plain.test:443 good.test")
    for target, status, line in (("/path", 400, b"this is a proxy"), ("ftp://plain.test/", 400, b"target"),
                                 ("https://plain.test/", 400, b"CONNECT"), ("http://good.test:443/", 400, b"CONNECT"), ("http://x@plain.test/", 400, b"target"),
                                 ("http://plain.test/#x", 400, b"target"), ("http:///x", 400, b"target"),
                                 ("http://plain.test?x", 400, b"target"), ("*", 400, b"target")):
        reply = proxy.exchange(f"GET {target} HTTP/1.1\r\nHost: plain.test\r\n\r\n".encode())
        expect(reply[:13], f"HTTP/1.1 {status} ".encode())
        expect_in(line, reply)


def case_port_80_is_said(world):
    """Without `:80` in a rule nothing goes in the clear"""
    world.server(("203.0.113.14", 80), Recorder())
    proxy = world.proxy("allow plain.test")
    expect_in(b" 403 ", proxy.exchange(get("http://plain.test/"))[:14])


def case_pipelined(world):
    """Requests sent at once are answered in their order"""
    proxy, server = plain(world, lambda head, body: answer(body=head.split(b" ")[1]))
    with proxy.connect() as connection:
        connection.sendall(b"".join(get(f"http://plain.test/{number}") for number in range(50)))
        for number in range(50):
            expect(read_answer(connection)[2], f"/{number}".encode())
    expect(len(server.seen), 50)


def case_bodies(world):
    """Bodies by length and by chunks arrive whole, whatever follows them"""
    proxy, server = plain(world, lambda head, body: answer(body=str(len(body)).encode()))
    chunked = b"POST http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nTransfer-Encoding: chunked\r\n\r\n"
    big = b"0123456789abcdef" * 65536
    with proxy.connect() as connection:
        connection.sendall(get("http://plain.test/", method="POST", body=b"hello") + chunked +
                           b"5;ext=1\r\nhello\r\n1\r\n!\r\n0\r\nTrailer: x\r\n\r\n" +
                           get("http://plain.test/", method="PUT", body=big) + get("http://plain.test/"))
        expect([read_answer(connection)[2] for _ in range(4)], [b"5", b"6", b"1048576", b"0"])
    expect([body for _, body in server.seen], [b"hello", b"hello!", big, b""])


def case_expect_100(world):
    """A client that waits for 100 Continue gets it once its request is allowed, else the refusal"""
    proxy, server = plain(world)
    with proxy.connect() as connection:
        connection.sendall(b"PUT http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
        expect(driver.read_head(connection), b"HTTP/1.1 100 Continue\r\n\r\n")
        connection.sendall(b"body")
        expect(read_answer(connection)[0], "HTTP/1.1 200 Some Reason")
    expect((server.seen[0][1], b"Expect" in server.seen[0][0]), (b"body", False))
    reply = proxy.exchange(b"PUT http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
    expect(reply[:12], b"HTTP/1.1 403")


def case_old_clients(world):
    """HTTP/1.0: the connection closes, a body without length ends with it"""
    proxy, server = plain(world, lambda head, body: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
    reply = proxy.exchange(b"GET http://plain.test/ HTTP/1.0\r\n\r\n")
    head, _, body = reply.partition(b"\r\n\r\n")
    expect(body, b"abc")
    expect(b"chunked" in head, False)
    expect_in(b"Host: plain.test\r\n", server.seen[0][0])


def case_a_kept_server_that_left(world):
    """A server that closed its kept connection is dialled again"""
    def once(connection):
        seen.append(driver.read_head(connection))
        connection.sendall(answer(body=b"ok"))
    seen = []
    world.server(("203.0.113.14", 80), once)
    proxy = world.proxy("allow plain.test:80")
    with proxy.connect() as connection:
        for _ in range(3):
            connection.sendall(get("http://plain.test/"))
            expect(read_answer(connection)[2], b"ok")
            time.sleep(0.05)
    expect(len(seen), 3)


def case_an_early_answer(world):
    """A server that answers before the body has come is heard, whatever the size of the body"""
    def early(connection):
        driver.read_head(connection)
        connection.sendall(answer(413, b"too much", ["Connection: close"]))
        connection.shutdown(socket.SHUT_WR)
        time.sleep(0.2)
    world.server(("203.0.113.14", 80), early)
    proxy = world.proxy("allow plain.test:80")
    with proxy.connect() as connection:
        connection.sendall(b"POST http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nContent-Length: 100000000\r\n\r\n" + b"x" * 100000)
        status, _, body = read_answer(connection)
    expect((status[:12], body), ("HTTP/1.1 413", b"too much"))


def case_upgrade(world):
    """WebSocket passes both ways; another protocol is not switched to"""
    def websocket(connection):
        head = driver.read_head(connection)
        seen.append(head)
        if b"Upgrade: websocket" in head:
            connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\nhi")
            while data := connection.recv(100):
                connection.sendall(data.upper())
        else:
            connection.sendall(answer(body=b"plain"))
    seen = []
    world.server(("203.0.113.14", 80), websocket)
    proxy = world.proxy("allow plain.test:80")
    with proxy.connect() as connection:
        connection.sendall(get("http://plain.test/ws", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: eA=="))
        head = driver.read_head(connection)
        expect(head[:12], b"HTTP/1.1 101")
        expect_in(b"\r\nSec-WebSocket-Accept: x\r\n", head)
        expect(driver.read_exactly(connection, 2), b"hi")
        connection.sendall(b"frame")
        expect(driver.read_exactly(connection, 5), b"FRAME")
    with proxy.connect() as connection:
        connection.sendall(get("http://plain.test/", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMA"))
        expect(read_answer(connection)[2], b"plain")
    expect((b"pgrade" in seen[1], b"HTTP2" in seen[1]), (False, False))


def case_events_stream(world):
    """Each piece of an answer is passed on when it comes"""
    def events(connection):
        driver.read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for number in range(5):
            connection.sendall(f"data: {number}\n\n".encode())
            gate.acquire(timeout=5)
    gate = threading.Semaphore(0)
    world.server(("203.0.113.14", 80), events)
    proxy = world.proxy("allow plain.test:80")
    with proxy.connect() as connection:
        connection.sendall(get("http://plain.test/events"))
        expect_in(b"Transfer-Encoding: chunked", driver.read_head(connection))
        for number in range(5):
            expect(driver.read_exactly(connection, 14), f"9\r\ndata: {number}\n\n\r\n".encode())
            gate.release()
        expect(driver.read_exactly(connection, 5), b"0\r\n\r\n")


def case_a_slow_end(world):
    """A client that takes its time gets all of an answer, although the connection closes behind it"""
    def serve(connection):
        size = int(driver.read_head(connection).split(b" ")[1][1:])
        connection.sendall(answer(body=b"x" * size, fields=["Connection: close"]))
    world.server(("203.0.113.14", 80), serve)
    proxy = world.proxy("allow plain.test:80")
    # Some of them are where the proxy has all and the client's socket takes no more.
    sizes = [number * 50000 for number in range(1, 120)]
    connections = [proxy.connect() for _ in sizes]
    for connection, size in zip(connections, sizes):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        connection.sendall(get(f"http://plain.test/{size}", "Connection: close"))
    time.sleep(4)
    for connection, size in zip(connections, sizes):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        expect(len(read_answer(connection)[2]), size)
        connection.close()
