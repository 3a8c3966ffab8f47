"""TLS that ends at the proxy: hosts whose requests are narrowed by method and prefix."""
import os
import socket
import ssl
import subprocess
import threading
import time

import driver
from plain import get, read_answer
from world import Recorder, answer, expect, expect_in

RULE = "allow narrow.test method GET POST prefix /v1"


def narrow(world, reply=None, tls="good", rules=(RULE,)):
    recorder = Recorder(reply)
    world.server(("203.0.113.13", 443), recorder, world.tls(tls))
    return world.proxy(*rules), recorder


def inside(world, proxy, host="narrow.test", name=None, port=443):
    """A client's TLS connection through the proxy."""
    raw = proxy.tunnel(host, port)
    return world.trust(proxy).wrap_socket(raw, server_hostname=name or host)


def ask(connection, path, *fields, method="GET", host="narrow.test", body=b""):
    connection.sendall(get(path, *fields, method=method, host=host, body=body))
    return read_answer(connection)


def case_requests_are_decided(world):
    """Method and prefix are decided for each request, on one connection"""
    proxy, server = narrow(world)
    with inside(world, proxy) as connection:
        for path in ("/v1", "/v1/x?y=1", "/v1/"):
            expect(ask(connection, path)[2], b"ok")
        expect(ask(connection, "/v1/x", method="POST", body=b"body")[2], b"ok")
        status, _, body = ask(connection, "/v2")
    expect((status[:12], body), ("HTTP/1.1 403", b"sbx: GET https://narrow.test/v2 refused: no rule for this path: allow narrow.test method GET POST prefix /v1 (test.pol:12)\n"))
    with inside(world, proxy) as connection:
        expect(ask(connection, "/v1/x?key=1", method="DELETE")[2],
               b"sbx: DELETE https://narrow.test/v1/x refused: no rule for this method: allow narrow.test method GET POST prefix /v1 (test.pol:12)\n")
    for path in ("/v1/../v2", "/v1/%2e%2e/v2", "/v1//x", "/v1/%2fx", "/v1/\\x"):
        with inside(world, proxy) as connection:
            expect_in(b" refused: this path may be read as another: allow narrow.test method GET POST prefix /v1 (test.pol:12)\n", ask(connection, path)[2])
    expect([head.split(b" ")[1] for head, _ in server.seen], [b"/v1", b"/v1/x?y=1", b"/v1/", b"/v1/x"])
    records = proxy.records(11)
    expect({(r["via"], r["verdict"]) for r in records}, {("tls", "allowed"), ("tls", "refused")})
    expect((records[1]["path"], records[1]["method"], records[1]["status"]), ("/v1/x", "GET", 200))
    expect([r.get("address") for r in records[:5]], ["203.0.113.13"] * 4 + [None])  # the last one did not go there


def case_the_nearest_rule(world):
    """Of several rules for a host the refusal names one that has the method; of a long path its beginning"""
    proxy, _ = narrow(world, rules=("allow narrow.test method POST prefix /x", "allow narrow.test at 203.0.113.13 method GET HEAD prefix /v1"))
    rule = "allow narrow.test at 203.0.113.13 method GET HEAD prefix /v1 (test.pol:13)\n"
    for path, why in (("/v2", "no rule for this path"), ("/v1/../x", "this path may be read as another"), ("/" + 300 * "y", "no rule for this path")):
        with inside(world, proxy) as connection:
            shown = path if len(path) < 200 else path[:200] + "..."
            expect(ask(connection, path)[2].decode(), f"sbx: GET https://narrow.test{shown} refused: {why}: {rule}")


def case_names_agree(world):
    """CONNECT, SNI, Host and an absolute target name one host"""
    proxy, server = narrow(world, rules=(RULE, "allow other.test"))
    for fields in ({"host": "other.test"}, {"host": "narrow.test:80"}, {"host": "evil.test"}):
        with inside(world, proxy) as connection:
            expect_in(b"another than the connection's", ask(connection, "/v1", **fields)[2])
    for target in ("https://other.test/v1", "http://narrow.test/v1", "https://narrow.test:444/v1"):
        with inside(world, proxy) as connection:
            connection.sendall(f"GET {target} HTTP/1.1\r\nHost: narrow.test\r\n\r\n".encode())
            expect(read_answer(connection)[0][:12], "HTTP/1.1 403")
    with inside(world, proxy) as connection:
        expect(ask(connection, "https://narrow.test/v1")[2], b"ok")
        expect(ask(connection, "/v1", host="Narrow.Test:443")[2], b"ok")
    raw = proxy.tunnel("narrow.test", 443)
    try:
        world.trust(proxy).wrap_socket(raw, server_hostname="other.test")
        raise AssertionError("a ClientHello for another host was answered")
    except (ssl.SSLError, OSError):
        pass
    expect(len(server.seen), 2)


def case_only_http11(world):
    """HTTP/2 is not offered, nor are old versions of TLS"""
    proxy, _ = narrow(world)
    context = world.trust(proxy)
    context.set_alpn_protocols(["h2", "http/1.1"])
    with context.wrap_socket(proxy.tunnel("narrow.test", 443), server_hostname="narrow.test") as connection:
        expect((connection.selected_alpn_protocol(), connection.version()), ("http/1.1", "TLSv1.3"))


