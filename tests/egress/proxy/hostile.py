"""Clients that send what no client should: refused, closed, and nobody else is held up."""
import contextlib
import gzip
import random
import socket
import threading
import time

import driver
from credentials import KEY, with_key
from plain import get, plain, read_answer
from tls import inside
from world import answer, eventually, expect, expect_in

GOOD = b"GET http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\n"


def case_heads_with_two_readings(world):
    """A request that two could read in two ways is 400 with a line, and no server sees it"""
    proxy, server = plain(world)
    post = GOOD.replace(b"GET", b"POST")
    for data, wrong in (
            (post + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "both a length and a transfer coding"),
            (post + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", "both a length and a transfer coding"),
            (post + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "two lengths"),
            (post + b"Content-Length: 5\r\ncontent-length: 5\r\n\r\nhello", "two lengths"),
            (post + b"Content-Length: 5,5\r\n\r\nhello", "a length that is no number"),
            (post + b"Content-Length: -5\r\n\r\nhello", "a length that is no number"),
            (post + b"Content-Length: 0x5\r\n\r\nhello", "a length that is no number"),
            (post + b"Content-Length: \r\n\r\nhello", "a length that is no number"),
            (post + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "two lengths"),
            (post + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "a transfer coding other than chunked"),
            (post + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", "a transfer coding other than chunked"),
            (post + b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n", "a control byte in a field"),
            (post + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "a byte that no field's name has"),
            (GOOD + b"Host: plain.test\r\n\r\n", "two Host fields"), (b"GET http://plain.test/ HTTP/1.1\r\n\r\n", "no Host field"),
            (GOOD + b" folded: 1\r\n\r\n", "a folded line"), (GOOD + b"A: b\n\r\n", "a line feed without a carriage return"),
            (b"GET http://plain.test/ HTTP/1.1\nHost: plain.test\n\n", "a line feed without a carriage return"),
            (GOOD + b"A: b\rB: c\r\n\r\n", "a carriage return within a line"), (GOOD + b"A: \0\r\n\r\n", "a control byte in a field"),
            (GOOD + b"A\r\n\r\n", "a line without a colon"), (GOOD + b": x\r\n\r\n", "a byte that no field's name has"),
            (GOOD + b"A B: x\r\n\r\n", "a byte that no field's name has"), (b"\r\n" + GOOD + b"\r\n", "neither HTTP nor SOCKS5"),
            (b"GET  http://plain.test/ HTTP/1.1\r\n\r\n", "no target"), (b"GET\thttp://plain.test/ HTTP/1.1\r\n\r\n", "no method"),
            (b"GET http://plain.test/ HTTP/1.1 \r\n\r\n", "a version"), (b"GET http://plain.test/\r\n\r\n", "no target"),
            (b"GET http://plain.test/a b HTTP/1.1\r\n\r\n", "a version"), (b"G@T http://plain.test/ HTTP/1.1\r\n\r\n", "no method"),
            (b"GET http://plain.test/\xff HTTP/1.1\r\n\r\n", "a byte that no target has"),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "neither HTTP nor SOCKS5")):
        reply = proxy.exchange(data)
        expect_in(reply[:12], (b"HTTP/1.1 400", b"HTTP/1.1 501"))
        expect_in("sbx: request refused: malformed request: " + wrong, reply.decode().replace("sbx: plain.test:80", "sbx: request"))
    expect(server.seen, [])


def case_versions(world):
    """HTTP/2's preface and other versions are 505"""
    proxy, _ = plain(world)
    for line in (b"PRI * HTTP/2.0\r\n\r\n", b"GET / HTTP/1.2\r\n\r\n", b"GET / HTTP/0.9\r\n\r\n"):
        expect(proxy.exchange(line)[:12], b"HTTP/1.1 505")


def case_large_heads(world):
    """64 KB or 200 fields pass, more is 431"""
    proxy, server = plain(world)
    with proxy.connect() as connection:
        connection.sendall(get("http://plain.test/", *["X: " + "y" * 317] * 199))
        expect(read_answer(connection)[2], b"ok")
    for fields in ([b"X: y"] * 201, [b"X: " + b"y" * 70000], [b"X: " + b"y" * 1000] * 70):
        expect(proxy.exchange(GOOD + b"\r\n".join(fields) + b"\r\n\r\n")[:12], b"HTTP/1.1 431")
    expect(proxy.exchange(b"GET http://plain.test/" + b"x" * 70000)[:12], b"HTTP/1.1 431")
    expect(len(server.seen), 1)


def case_byte_by_byte(world):
    """A slow client is served, and costs no time"""
    proxy, _ = plain(world)
    with proxy.connect() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in get("http://plain.test/", "X: " + "y" * 300):
            connection.sendall(bytes([byte]))
        expect(read_answer(connection)[2], b"ok")


def case_smuggled_in_a_body(world):
    """What looks like a request within a body is none; what follows it is one, and decided"""
    proxy, server = plain(world)
    evil = b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"
    with proxy.connect() as connection:
        connection.sendall(get("http://plain.test/", method="POST", body=evil) + evil)
        expect(read_answer(connection)[2], b"ok")
        expect_in(b"evil.test:80 refused", read_answer(connection)[2])
    expect([body for _, body in server.seen], [evil])


def case_chunks_that_are_none(world):
    """Broken chunks of a request end it"""
    for chunk in (b"xyz\r\n", b"5\nhello\r\n", b"5\rXhello\r\n", b"5\r\nhelloXX", b"5\r\nhello\rX", b"0\r\n\rX", b"0\r\nT: x\rX", b"fffffffffffffffffff\r\n", b"5;" + b"x" * 20000):
        proxy, server = plain(world)
        proxy.exchange(GOOD.replace(b"GET", b"POST") + b"Transfer-Encoding: chunked\r\n\r\n" + chunk)
        expect(proxy.records(1)[0]["reason"], "the request's chunks are malformed")
        expect(server.seen, [])
        world.end_case()


def case_connect_with_a_body(world):
    """A CONNECT with a body, without a port, or for another Host is 400"""
    proxy = world.proxy("allow good.test")
    for data in (b"CONNECT good.test:443 HTTP/1.1\r\nHost: good.test:443\r\nContent-Length: 5\r\n\r\nhello",
                 b"CONNECT good.test:443 HTTP/1.1\r\nHost: good.test:443\r\nTransfer-Encoding: chunked\r\n\r\n",
                 b"CONNECT good.test HTTP/1.1\r\nHost: good.test\r\n\r\n", b"CONNECT good.test:0 HTTP/1.1\r\nHost: x\r\n\r\n",
                 b"CONNECT good.test:65536 HTTP/1.1\r\nHost: x\r\n\r\n", b"CONNECT good.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n",
                 b"CONNECT http://good.test:443/ HTTP/1.1\r\nHost: good.test\r\n\r\n"):
        expect(proxy.exchange(data)[:12], b"HTTP/1.1 400")


def case_socks_that_is_none(world):
    """SOCKS4, authentication, BIND, UDP and unknown addresses are refused"""
    proxy = world.proxy("allow *")
    expect(proxy.exchange(b"\4\1\0\x50\1\2\3\4\0")[:12], b"HTTP/1.1 400")
    expect(proxy.exchange(b"\5\1\2"), b"\5\xff")
    expect(proxy.exchange(b"\5\0"), b"\5\xff")
    for request, code in ((b"\5\2\0\3\1a\0\x50", 7), (b"\5\3\0\3\1a\0\x50", 7), (b"\5\1\0\2\1a\0\x50", 8), (b"\5\1\1\3\1a\0\x50", 1),
                          (b"\4\1\0\3\1a\0\x50", 1), (b"\5\1\0\3\0\0\x50", 1), (b"\5\1\0\3\1a\0\0", 1)):
        expect(proxy.exchange(b"\5\1\0" + request)[2:4], b"\5" + bytes([code]))


def case_clients_that_vanish(world):
    """A client may go at any moment: nothing stays"""
    proxy, _ = plain(world, lambda head, body: (time.sleep(0.05), answer(body=b"ok"))[1])
    before = proxy.at_rest()
    whole = get("http://plain.test/", method="POST", body=b"x" * 100)
    for end in range(0, len(whole), 7):
        with proxy.connect() as connection:
            connection.sendall(whole[:end])
            if end % 2:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    eventually(lambda: proxy.descriptors() <= before, seconds=10)


def case_many_slow_clients(world):
    """500 clients with half a head each do not hold up another"""
    proxy, _ = plain(world)
    slow = [proxy.connect() for _ in range(500)]
    for connection in slow:
        connection.sendall(GOOD)
    begun = time.time()
    with proxy.connect() as connection:
        connection.sendall(get("http://plain.test/"))
        expect(read_answer(connection)[2], b"ok")
    expect(time.time() - begun < 10, True)  # behind one it would be 30
    expect((proxy.memory_kb() < 60 * 1024), True)
    for connection in slow:
        connection.close()


def case_at_random(world):
    """Bytes at random end in an error, and the proxy serves on"""
    chance = random.Random(6)
    proxy, _ = plain(world)
    pieces = [GOOD, b"\r\n", b"\r\n\r\n", b"Content-Length: 9\r\n", b"Transfer-Encoding: chunked\r\n", b"\5\1\0", b"\0", b"5\r\nhello\r\n",
              b"CONNECT plain.test:80 HTTP/1.1\r\nHost: plain.test\r\n\r\n", b"Expect: 100-continue\r\n", b"Connection: Upgrade\r\nUpgrade: websocket\r\n"]

    def one(data):
        with proxy.connect() as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            driver.read_all(connection)
    threads = [threading.Thread(target=one, args=(b"".join(chance.choices(pieces, k=chance.randint(1, 8))),)) for _ in range(400)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with proxy.connect() as connection:
        connection.sendall(get("http://plain.test/"))
        expect(read_answer(connection)[2], b"ok")


def case_an_answer_that_takes_long_to_search(world):
    """An answer without end, packed to a thousandth, of what looks like the value: others are served, and the session can end"""
    member = gzip.compress(KEY[:12].encode() * (1 << 20), 9)

    def serve(connection):
        driver.read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
        while True:
            connection.sendall(member)

    def drain(connection):
        with contextlib.suppress(OSError):
            while got := connection.recv(1 << 20):
                drained.append(len(got))
    drained = []
    proxy, _ = with_key(world, serve=serve)
    for _ in range(3):
        connection = inside(world, proxy, "api.test")
        connection.sendall(get("/", host="api.test"))
        threading.Thread(target=drain, args=(connection,), daemon=True).start()
    eventually(lambda: len(drained) > 20, seconds=20)
    for _ in range(5):
        with proxy.connect() as other:
            other.sendall(b"CONNECT no.test:443 HTTP/1.1\r\nHost: no.test\r\n\r\n")
            expect_in(b"403", other.recv(1000))
    expect(proxy.end(), 0)
