"""The session: how it begins, who may use it, how it ends, what the process can do."""
import json
import os
import pathlib
import resource
import signal
import socket
import subprocess
import time

import driver
from credentials import KEY, PLACEHOLDER, bomb, fields, with_key
from gates import connect, line_of
from plain import get
from tls import ask, inside
from world import Recorder, answer, echo, eventually, expect, expect_in


def case_it_ends_with_its_socket(world):
    """When descriptor 3 closes the proxy goes, with open tunnels, and logs them"""
    world.server(("203.0.113.15", 9000), echo)
    proxy = world.proxy("allow port.test:9000")
    connection = proxy.tunnel("port.test", 9000)
    connection.sendall(b"hello")
    driver.read_exactly(connection, 5)
    expect(proxy.end(), 0)
    expect(driver.read_all(connection), b"")
    expect([record["sent"] for record in proxy.records(1)], [5])


def case_its_last_words(world):
    """At its end it says of each host what was refused or failed, and how often; not what went well, nor what the program broke off"""
    world.server(("203.0.113.15", 9000), echo)
    world.server(("203.0.113.14", 80), Recorder())
    proxy = world.proxy("allow port.test:9000", "allow absent.test", "allow plain.test:80", "deny bad.test")
    proxy.tunnel("port.test", 9000).close()
    for host in ("evil.test", "bad.test", "evil.test", "absent.test"):
        proxy.exchange(connect(host))
    proxy.exchange(connect("evil.test", 80))
    proxy.exchange(b"\5\1\0\5\1\0\3\x09evil.test\x01\xbb")
    proxy.exchange(connect("[2001:db8::1]"))
    proxy.exchange(b"GET / HTTP/1.1\r\n\r\n")
    with proxy.connect() as connection:
        connection.sendall(b"POST http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nContent-Length: 9\r\n\r\nhalf")
        connection.shutdown(socket.SHUT_WR)
        driver.read_all(connection)
    proxy.records(10)
    expect(proxy.last_words(), [(0, line) for line in (
        "the proxy refused evil.test:443 (3 times): no rule allows it",
        "the proxy refused bad.test:443: deny bad.test (test.pol:15)",
        "the proxy could not serve absent.test:443: there is no such name",
        "the proxy refused evil.test:80: no rule allows it",
        "the proxy refused [2001:db8::1]:443: no rule allows it",
        "the proxy refused a request: malformed request: no Host field")])
    expect(proxy.end(), 0)


def case_more_than_it_remembers(world):
    """Of 256 hosts it says each, of others how many requests; also where nobody reads for a while, and without a log"""
    proxy = world.stack.enter_context(driver.Proxy(world.blob(["allow good.test"]), roots=world.roots))
    for number in [*range(260), 0, 259]:
        proxy.exchange(connect(f"{number}.{'x' * 60}.test"))
    said = proxy.last_words()
    expect((len(said), said[0], said[-1]), (257, (0, f"the proxy refused 0.{'x' * 60}.test:443 (2 times): no rule allows it"),
                                            (1, "the proxy refused or could not serve 5 requests to other hosts")))


