"""What passes unread: both ways, at the pace of who reads, each end closed by itself."""
import os
import socket
import ssl
import threading
import time

import driver
from world import echo, eventually, expect, expect_in


def hello(name, **options):
    """The ClientHello for a name, as a client sends it."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    for key, value in options.items():
        setattr(context, key, value)
    client = context.wrap_bio(incoming, outgoing, server_hostname=name)
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def plain_tunnel(world, serve=echo):
    world.server(("203.0.113.15", 9000), serve)
    return world.proxy("allow port.test:9000")



def case_the_name_in_the_hello(world):
    """On port 443 a ClientHello has to name the host of the CONNECT"""
    got = []
    world.server(("203.0.113.10", 443), lambda connection: got.append(driver.read_exactly(connection, 20)))
    for name, verdict in (("good.test", "allowed"), ("GOOD.test", "allowed"), ("other.test", "refused")):
        proxy = world.proxy("allow good.test")
        connection = proxy.tunnel("good.test", 443)
        connection.sendall(hello(name))
        driver.read_all(connection)
        expect(proxy.records(1)[0]["verdict"], verdict)
    expect(len([data for data in got if data]), 2)


def case_no_hello(world):
    """On port 443 what is no ClientHello is closed, logged, and does not reach the server"""
    got = []
    world.server(("203.0.113.10", 443), lambda connection: got.append(connection.recv(100)))
    nameless = hello("203.0.113.10")
    for data in (b"GET / HTTP/1.1\r\nHost: other.test\r\n\r\n", b"SSH-2.0-x\r\n", nameless, b"\x16\x03\x01\x00\x05\x02\0\0\1\0"):
        proxy = world.proxy("allow good.test")
        connection = proxy.tunnel("good.test", 443)
        connection.sendall(data)
        expect(driver.read_all(connection), b"")
        expect(proxy.records(1)[0]["verdict"], "refused")
    expect([data for data in got if data], [])


def case_a_hello_in_pieces(world):
    """A ClientHello may come byte by byte, and be of 10 KB; it arrives as it was sent"""
    got = []

    def serve(connection):
        got.append(driver.read_exactly(connection, len(data)))
    world.server(("203.0.113.10", 443), serve)
    data = hello("good.test")
    proxy = world.proxy("allow good.test")
    connection = proxy.tunnel("good.test", 443)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for at in range(0, len(data), 40):
        connection.sendall(data[at:at + 40])
        time.sleep(0.002)
    expect(driver.read_all(connection), b"")
    expect(got, [data])


def case_other_ports(world):
    """On other ports any protocol passes, but TLS with another name does not"""
    proxy = plain_tunnel(world)
    connection = proxy.tunnel("port.test", 9000)
    connection.sendall(b"SSH-2.0-x\r\n")
    expect(driver.read_exactly(connection, 11), b"SSH-2.0-x\r\n")
    connection.close()
    connection = proxy.tunnel("port.test", 9000)
    connection.sendall(hello("other.test"))
    expect(driver.read_all(connection), b"")
    expect([record["verdict"] for record in proxy.records(2)], ["allowed", "refused"])


def case_the_server_speaks_first(world):
    """What a server says before the client does arrives"""
    proxy = plain_tunnel(world, lambda connection: (connection.sendall(b"220 ready\r\n"), echo(connection)))
    connection = proxy.tunnel("port.test", 9000)
    expect(driver.read_exactly(connection, 11), b"220 ready\r\n")
    connection.sendall(b"HELO")
    expect(driver.read_exactly(connection, 4), b"HELO")


def case_bytes_with_the_connect(world):
    """What is sent right behind the CONNECT, unasked, is not lost"""
    proxy = plain_tunnel(world)
    with proxy.connect() as connection:
        connection.sendall(b"CONNECT port.test:9000 HTTP/1.1\r\nHost: port.test:9000\r\n\r\nearly")
        driver.read_head(connection)
        expect(driver.read_exactly(connection, 5), b"early")
    with proxy.connect() as connection:
        connection.sendall(b"\5\1\0\5\1\0\3\x09port.test" + (9000).to_bytes(2, "big") + b"early")
        expect(driver.read_exactly(connection, 17)[12:], b"early")


def case_each_end_by_itself(world):
    """A side that is done does not end the other: half a connection goes on"""
    proxy = plain_tunnel(world)
    connection = proxy.tunnel("port.test", 9000)
    connection.sendall(b"last words")
    connection.shutdown(socket.SHUT_WR)
    expect(driver.read_all(connection), b"last wordsbye")

    def talk(server):
        server.sendall(b"done")
        server.shutdown(socket.SHUT_WR)
        got.append(driver.read_all(server))
    got = []
    proxy = world.proxy("allow port.test:9001")
    world.server(("203.0.113.15", 9001), talk)
    connection = proxy.tunnel("port.test", 9001)
    expect(driver.read_all(connection), b"done")
    connection.sendall(b"still here")
    connection.close()
    eventually(lambda: got == [b"still here"])


def case_much(world):
    """32 MB, both ways at once, arrive unchanged"""
    proxy = plain_tunnel(world)
    data = os.urandom(1 << 20) * 32
    connection = proxy.tunnel("port.test", 9000)
    writer = threading.Thread(target=lambda: (connection.sendall(data), connection.shutdown(socket.SHUT_WR)))
    writer.start()
    got = driver.read_all(connection)
    writer.join()
    expect(got == data + b"bye", True)
    record, = proxy.records(1)
    expect((record["sent"], record["received"]), (len(data), len(data) + 3))


def case_a_slow_reader(world):
    """A side that does not read is waited for, and costs no memory"""
    def flood(connection):
        connection.settimeout(1)
        try:
            while True:
                connection.sendall(b"x" * 65536)
                sent[0] += 65536
        except TimeoutError:
            pass
    sent = [0]
    proxy = plain_tunnel(world, flood)
    before = proxy.memory_kb()
    connections = [proxy.tunnel("port.test", 9000) for _ in range(20)]
    time.sleep(1.5)
    expect_in(proxy.memory_kb() - before < 20 * 256, (True,))
    expect(len(driver.read_exactly(connections[0], 1 << 20)), 1 << 20)
    for connection in connections:
        connection.close()


def case_ends_of_the_world(world):
    """A reset by either side ends the other, and leaves no descriptor"""
    def reset(connection):
        connection.recv(1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    proxy = plain_tunnel(world, reset)
    before = proxy.at_rest()
    connection = proxy.tunnel("port.test", 9000)
    connection.sendall(b"x")
    expect(driver.read_all(connection), b"")
    connection = proxy.tunnel("port.test", 9000)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()
    eventually(lambda: proxy.descriptors() == before)


def case_many_at_once(world):
    """200 tunnels at once, all of them at work; when they close, all descriptors do"""
    proxy = plain_tunnel(world)
    before = proxy.at_rest()
    wrong = []

    def one(number):
        data = bytes([number]) * 100000
        with proxy.tunnel("port.test", 9000, timeout=30) as connection:
            connection.sendall(data)
            if driver.read_exactly(connection, len(data)) != data:
                wrong.append(number)
    threads = [threading.Thread(target=one, args=(number,)) for number in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(wrong, [])
    expect(len(proxy.records(200)), 200)
    eventually(lambda: proxy.descriptors() == before)


def case_a_thousand_at_rest(world):
    """1,000 idle tunnels take less than 60 MB"""
    proxy = plain_tunnel(world)
    connections = [proxy.tunnel("port.test", 9000) for _ in range(1000)]
    for connection in connections:
        connection.sendall(b"x")
        driver.read_exactly(connection, 1)
    used = proxy.memory_kb()
    expect((used < 60 * 1024, used)[0], True)
    for connection in connections:
        connection.close()


def case_the_limit(world):
    """Past 2,048 connections a new one gets 503, and goes on once there is room"""
    proxy = world.proxy("allow port.test:9000")
    connections = [proxy.connect() for _ in range(2048)]
    eventually(lambda: proxy.descriptors() > 2048)
    reply = proxy.exchange(b"")
    expect(reply[:12], b"HTTP/1.1 503")
    for connection in connections:
        connection.close()
    eventually(lambda: proxy.descriptors() < 100)
    expect(proxy.exchange(b"CONNECT x.test:1 HTTP/1.1\r\nHost: x.test\r\n\r\n")[:12], b"HTTP/1.1 403")
