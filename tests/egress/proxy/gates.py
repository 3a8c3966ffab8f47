"""The two gates: by name before anything is resolved, by address before it is dialled."""
import contextlib
import os
import socket
import subprocess

import driver
from world import NAMES, echo, expect, expect_in


def connect(host, port=443, head=""):
    return f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{head}\r\n".encode()


def line_of(reply):
    """The one line of a refusal, or the status line of anything else."""
    head, _, body = reply.partition(b"\r\n\r\n")
    return body.decode().rstrip("\n") if body else head.split(b"\r\n")[0].decode()


def case_suffix_is_whole_labels(world):
    """*.good.test is a.good.test, and neither good.test, notgood.test nor good.test.other.test"""
    world.server(("203.0.113.10", 443), echo)
    proxy = world.proxy("allow *.good.test")
    for host in ("good.test", "notgood.test", "a.good.test.other.test", "agood.test", "a-good.test"):
        expect(line_of(proxy.exchange(connect(host))), f"sbx: {host}:443 refused: no rule allows it")
    proxy.tunnel("a.good.test", 443).close()
    proxy.tunnel("A.GOOD.test.", 443).close()


def case_a_rule_answers_first(world):
    """A refused host at a port of TLS is refused by the rule, not for the way it was asked"""
    proxy = world.proxy("allow good.test")
    for url, host in (("http://denied.test:443/", "denied.test"), ("https://denied.test/", "denied.test")):
        reply = proxy.exchange(f"GET {url} HTTP/1.1\r\nHost: {host}:443\r\n\r\n".encode())
        expect(reply[:12], b"HTTP/1.1 403")
        expect(line_of(reply), f"sbx: {host}:443 refused: no rule allows it")
    expect(proxy.exchange(b"GET https://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n")[:12], b"HTTP/1.1 400")


def case_a_name_with_other_bytes(world):
    """A NUL, a blank, a control byte or a second host in a name is no name"""
    proxy = world.proxy("allow *")
    for host in (b"evil.test\0.good.test", b"evil.test%00.good.test", b"good.test@evil.test", b"good.test/x", b"good.test#x",
                 b"g\xf6od.test", b"good.test,evil.test", b"[good.test", b"[good.test]", b"[1.2.3.4]", b"good.test..", b"..", b"[::1", b":443", b"good.test:80", b""):
        reply = proxy.exchange(b"CONNECT " + host + b":443 HTTP/1.1\r\nHost: x\r\n\r\n")
        expect(reply[:12], b"HTTP/1.1 400")
        name = bytes([len(host)]) + host
        reply = proxy.exchange(b"\5\1\0" + b"\5\1\0\3" + name + b"\x01\xbb")
        expect(reply[:4], b"\5\0\5\1")
    expect(world.names.asked, [])


