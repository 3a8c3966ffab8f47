#!/usr/bin/python3
"""Each way out, tried once; one line for each:

    NAME VERDICT MILLISECONDS DETAIL      VERDICT: out, or what the kernel or the proxy said

usage: attempts.py TOKEN...     a token for each attempt, in the order of ATTEMPTS
Standard library alone, and no file but this one: it runs inside."""
import errno
import os
import socket
import ssl
import struct
import sys
import time

RESOLVER, OTHER, DENIED, OPEN = "203.0.113.53", "1.1.1.1", "203.0.113.66", "203.0.113.10"
PROXY = ("127.0.0.1", 3128)
PATIENCE = 2.0  # more than the second that a refusal may take
NETLINK_USERSOCK, AF_VSOCK, AF_PACKET = 2, 40, 17
ATTEMPTS = {}


class Refused(Exception):
    """By the proxy, in these words."""


def attempt(function):
    ATTEMPTS[function.__name__.replace("_", "-")] = function
    return function


def made(family, kind, protocol=0):
    new = socket.socket(family, kind, protocol)
    new.settimeout(PATIENCE)
    return new


def stream(family, address, token, protocol=0):
    """Out as soon as somebody answers."""
    with made(family, socket.SOCK_STREAM, protocol) as connection:
        connection.connect(address)
        connection.sendall(token)
        connection.recv(1)


def datagram(family, address, data, protocol=0, kind=socket.SOCK_DGRAM):
    with made(family, kind, protocol) as sender:
        sender.sendto(data, address)


def question(name):
    labels = b"".join(bytes([len(label)]) + label for label in name.split(b"."))
    return struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1"


def echo_request(token):
    return struct.pack("!BBHHH", 8, 0, 0, 1, 1) + token


@attempt
def dns_udp(token):
    datagram(socket.AF_INET, (RESOLVER, 53), question(token + b".denied.test"))


@attempt
def dns_tcp(token):
    data = question(token + b".denied.test")
    stream(socket.AF_INET, (RESOLVER, 53), struct.pack("!H", len(data)) + data)


@attempt
def dns_other_server(token):
    datagram(socket.AF_INET, (OTHER, 53), question(token + b".denied.test"))


@attempt
def dns_ipv6(token):
    datagram(socket.AF_INET6, ("2001:db8::10", 53), question(token + b".denied.test"))


@attempt
def resolver_of_libc(token):
    socket.getaddrinfo(token.decode() + ".denied.test", 443)


@attempt
def nscd(token):
    stream(socket.AF_UNIX, "/run/nscd/socket", token)


@attempt
def resolved(token):
    stream(socket.AF_UNIX, "/run/systemd/resolve/io.systemd.Resolve", token)


@attempt
def icmp(token):
    datagram(socket.AF_INET, (OPEN, 0), echo_request(token), 1)


@attempt
def icmp_raw(token):
    datagram(socket.AF_INET, (OPEN, 0), echo_request(token), 1, socket.SOCK_RAW)


@attempt
def raw_ip(token):
    datagram(socket.AF_INET, (OPEN, 0), token, 253, socket.SOCK_RAW)


@attempt
def packet(token):
    with made(AF_PACKET, socket.SOCK_DGRAM) as sender:
        sender.sendto(token, ("out", 0x88B5, 0, 0, b"\xff" * 6))


@attempt
def quic(token):
    datagram(socket.AF_INET, (OPEN, 443), b"\xc3\0\0\0\1\x08" + token)


@attempt
def tcp(token):
    stream(socket.AF_INET, (DENIED, 9999), token)


@attempt
def tcp_to_allowed_host(token):
    with made(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.connect((OPEN, 443))
        connection.sendall(token)


@attempt
def tcp_ipv6(token):
    stream(socket.AF_INET6, ("2001:db8::10", 9999), token)


@attempt
def tcp_mapped(token):
    stream(socket.AF_INET6, ("::ffff:" + DENIED, 9999), token)


@attempt
def tcp_fast_open(token):
    with made(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.setblocking(True)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(PATIENCE), 0))
        connection.sendto(token, socket.MSG_FASTOPEN, (DENIED, 9999))
        connection.recv(1)


@attempt
def mptcp(token):
    stream(socket.AF_INET, (DENIED, 9998), token, 262)


@attempt
def sctp(token):
    stream(socket.AF_INET, (DENIED, 9999), token, 132)


@attempt
def udplite(token):
    datagram(socket.AF_INET, (DENIED, 9999), token, 136)


