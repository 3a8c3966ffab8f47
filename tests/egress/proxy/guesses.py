"""What a program learns of a credential whose host gives back what the program sends: nothing."""
import base64
import hashlib
import struct
import threading
import time

import driver
from credentials import KEY, with_key
from plain import get
from tls import ask, inside
from world import Recorder, answer, expect, read_request

AGREED = (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          b"Sec-WebSocket-Accept: %b\r\n\r\n")


def frame(text, first=0x81, mask=b""):
    size = bytes([len(text) | bool(mask) << 7]) if len(text) < 126 else struct.pack("!BH", 126 | bool(mask) << 7, len(text))
    return bytes([first]) + size + mask + bytes(byte ^ mask[at % 4] if mask else byte for at, byte in enumerate(text))


def agree(connection):
    head, _ = read_request(connection)
    key, = [line.split(b": ", 1)[1] for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key")]
    connection.sendall(AGREED % base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()))


def read_frame(connection):
    first, size = driver.read_exactly(connection, 2)
    if size & 127 == 126:
        return first, driver.read_exactly(connection, struct.unpack("!H", driver.read_exactly(connection, 2))[0])
    mask = driver.read_exactly(connection, 4) if size & 128 else bytes(4)
    return first, bytes(byte ^ mask[at % 4] for at, byte in enumerate(driver.read_exactly(connection, size & 127)))