def case_numbers_that_only_some_read(world):
    """127.1, 0x7f.1 and 2130706433 are refused, as name and as address"""
    proxy = world.proxy("allow *", "allow 0.0.0.0/0:443")
    for host in ("127.1", "0x7f.1", "2130706433", "0177.0.0.1", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[::]", "0"):
        expect_in(b" 403 ", proxy.exchange(connect(host))[:14])


def case_port_is_part_of_a_rule(world):
    """An allowed host is reached at its port and at no other"""
    world.server(("203.0.113.15", 8443), echo)
    proxy = world.proxy("allow port.test:8443")
    proxy.tunnel("port.test", 8443).close()
    for port in (22, 25, 80, 443, 9999):
        expect(line_of(proxy.exchange(connect("port.test", port))), f"sbx: port.test:{port} refused: no rule allows it")
    expect(proxy.exchange(b"\5\1\0\5\1\0\3\x09port.test\0\x16")[:4], b"\5\0\5\2")


def case_nothing_is_looked_up_before(world):
    """A refused name is not resolved; an allowed one is, once, and without search domains"""
    world.server(("203.0.113.10", 443), echo)
    proxy = world.proxy("allow good.test", "allow absent.test")
    proxy.exchange(connect("c2VjcmV0.evil.test"))
    proxy.exchange(b"\5\1\0\5\1\0\3\x0bx.evil.test\0\x50")
    proxy.exchange(b"GET http://y.evil.test/ HTTP/1.1\r\nHost: y.evil.test\r\n\r\n")
    expect(world.names.asked, [])
    proxy.tunnel("good.test", 443).close()
    expect(sorted(world.names.asked), ["good.test", "good.test"])  # A and AAAA
    expect(line_of(proxy.exchange(connect("absent.test"))), "sbx: absent.test:443 failed: there is no such name")
    expect({name for name in world.names.asked if "search" in name}, set())


def case_addresses_after_resolution(world):
    """Loopback, private, link-local and mapped addresses are refused with their rule"""
    for address in ("127.0.0.1", "10.1.2.3", "169.254.169.254"):
        world.server((address, 443), echo)
    proxy = world.proxy(*(f"allow {name}.test" for name in ("inner", "private", "metadata", "mapped", "translated")))
    for name, rule in (("inner", "deny 127.0.0.0/8"), ("private", "deny 10.0.0.0/8"),
                       ("metadata", "deny 169.254.0.0/16"), ("mapped", "deny 127.0.0.0/8"),
                       ("translated", "deny ::ffff:0:0:0/96")):
        reply = line_of(proxy.exchange(connect(f"{name}.test")))
        expect_in(f"sbx: {name}.test:443 refused: its address: {rule} (std/base.pol:", reply)


def case_the_checked_address_is_dialled(world):
    """Of several addresses only those that pass are dialled, one after the other"""
    hits = []
    world.server(("10.1.2.3", 443), hits.append)
    world.server(("203.0.113.10", 443), echo)
    proxy = world.proxy("allow mixed.test", "allow two.test")
    proxy.tunnel("mixed.test", 443).close()
    proxy.tunnel("two.test", 443).close()
    expect(hits, [])
    expect([record["address"] for record in proxy.records(2)], ["203.0.113.10", "203.0.113.10"])


def case_a_name_is_pinned(world):
    """`at` opens an inner address for that host, and binds the host to it"""
    world.server(("127.0.0.1", 8080), echo)
    world.server(("203.0.113.10", 8080), echo)
    proxy = world.proxy("allow pinned.test:8080 at 127.0.0.1", "allow moved.test:8080 at 127.0.0.1")
    proxy.tunnel("pinned.test", 8080).close()
    expect_in("refused", line_of(proxy.exchange(connect("moved.test", 8080))))


def case_a_name_that_changes(world):
    """A second connection resolves anew: an answer that moved inside is refused then"""
    world.server(("203.0.113.10", 443), echo)
    world.server(("127.0.0.1", 443), echo)
    proxy = world.proxy("allow moved.test")
    first = proxy.tunnel("moved.test", 443)
    NAMES["moved.test"] = ["127.0.0.1"]
    try:
        expect_in("deny 127.0.0.0/8", line_of(proxy.exchange(connect("moved.test"))))
    finally:
        NAMES["moved.test"] = ["203.0.113.10"]
    first.close()


def case_addresses_by_themselves(world):
    """A literal address needs a rule of its own, on each way in"""
    world.server(("203.0.113.11", 443), echo)
    world.server(("2001:db8::10", 443), echo)
    proxy = world.proxy("allow *", "allow 203.0.113.11", "allow 2001:db8::10")
    proxy.tunnel("203.0.113.11", 443).close()
    proxy.tunnel("[2001:db8::10]", 443).close()
    expect_in(" refused: ", line_of(proxy.exchange(connect("203.0.113.12"))))
    expect(proxy.exchange(b"\5\1\0\5\1\0\1" + bytes([203, 0, 113, 12]) + b"\x01\xbb")[:4], b"\5\0\5\2")
    with proxy.connect() as connection:
        connection.sendall(b"\5\1\0\5\1\0\4" + bytes.fromhex("20010db8000000000000000000000010") + b"\x01\xbb")
        expect(driver.read_exactly(connection, 4), b"\5\0\5\0")


def case_one_denial_one_answer(world):
    """The same refusal by CONNECT, by URL and by SOCKS: at once, and in the log alike"""
    proxy = world.proxy('deny evil.test because "it is evil"', "allow *", "allow *:80")
    for port, data in ((443, connect("evil.test")), (80, b"GET http://evil.test/x?secret=1 HTTP/1.1\r\nHost: evil.test\r\n\r\n")):
        reply = proxy.exchange(data)
        line = f"sbx: evil.test:{port} refused: deny evil.test (test.pol:12): because it is evil"
        expect((reply.split(b"\r\n")[0].decode(), line_of(reply)), (f"HTTP/1.1 403 {line}", line))
    expect(proxy.exchange(b"\5\1\0\5\1\0\3\x09evil.test\x01\xbb")[:4], b"\5\0\5\2")
    seen = [{key: record.get(key) for key in ("via", "host", "port", "method", "path", "verdict", "rule")} for record in proxy.records(3)]
    common = {"host": "evil.test", "verdict": "refused", "rule": "test.pol:12"}
    expect(seen, [{**common, "via": "connect", "port": 443, "method": None, "path": None},
                  {**common, "via": "http", "port": 80, "method": "GET", "path": "/x"},
                  {**common, "via": "socks", "port": 443, "method": None, "path": None}])


def case_no_answer(world):
    """A host that is silent is 504, and the line says that it was asked directly"""
    proxy = world.proxy("allow good.test")
    with contextlib.ExitStack() as stack:
        silent = stack.enter_context(socket.create_server(("203.0.113.10", 443), backlog=0))
        fill = [stack.enter_context(socket.socket()) for _ in range(4)]  # its queue is full: nothing is answered
        for each in fill:
            each.setblocking(False)
            each.connect_ex(silent.getsockname())
        reply = proxy.exchange(connect("good.test"), timeout=30)
    expect(reply[:12], b"HTTP/1.1 504")
    expect(line_of(reply), "sbx: good.test:443 failed: no answer within 10 seconds: it is asked directly, by no other proxy")


def case_the_status_line(world):
    """It has the line in printable ASCII, cut where it is long; the body has all of it"""
    because = "zu \u00fcbel, " * 60
    proxy = world.proxy(f'deny evil.test because "{because}"')
    reply = proxy.exchange(connect("evil.test"))
    line = f"sbx: evil.test:443 refused: deny evil.test (test.pol:12): because {because}"
    expect(line_of(reply), line)
    expect(reply.split(b"\r\n")[0], b"HTTP/1.1 403 " + line.encode().replace(b"\xc3\xbc", b"??")[:297] + b"...")


def case_faults_on_the_way(world):
    """A port that refuses is 502, a name server that is silent 504, each with its line"""
    world.names.silent.add("good.test")
    proxy = world.proxy("allow good.test", "allow other.test")
    try:
        expect(line_of(proxy.exchange(connect("other.test"))), "sbx: other.test:443 failed: cannot connect: Connection refused")
        reply = proxy.exchange(connect("good.test"), timeout=30)
    finally:
        world.names.silent.clear()
    expect(reply.split(b"\r\n")[0], b"HTTP/1.1 504 sbx: good.test:443 failed: no answer from the name server")
    expect(line_of(reply), "sbx: good.test:443 failed: no answer from the name server")
    expect([record["verdict"] for record in proxy.records(2)], ["failed", "failed"])


def case_the_hosts_file(world):
    """A name of /etc/hosts is known, and passes the gates like others"""
    world.server(("203.0.113.16", 443), echo)
    proxy = world.proxy("allow hosts.test", "allow localhost")
    proxy.tunnel("hosts.test", 443).close()
    expect_in("deny 127.0.0.0/8", line_of(proxy.exchange(connect("localhost"))))


def case_what_the_log_says(world):
    """An allowed connection: its rule, address and bytes, when it is over"""
    world.server(("203.0.113.15", 9000), echo)
    proxy = world.proxy("allow port.test:9000")
    connection = proxy.tunnel("port.test", 9000)
    connection.sendall(b"hello")
    expect(driver.read_exactly(connection, 5), b"hello")
    expect(proxy.records(), [])
    connection.close()
    record, = proxy.records(1)
    expect({key: record[key] for key in ("session", "via", "host", "port", "verdict", "rule", "address", "sent")},
           {"session": "test-1", "via": "connect", "host": "port.test", "port": 9000, "verdict": "allowed",
            "rule": "test.pol:12", "address": "203.0.113.15", "sent": 5})
    dump = subprocess.run([os.path.join(driver.BUILD, "sbxc"), "dump", world.folder / "test.sbx"], check=True, capture_output=True, text=True).stdout
    expect_in(f"\n# digest {record['policy']}\n", dump)