@attempt
def metadata(token):
    with made(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.connect(("169.254.169.254", 80))
        connection.sendall(b"GET /" + token + b" HTTP/1.0\r\n\r\n")
        connection.recv(1)


@attempt
def loopback(token):
    stream(socket.AF_INET, ("127.0.0.1", 5432), token)


@attempt
def loopback_ipv6(token):
    stream(socket.AF_INET6, ("::1", 5432), token)


@attempt
def loopback_any(token):
    stream(socket.AF_INET, ("0.0.0.0", 9999), token)


@attempt
def loopback_udp(token):
    with made(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("127.0.0.1", 5432))
        sender.send(token)
        sender.recv(1)


@attempt
def unix_abstract(token):
    stream(socket.AF_UNIX, "\0sbx-world", token)


@attempt
def unix_abstract_datagram(token):
    datagram(socket.AF_UNIX, "\0sbx-world-datagrams", token)


@attempt
def unix_path(token):
    stream(socket.AF_UNIX, "/tmp/world/socket", token)


@attempt
def netlink(token):
    datagram(socket.AF_NETLINK, (4242, 0), struct.pack("=IHHII", 16 + len(token), 16, 0, 0, 0) + token, NETLINK_USERSOCK)


@attempt
def vsock(_):
    """To the hypervisor.  That there is such a socket is all that is tried."""
    made(AF_VSOCK, socket.SOCK_STREAM).close()


@attempt
def inherited_socket(token):
    """Descriptor 5 is connected to somebody outside, by whoever started this."""
    os.write(5, token)


# --- by the proxy: what it must not do for us ------------------------------------

def ask(request):
    """What it says first."""
    connection = made(socket.AF_INET, socket.SOCK_STREAM)
    connection.connect(PROXY)
    connection.sendall(request)
    answer = connection.recv(4096)
    if not answer:
        raise Refused("closed")
    if not answer.startswith(b"HTTP/1.1 200"):
        raise Refused(answer.split(b" ", 2)[1].decode() if b" " in answer else repr(answer))
    return connection


def tunnel(target):
    return ask(b"CONNECT " + target + b" HTTP/1.1\r\nHost: " + target + b"\r\n\r\n")


def through(connection, data):
    """Out when the other side says anything but good-bye."""
    with connection:
        connection.sendall(data)
        try:
            if not connection.recv(1):
                raise Refused("closed")
        except ConnectionResetError:
            raise Refused("closed") from None


def socks(name, token):
    with made(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.connect(PROXY)
        connection.sendall(b"\5\1\0")
        connection.recv(2)
        connection.sendall(b"\5\1\0\3" + bytes([len(name)]) + name + struct.pack("!H", 9999))
        answer = connection.recv(16)
        if answer[1:2] != b"\0":
            raise Refused(f"SOCKS {answer[1]}" if len(answer) > 1 else "closed")
        connection.sendall(token)
        connection.recv(1)


@attempt
def proxy_denied_name(token):
    tunnel(token + b".denied.test:443").close()


@attempt
def proxy_notopen(token):
    tunnel(token + b".notopen.test:443").close()


@attempt
def proxy_plain_http(token):
    ask(b"GET http://" + token + b".denied.test/ HTTP/1.1\r\nHost: " + token + b".denied.test\r\n\r\n").close()


@attempt
def proxy_nul(token):
    tunnel(token + b".denied.test\0.open.test:443").close()


@attempt
def proxy_blank(token):
    tunnel(token + b".denied.test .open.test:443").close()


@attempt
def proxy_other_port(token):
    through(tunnel(b"open.test:9999"), token)


@attempt
def proxy_no_tls(token):
    """The tunnel to an allowed host, and then no TLS."""
    through(tunnel(b"open.test:443"), b"GET /" + token + b" HTTP/1.1\r\nHost: denied.test\r\n\r\n")


@attempt
def proxy_fronting(token):
    """The tunnel to an allowed host, and TLS with another."""
    connection = tunnel(b"open.test:443")
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        context.wrap_socket(connection, server_hostname=token.decode() + ".denied.test").close()
    except (ssl.SSLError, ConnectionResetError):
        raise Refused("closed") from None


@attempt
def proxy_private_name(_):
    """A name that is allowed, and has a private address."""
    tunnel(b"lan.test:443").close()


@attempt
def proxy_metadata_name(_):
    tunnel(b"meta.test:443").close()


@attempt
def proxy_metadata(_):
    tunnel(b"169.254.169.254:80").close()


@attempt
def proxy_loopback(token):
    through(tunnel(b"127.0.0.1:5432"), token)


@attempt
def proxy_loopback_number(token):
    through(tunnel(b"2130706433:5432"), token)


@attempt
def proxy_loopback_name(token):
    through(tunnel(b"home.test:5432"), token)


@attempt
def proxy_address_of_open(token):
    through(tunnel(b"203.0.113.10:9999"), token)


@attempt
def socks_denied_name(token):
    socks(token + b".denied.test", token)


@attempt
def socks_nul(token):
    socks(token + b".denied.test\0.open.test", token)


def main():
    for (name, function), token in zip(ATTEMPTS.items(), sys.argv[1:]):
        began = time.monotonic()
        try:
            function(token.encode())
            verdict = "out"
        except Refused as reason:
            verdict = str(reason)
        except socket.gaierror as error:
            verdict = {-2: "EAI_NONAME", -3: "EAI_AGAIN"}.get(error.errno, str(error.errno))
        except TimeoutError:
            verdict = "timeout"
        except OSError as error:
            verdict = errno.errorcode.get(error.errno, str(error))
        print(f"{name}\t{verdict}\t{(time.monotonic() - began) * 1000:.0f}", flush=True)


if __name__ == "__main__":
    main()
