#!/usr/bin/python3 -I
"""Stands in for sbx-proxy in tests of the launcher: it says what it was given, and passes
bytes on by rules of the test's own.  What it should do lies in a file beside it, STANDIN,
as words: fail, slow, die, hang, last (seven lines at its end), endless; else nothing.  It writes what it hears to LOG beside it."""
import array, collections, os, pathlib, select, socket, struct, sys, threading, time

place = pathlib.Path(__file__).resolve().parent
words = (place / "standin").read_text().split() if (place / "standin").exists() else []
SESSION, READY, FAILED, LISTEN, NOTE, EXPECT, FORGET, SUMMARY = range(1, 9)
wire = socket.socket(fileno=3)
log = open(place / "standin.log", "a", buffering=1)


def part_with():
    try:
        for number in range(7 if "last" in words else 0):
            wire.send(struct.pack("Ii", SUMMARY, 0) + f"the proxy refused host{number}.test:443: \x1b[1m\0".encode())
        while "endless" in words:
            wire.send(struct.pack("Ii", SUMMARY, 1) + b"endless\0")
            time.sleep(0.1)
    finally:
        os._exit(0)


def hear():
    data, ancillary, _, _ = wire.recvmsg(2048, socket.CMSG_SPACE(32))
    fds = array.array("i")
    for level, kind, part in ancillary:
        fds.frombytes(part[:len(part) // 4 * 4])
    if not data:
        part_with()
    kind, value = struct.unpack("Ii", data[:8])
    return kind, value, list(fds)


def tell(kind, text=""):
    wire.send(struct.pack("Ii", kind, 0) + (text.encode() + b"\0" if text else b""))


def contents(fd):
    data = b""
    while part := os.pread(fd, 65536, len(data)):
        data += part
    return data


kind, value, fds = hear()
assert (kind, value) == (SESSION, 1), (kind, value)
log.write(f"descriptors {sorted(int(n) for n in os.listdir('/proc/self/fd'))[:4]} and {len(fds)}\n")
log.write(f"environment {len(os.environ)} argv {sys.argv[1:]} directory {os.getcwd()} pid {os.getpid()}\n")
log.write(f"blob {contents(fds[0])[:4]!r}\n")
for line in contents(fds[1]).split(b"\0")[:-1]:
    log.write(line.decode() + "\n")
if "slow" in words:
    time.sleep(1)
if "hang" in words:
    time.sleep(60)
if "die" in words:
    os._exit(1)
if "fail" in words:
    tell(FAILED, "credential KEY: no key: make one")
    os._exit(1)
os.write(fds[2], b"ROOTS\n")
if len(fds) > 3:
    os.write(fds[3], b'{"session": "x"}\n')
tell(READY)
kind, guarded, fds = hear()
assert kind == LISTEN, kind
listener = socket.socket(fileno=fds[0])
listener.setblocking(False)
log.write(f"listen {listener.getsockname()[0]} {listener.getsockname()[1]} guarded {guarded}\n")
expected = collections.Counter()
while True:
    select.select([wire, listener], [], [])
    while select.select([wire], [], [], 0)[0]:
        kind, value, _ = hear()
        log.write(f"{ {EXPECT: 'expect', FORGET: 'forget'}[kind]} {value}\n")
        expected[value] += 1 if kind == EXPECT else -1
    try:
        client, peer = listener.accept()
    except BlockingIOError:
        continue
    if guarded and expected[peer[1]] <= 0:
        log.write(f"dropped {peer[1]}\n")
        client.close()
        continue
    expected[peer[1]] -= 1
    try:
        request = client.recv(4096)
        if request.startswith(b"NOTE"):
            tell(NOTE, "a note of the proxy's")
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nPROXY\n")
    except OSError:
        pass
    client.close()