def web_socket(world, proxy):
    connection = inside(world, proxy, "api.test")
    connection.sendall(get("/", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", host="api.test"))
    expect(driver.read_head(connection)[9:12], b"101")
    return connection


def case_messages_that_come_back(world):
    """A message that is the beginning of the value comes back as fast as any: by itself, in one frame, unchanged"""
    def serve(connection):
        agree(connection)
        while True:
            connection.sendall(frame(read_frame(connection)[1]))
    proxy, _ = with_key(world, serve=serve)
    coded = base64.b64encode(KEY.encode())
    with web_socket(world, proxy) as connection:
        # Were one kept until there is more of it, nothing would come: nothing more is sent.
        for text in (KEY[:4].encode(), KEY[:9].encode(), KEY[:8].encode() + b"0", KEY[:-1].encode(), b"two words", b"x\n" + KEY[:12].encode(),
                     coded[:20], b"%73%6b-", b"\\u0073\\u006b-test-3f", b"", b"x" * 20):
            connection.sendall(frame(text, mask=b"abcd"))
            expect(read_frame(connection), (0x81, text))
        for text in (KEY.encode(), b"bot:" + KEY.encode() + b" said"):
            connection.sendall(frame(text, mask=b"abcd"))
            expect(read_frame(connection), (0x81, text.replace(KEY.encode(), b"*" * len(KEY))))


def case_frames(world):
    """Frames are searched as the message that they make up; a ping amidst is answered apart; what is no frame ends the connection"""
    half = len(KEY) // 2
    long = b"long\n" * 5000 + KEY.encode()

    def serve(connection):
        agree(connection)
        for part in (frame(b"say " + KEY[:half].encode(), 0x01), frame(b"ping " + KEY.encode(), 0x89), frame(KEY[half:].encode() + b"\n", 0x00),
                     frame(b"", 0x80), frame(long, 0x82), sent[0]):
            connection.sendall(part)
        connection.recv(1)
    for sent in ([frame(b"compressed", 0xc1)], [frame(b"masked", mask=b"abcd")], [frame(b"reserved", 0x83)], [frame(b"of no message", 0x80)],
                 [frame(b"in parts", 0x09)], [b"\x89\x7e\1\0"]):
        proxy, _ = with_key(world, serve=serve)
        with web_socket(world, proxy) as connection:
            text, kinds, controls = b"", [], []
            while kinds.count("end") < 2:
                first, part = read_frame(connection)
                if first & 8:
                    controls.append((first, part))
                    continue
                text += part
                kinds += ["end"] * (first >> 7)
            expect((text[:-len(long)], text[-len(long):] == long.replace(KEY.encode(), b"*" * len(KEY))), (b"say " + b"*" * len(KEY) + b"\n", True))
            expect(controls, [(0x89, b"ping " + b"*" * len(KEY))])
            expect(connection.recv(1), b"")
        record, = proxy.records(1)
        expect((record["verdict"], record["reason"], record["redacted"]), ("failed", "what it sends are no frames of WebSocket's", 3))
        world.end_case()


def case_a_silence(world):
    """What has no end of a line comes, too, although the server sends no more: of an answer, and of a message"""
    def serve(connection):
        head, _ = read_request(connection)
        connection.sendall(answer(length=False, fields=("Transfer-Encoding: chunked",)))
        connection.sendall(b"18\r\npassword for sk-test-3: \r\n")
        gate.acquire(timeout=15)
        connection.sendall(b"0\r\n\r\n")

    def serve_frames(connection):
        agree(connection)
        connection.sendall(frame(KEY[:9].encode(), 0x01))
        gate.acquire(timeout=15)
        connection.sendall(frame(b"", 0x80))
        connection.recv(1)
    gate = threading.Semaphore(0)
    proxy, _ = with_key(world, serve=serve)
    with inside(world, proxy, "api.test") as connection:
        connection.sendall(get("/", host="api.test"))
        driver.read_head(connection)
        expect(driver.read_exactly(connection, 30), b"18\r\npassword for sk-test-3: \r\n")
        gate.release()
        expect(driver.read_exactly(connection, 5), b"0\r\n\r\n")
    world.end_case()
    proxy, _ = with_key(world, serve=serve_frames)
    with web_socket(world, proxy) as connection:
        expect(read_frame(connection), (0x01, KEY[:9].encode()))
        gate.release()
        expect(read_frame(connection), (0x80, b""))


def renewed(world, count, serve):
    """A host with so many credentials, each in a file that is read again each second; write(number): new values."""
    world.server(("203.0.113.12", 443), serve, world.tls())

    def write(number):
        for each in range(count):
            file = world.folder / f"key{each}"
            file.write_text(f"value-{number}-of-{each}-{KEY[::-1]}\n")
            file.chmod(0o600)
    write(0)
    rest = "".join(f'credential K{each} {{ source file {world.folder}/key{each} compat "a test"; host api.test; header x-k{each}; refresh 1s }}\n'
                   for each in range(count))
    return world.proxy("allow api.test", rest=rest, values=[f"placeholder K{each}=sbx-placeholder-{each:02}" for each in range(count)]), write


def case_values_that_were(world):
    """What a server shows of the values that it had since is overwritten, however many those are: of sixteen credentials, each renewed twice"""
    seen = []

    def reply(head, _):
        seen.append(head)
        return answer(body=b"".join(seen))
    proxy, write = renewed(world, 16, Recorder(reply))
    with inside(world, proxy, "api.test") as connection:
        for number in range(3):
            if number:
                write(number)
                time.sleep(1.1)
            for each in range(16):
                status, _, body = ask(connection, "/", f"x-k{each}: sbx-placeholder-{each:02}", host="api.test")
                expect((status, f"value-{number}-of-{each}-".encode() in seen[-1], KEY[::-1].encode() in body), ("HTTP/1.1 200 Some Reason", True, False))
    expect(b"".join(seen).count(KEY[::-1].encode()), 48)


def case_an_answer_that_was_open(world):
    """An answer that began before the value changed is searched for the new one, too"""
    tails = []

    def serve(connection):
        while True:
            head, _ = read_request(connection)
            if not head:
                return
            for tail in tails:
                tail.sendall(b"%x\r\n%b\r\n" % (len(head), head))
            if b" /tail " in head:
                connection.sendall(answer(length=False, fields=("Transfer-Encoding: chunked",)))
                tails.append(connection)
            else:
                connection.sendall(answer(body=b"ok"))
    proxy, write = renewed(world, 1, serve)
    with inside(world, proxy, "api.test") as tail, inside(world, proxy, "api.test") as connection:
        tail.sendall(get("/tail", host="api.test"))
        driver.read_head(tail)
        for number in range(3):
            write(number)
            time.sleep(1.1)
            ask(connection, f"/{number}", host="api.test")
            got = b""
            while b"\r\n\r\n\r\n" not in got:
                got += tail.recv(1000)
            expect((f"GET /{number} ".encode() in got, b"\r\nx-k0: **" in got, KEY[::-1].encode() in got), (True, True, False))