def case_it_needs_its_launcher(world):
    """By hand it says what it is, and does nothing"""
    program = os.environ.get("SBX_PROXY", os.path.join(driver.BUILD, "sbx-proxy"))
    done = subprocess.run([program], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    expect((done.returncode, done.stdout), (2, b""))
    expect_in(b"sbx-exec starts it", done.stderr)
    for option, status in (("--help", 0), ("--version", 0), ("--listen", 2)):
        expect(subprocess.run([program, option], capture_output=True, check=False).returncode, status)


def case_what_it_is_not_given(world):
    """Another version, a broken blob, no session: FAILED with a reason"""
    good = world.blob(["allow good.test"])
    for blob, version, wrong in ((good, 2, "of two versions"), (good[:-8], 1, "truncated"), (good[:100] + b"x" + good[101:], 1, ""),
                                 (b"", 1, "the blob cannot be read")):
        proxy = driver.Proxy(blob, start=False)
        proxy.spawn()
        proxy.open_session(version)
        kind, text = proxy.hear()
        expect(kind, driver.FAILED)
        expect_in(wrong, text)
        _, status = os.waitpid(proxy.pid, 0)
        expect(os.waitstatus_to_exitcode(status), 1)
        proxy.control.close()
    proxy = driver.Proxy(good, start=False)
    proxy.spawn()
    expect(os.waitstatus_to_exitcode(proxy.end()), 1)


def case_what_others_could_change(world):
    """A blob or values that are not sealed against each change are not read"""
    good = world.blob(["allow good.test"])
    for seals, wrong in (({"blob_seals": 0}, "the blob cannot be read"), ({"blob_seals": 0x6}, "the blob cannot be read"),
                         ({"values_seals": 0xc}, "the session's values cannot be read")):
        proxy = driver.Proxy(good, start=False)
        proxy.spawn()
        proxy.open_session(**seals)
        expect(proxy.hear(), (driver.FAILED, wrong))
        os.waitpid(proxy.pid, 0)
        proxy.control.close()


def case_only_who_was_announced(world):
    """On the host's loopback a connection that was not announced is dropped, unread"""
    proxy = world.proxy("allow good.test", expected=True)
    for _ in range(20):
        expect(line_of(proxy.exchange(connect("evil.test"))), "sbx: evil.test:443 refused: no rule allows it")
        with socket.create_connection(proxy.address) as stranger:
            expect(driver.read_all(stranger), b"")
    with socket.socket() as late:
        late.bind(("127.0.0.1", 0))
        port = late.getsockname()[1]
        proxy.say(driver.EXPECT, port)
        proxy.say(driver.FORGET, port)
        late.connect(proxy.address)
        expect(driver.read_all(late), b"")
    with socket.socket() as twice:
        twice.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        twice.bind(("127.0.0.1", 0))
        port = twice.getsockname()[1]
        proxy.say(driver.EXPECT, port)
        twice.connect(proxy.address)
        twice.sendall(connect("evil.test"))
        expect(driver.read_all(twice)[:12], b"HTTP/1.1 403")
    expect(len(proxy.records(21)), 21)


def case_what_the_process_may(world):
    """No core, no new rights, a filter, no descriptor of its launcher's, an empty environment"""
    proxy = world.proxy("allow good.test")
    with open(f"/proc/{proxy.pid}/status", encoding="ascii") as status:
        fields = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
    expect((fields["NoNewPrivs"], fields["Seccomp"]), ("1", "2"))
    with open(f"/proc/{proxy.pid}/limits", encoding="ascii") as limits:
        expect_in("Max core file size        0                    0", limits.read())
    with open(f"/proc/{proxy.pid}/environ", "rb") as environ:
        expect([name for name in environ.read().split(b"\0") if name and b"SAN_OPTIONS" not in name], [])
    kinds = [os.readlink(f"/proc/{proxy.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{proxy.pid}/fd")]
    known = ("/dev/null", "socket:", "anon_inode:[event", "pipe:", str(world.folder / "log"), "/memfd:")
    expect(([kind for kind in kinds if not kind.startswith(known)], len([k for k in kinds if k[:5] == "pipe:"])), ([], 2))  # the loop's own


def case_killed(world):
    """A proxy that is killed takes its tunnels with it, at once"""
    world.server(("203.0.113.15", 9000), echo)
    proxy = world.proxy("allow port.test:9000")
    connection = proxy.tunnel("port.test", 9000)
    os.kill(proxy.pid, signal.SIGKILL)
    expect(driver.read_all(connection), b"")
    os.waitpid(proxy.pid, 0)
    proxy.pid = 0


def case_the_bundle(world):
    """The bundle has the system's roots, and the session's CA only where TLS is ended"""
    with open(world.roots, "rb") as file:
        roots = file.read()
    proxy = world.proxy("allow good.test")
    expect(os.pread(proxy.bundle, 1 << 20, 0), roots)
    proxy = world.proxy("allow narrow.test method GET")
    bundle = os.pread(proxy.bundle, 1 << 20, 0)
    expect(bundle.count(b"-----BEGIN CERTIFICATE-----"), 2)
    expect_in(roots.strip(), bundle)


def case_no_log_is_wanted(world):
    """Without a log everything goes as with one"""
    proxy = driver.Proxy(world.blob(["allow good.test"]), roots=world.roots)
    world.stack.enter_context(proxy)
    expect(line_of(proxy.exchange(connect("evil.test"))), "sbx: evil.test:443 refused: no rule allows it")


def case_the_log_is_removed(world):
    """A log that is removed while it is written is said, once"""
    proxy = world.proxy("allow good.test")
    proxy.exchange(connect("evil.test"))
    proxy.records(1)
    (world.folder / "log").unlink()
    for _ in range(3):
        proxy.exchange(connect("evil.test"))
    expect(proxy.hear(), (driver.NOTE, "the log of the network was removed: what is decided is written nowhere"))
    expect(proxy.last_words(), [(0, "the proxy refused evil.test:443 (4 times): no rule allows it")])
    expect(proxy.notes, [])


def case_the_log_at_its_limit(world):
    """Where the log may not grow, the session goes on, and no line runs into the next"""
    proxy = world.proxy("allow good.test")
    unlimited = resource.prlimit(proxy.pid, resource.RLIMIT_FSIZE)
    expect(line_of(proxy.exchange(connect("evil.test"))), "sbx: evil.test:443 refused: no rule allows it")
    proxy.records(1)
    resource.prlimit(proxy.pid, resource.RLIMIT_FSIZE, (os.path.getsize(proxy.log) + 30, unlimited[1]))
    for _ in range(3):
        expect(line_of(proxy.exchange(connect("evil.test"))), "sbx: evil.test:443 refused: no rule allows it")
    expect_in("lines are missing", proxy.hear()[1])
    resource.prlimit(proxy.pid, resource.RLIMIT_FSIZE, unlimited)
    proxy.exchange(connect("other.test"))
    eventually(lambda: pathlib.Path(proxy.log).read_text().count("\n") == 3)
    first, cut, last, rest = pathlib.Path(proxy.log).read_text().split("\n")
    expect((json.loads(first)["host"], len(cut), json.loads(last)["host"], rest), ("evil.test", 30, "other.test", ""))


def case_the_start_is_quick(world):
    """A session is ready within 50 ms, its CA and all"""
    blob = world.blob(["allow narrow.test method GET"])
    times = []
    while len(times) < 5 or (min(times) >= 0.05 and len(times) < 50):  # the machine may be busy
        begun = time.time()
        with driver.Proxy(blob, roots=world.roots):
            times.append(time.time() - begun)
    expect((min(times) < 0.05, times)[0], True)


def case_a_machine_that_moves(world):
    """Another /etc/resolv.conf is followed"""
    world.server(("203.0.113.10", 443), echo)
    proxy = world.proxy("allow good.test")
    path = world.folder / "resolv.conf"
    text = path.read_text()
    try:
        path.write_text("nameserver 127.0.0.54\noptions timeout:1 attempts:1\n")
        expect_in(b" 50", proxy.exchange(connect("good.test"), timeout=30)[:12])
    finally:
        path.write_text(text)
    eventually(lambda: proxy.exchange(connect("good.test") + b"\x16\x03\x01\0\1x")[:12] == b"HTTP/1.1 200")


def memory_of(pid):
    """All that a process can read of its own."""
    found = []
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
        for line in maps:
            span, rights, *_, = line.split()
            if rights[0] != "r" or "[v" in line:
                continue
            begin, end = (int(part, 16) for part in span.split("-"))
            memory.seek(begin)
            found.append(memory.read(end - begin))
    return b"".join(found)


def keeper_of(proxy):
    with open(f"/proc/{proxy.pid}/task/{proxy.pid}/children", encoding="ascii") as children:
        keeper, = children.read().split()
    return int(keeper)


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        numbers = stat.read().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def case_a_bomb_that_nobody_reads(world):
    """What unpacks to a thousand times its size is unpacked no further than the program reads, and waits without work"""
    proxy, _ = with_key(world, serve=bomb(32 << 20))
    before = proxy.memory_kb()
    held = [inside(world, proxy, "api.test") for _ in range(15)]
    for number, connection in enumerate(held):
        connection.sendall(get(("/length", "/chunks")[number % 2], host="api.test"))
    eventually(lambda: proxy.memory_kb() - before > 15 * 40)
    time.sleep(1)
    busy = processor_seconds(proxy.pid)
    time.sleep(1)
    expect((proxy.memory_kb() - before < 15 * 400, processor_seconds(proxy.pid) - busy < 0.3), (True, True))
    for connection in held:
        connection.close()


def case_it_is_not_in_the_worker(world):
    """Between two requests the process that speaks to the network has no copy of the value, not even of its echo"""
    proxy, _ = with_key(world, lambda head, _: answer(body=b"you said " + head))
    with inside(world, proxy, "api.test") as connection:
        ask(connection, "/", host="api.test")
        time.sleep(0.1)
        expect([KEY.encode() in memory_of(pid) for pid in (keeper_of(proxy), proxy.pid)], [True, False])


def case_from_the_environment(world):
    """A variable of the launcher's can be the source"""
    server = Recorder()
    world.server(("203.0.113.12", 443), server, world.tls())
    proxy = world.proxy("allow api.test", rest="""credential TEST_KEY {
    source env REAL_KEY compat "a test"
    host   api.test:443
    header x-api-key
}
""", values=(f"placeholder TEST_KEY={PLACEHOLDER}", f"env REAL_KEY={KEY}"))
    with inside(world, proxy, "api.test") as connection:
        ask(connection, "/", host="api.test")
        time.sleep(0.1)
        expect([KEY.encode() in memory_of(pid) for pid in (keeper_of(proxy), proxy.pid)], [True, False])
    expect(dict(fields(server.seen[0][0]))["x-api-key"], KEY)
    with open(f"/proc/{proxy.pid}/environ", "rb") as environ:
        expect(KEY.encode() in environ.read(), False)


def case_the_keeper_is_killed(world):
    """Without its keeper the proxy has no value to put in: 502 for that host, which the person is told once; all else goes on"""
    proxy, server = with_key(world)
    os.kill(keeper_of(proxy), signal.SIGKILL)
    expect(proxy.hear(), (driver.NOTE, "the keeper of the credentials has ended: none goes out from here on"))
    for _ in range(2):
        with inside(world, proxy, "api.test") as connection:
            status, _, body = ask(connection, "/", host="api.test")
            expect((status[:12], body), ("HTTP/1.1 502", b"sbx: api.test:443 failed: the credential TEST_KEY cannot be had now\n"))
    expect((server.seen, proxy.notes), ([], []))
    expect(line_of(proxy.exchange(connect("evil.test"))), "sbx: evil.test:443 refused: no rule allows it")
