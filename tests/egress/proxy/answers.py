"""Servers that stall, cut off, or say one thing and do another."""
import socket
import time

import driver
from plain import get, read_answer
from world import answer, expect, expect_in


def serve_bytes(world, data, linger=0.0, reset=False):
    """A server that answers the first request with these bytes, whatever it was."""
    def serve(connection):
        driver.read_head(connection)
        connection.sendall(data)
        time.sleep(linger)
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    world.server(("203.0.113.14", 80), serve)
    return world.proxy("allow plain.test:80")


def malformed(world, data):
    proxy = serve_bytes(world, data)
    with proxy.connect() as connection:
        connection.sendall(get("http://plain.test/"))
        status, _, body = read_answer(connection)
    world.end_case()
    return status[9:12], body.decode()


def case_heads_with_two_readings(world):
    """An answer that two could read in two ways is 502, and says what is wrong"""
    ok = b"HTTP/1.1 200 OK\r\n"
    for data, wrong in (
            (ok + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "both a length and a transfer coding"),
            (ok + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "two lengths"),
            (ok + b"Content-Length: 5, 5\r\n\r\nhello", "a length that is no number"),
            (ok + b"Content-Length: +5\r\n\r\nhello", "a length that is no number"),
            (ok + b"Content-Length: 99999999999999999999\r\n\r\nhello", "a length that is no number"),
            (ok + b"Transfer-Encoding: gzip, chunked\r\n\r\n", "a transfer coding other than chunked"),
            (ok + b"A: b\r\n c\r\n\r\n", "a folded line"), (ok + b"A : b\r\n\r\n", "a byte that no field's name has"),
            (ok + b"A: b\nC: d\r\n\r\n", "a line feed without a carriage return"),
            (ok + b"A: b\rC: d\r\n\r\n", "a carriage return within a line"),
            (ok + b"A: \x00\r\n\r\n", "a control byte in a field"), (ok + b"A\r\n\r\n", "a line without a colon"),
            (b"HTTP/2 200 OK\r\n\r\n", "a version other"), (b"HTTP/1.1 20 OK\r\n\r\n", "a status"),
            (b"HTTP/1.1 999 OK\r\n\r\n", "a status"), (b"hello\r\n\r\n", "no status line"),
            (ok + b"A: " + b"x" * 70000 + b"\r\n\r\n", "a head of more than 64 KB"),
            (ok + b"A: x\r\n" * 201 + b"\r\n", "more than 200 fields")):
        status, line = malformed(world, data)
        expect(status, "502")
        expect_in("its answer is malformed: " + wrong, line)


def case_nothing_at_all(world):
    """A server that closes without an answer, or switches protocols unasked, is 502"""
    expect(malformed(world, b""), ("502", "sbx: plain.test:80 failed: it closes the connection without an answer\n"))
    expect(malformed(world, b"HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")[0], "502")
    expect(malformed(world, b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20)[0], "502")


def case_interim_answers(world):
    """103 and the like are passed over, the final answer arrives"""
    proxy = serve_bytes(world, b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + answer(body=b"ok"))
    with proxy.connect() as connection:
        connection.sendall(get("http://plain.test/"))
        expect(read_answer(connection)[2], b"ok")


def case_less_than_it_says(world):
    """An answer that ends early ends the client's connection, within the body: no half is whole"""
    for data in (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nten bytes.",
                 b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nten bytes.\r\n"):
        for reset in (False, True):
            proxy = serve_bytes(world, data, linger=0.1, reset=reset)
            reply = proxy.exchange(get("http://plain.test/"))
            expect_in(b"ten bytes.", reply)
            expect(b"0\r\n\r\n" in reply.partition(b"\r\n\r\n")[2], False)
            expect(proxy.records(1)[0]["verdict"], "failed")
            world.end_case()


def case_chunks_that_are_none(world):
    """Broken chunks end the connection where they are broken"""
    for chunk in (b"xyz\r\n", b"-1\r\n", b"0x5\r\nhello\r\n", b"5\nhello\r\n", b"5\r\nhelloXX", b"ffffffffffffffffff\r\n", b"\r\n"):
        proxy = serve_bytes(world, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)
        reply = proxy.exchange(get("http://plain.test/"))
        expect(b"0\r\n\r\n" in reply, False)
        expect(proxy.records(1)[0]["reason"], "the body of its answer is malformed")
        world.end_case()


def case_more_than_it_says(world):
    """What follows an answer is not the answer to the next request"""
    seen = []

    def serve(connection):
        seen.append(driver.read_head(connection))
        connection.sendall(answer(body=b"first") + answer(body=b"smuggled"))
        driver.read_head(connection)
    world.server(("203.0.113.14", 80), serve)
    proxy = world.proxy("allow plain.test:80")
    with proxy.connect() as connection:
        for _ in range(2):
            connection.sendall(get("http://plain.test/"))
            expect(read_answer(connection)[2], b"first")
            time.sleep(0.05)
    expect(len(seen), 2)


def case_bodies_that_are_none(world):
    """HEAD, 204 and 304 have no body, whatever they announce"""
    def serve(connection):
        while head := driver.read_head(connection):
            path = head.split(b" ")[1]
            if path == b"/head":
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            else:
                connection.sendall(b"HTTP/1.1 " + path[1:] + b" X\r\nContent-Length: 100\r\n\r\n")
    world.server(("203.0.113.14", 80), serve)
    proxy = world.proxy("allow plain.test:80")
    with proxy.connect() as connection:
        connection.sendall(get("http://plain.test/head", method="HEAD"))
        expect_in(b"Content-Length: 100\r\n", driver.read_head(connection))
        for status in (b"204", b"304"):
            connection.sendall(get(f"http://plain.test/{status.decode()}"))
            expect(driver.read_head(connection)[9:12], status)


def case_a_stalled_server(world):
    """One that says nothing holds its own connection and no other"""
    world.server(("203.0.113.10", 80), lambda connection: time.sleep(3))
    proxy = world.proxy("allow good.test:80", "allow plain.test:80")
    world.server(("203.0.113.14", 80), lambda connection: (driver.read_head(connection), connection.sendall(answer(body=b"ok"))))
    stalled = [proxy.connect() for _ in range(50)]
    for connection in stalled:
        connection.sendall(get("http://good.test/"))
    begun = time.time()
    with proxy.connect() as connection:
        connection.sendall(get("http://plain.test/"))
        expect(read_answer(connection)[2], b"ok")
    expect((time.time() - begun < 2.5), True)  # behind one it would be 3
    for connection in stalled:
        connection.close()


def case_what_leads_elsewhere(world):
    """Fields of the hop and Alt-Svc, which names another way to the server, are not passed on"""
    proxy = serve_bytes(world, answer(body=b"ok", fields=['Alt-Svc: h3=":443"', "Connection: keep-alive, X-Gone", "X-Gone: 1", "Keep-Alive: 5",
                                                          "Proxy-Authenticate: Basic", "X-Stays: 1"]))
    with proxy.connect() as connection:
        connection.sendall(get("http://plain.test/"))
        _, fields, body = read_answer(connection)
    expect((fields, body), ({"x-stays": "1", "content-length": "2"}, b"ok"))