def case_nothing_but_tls(world):
    """A host whose TLS is ended here speaks nothing else, and is verified"""
    proxy, _ = narrow(world)
    for data in (b"GET /v1 HTTP/1.1\r\nHost: narrow.test\r\n\r\n", b"\x16\x03\x01"):
        connection = proxy.tunnel("narrow.test", 443)
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        expect(driver.read_all(connection), b"")
    expect([record["verdict"] for record in proxy.records(2)], ["refused", "refused"])


def case_the_server_is_verified(world):
    """A server whose certificate is for another name gets no request"""
    proxy, server = narrow(world, tls="wrong")
    with inside(world, proxy) as connection:
        status, _, body = ask(connection, "/v1")
    expect(status[:12], "HTTP/1.1 502")
    expect_in(b"sbx: narrow.test:443 failed: ", body)
    expect(server.seen, [])


def case_a_private_authority(world):
    """A server whose authority the system does not know is refused with what can be done"""
    proxy, server = narrow(world, tls="private")
    with inside(world, proxy) as connection:
        _, _, body = ask(connection, "/v1")
    expect(body, b"sbx: narrow.test:443 failed: its certificate is refused: self-signed certificate: "
                 b"the system's roots alone are trusted (update-ca-certificates)\n")
    expect(server.seen, [])


def case_a_program_without_trust(world):
    """A program that does not trust the session's CA fails, and the log says why"""
    proxy, _ = narrow(world)
    try:
        ssl.create_default_context().wrap_socket(proxy.tunnel("narrow.test", 443), server_hostname="narrow.test")
        raise AssertionError("trusted")
    except ssl.SSLCertVerificationError:
        pass
    expect_in("does it trust the session's CA?", proxy.records(1)[0]["reason"])


def case_much(world):
    """16 MB up and down, through both ends of TLS, unchanged"""
    data = os.urandom(1 << 20) * 16
    proxy, server = narrow(world, lambda head, body: answer(body=data))
    with inside(world, proxy) as connection:
        expect(ask(connection, "/v1", method="POST", body=data)[2] == data, True)
    expect(server.seen[0][1] == data, True)


def case_chunks(world):
    """A body without a length goes in chunks, each when it comes"""
    def serve(connection):
        driver.read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        for number in range(3):
            connection.sendall(f"data: {number}\n\n".encode())
            gate.acquire(timeout=5)
    gate = threading.Semaphore(0)
    world.server(("203.0.113.13", 443), serve, world.tls())
    proxy = world.proxy(RULE)
    with inside(world, proxy) as connection:
        connection.sendall(get("/v1", host="narrow.test"))
        driver.read_head(connection)
        for number in range(3):
            expect(driver.read_exactly(connection, 14), f"9\r\ndata: {number}\n\n\r\n".encode())
            gate.release()
        # It ended without TLS's close_notify: cut off, so the end of the chunks is missing.
        expect(driver.read_all(connection) in (b"", b"0\r\n\r\n"), True)


def case_kept_and_left(world):
    """Many requests over one connection to the server; one that it closed is made anew"""
    connections = []

    def serve(connection):
        connections.append(1)
        for _ in range(3):
            if not driver.read_head(connection):
                return
            connection.sendall(answer(body=b"ok"))
    world.server(("203.0.113.13", 443), serve, world.tls())
    proxy = world.proxy(RULE)
    with inside(world, proxy) as connection:
        for _ in range(9):
            expect(ask(connection, "/v1")[2], b"ok")
            time.sleep(0.02)
    expect(len(connections), 3)


def case_by_socks(world):
    """SOCKS leads to the same"""
    proxy, _ = narrow(world)
    raw = proxy.connect()
    raw.sendall(b"\5\1\0\5\1\0\3\x0bnarrow.test\x01\xbb")
    driver.read_exactly(raw, 12)
    with world.trust(proxy).wrap_socket(raw, server_hostname="narrow.test") as connection:
        expect(ask(connection, "/v1")[2], b"ok")
        expect_in(b"refused", ask(connection, "/v2")[2])


def case_other_hosts_are_not_read(world):
    """Where no rule narrows requests the server's own certificate arrives"""
    world.server(("203.0.113.11", 443), Recorder(), world.tls())
    proxy = world.proxy(RULE, "allow other.test")
    context = ssl.create_default_context(cafile=world.roots)
    with context.wrap_socket(proxy.tunnel("other.test", 443), server_hostname="other.test") as connection:
        expect(ask(connection, "/anything", host="whatever.test")[2], b"ok")


def case_curl(world):
    """curl as it comes: with HTTPS_PROXY and the bundle, HTTP/2 where TLS is not ended"""
    proxy, server = narrow(world, lambda head, body: answer(body=b"got " + str(len(body)).encode()))
    world.trust(proxy)
    port = proxy.address[1]
    for way in ({"HTTPS_PROXY": f"http://127.0.0.1:{port}"}, {"HTTPS_PROXY": f"socks5h://127.0.0.1:{port}"}):
        done = subprocess.run(["curl", "-sS", "--fail-with-body", "-d", "x" * 2000, "https://narrow.test/v1"], timeout=20,
                              env={**way, "SSL_CERT_FILE": str(world.folder / "bundle.pem"), "PATH": os.environ["PATH"]},
                              capture_output=True, check=False)
        expect((done.stdout, done.stderr), (b"got 2000", b""))
    expect(len(server.seen), 2)
