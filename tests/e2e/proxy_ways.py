"""Ways to the network: `proxy_ways.py WAY:HOST:PORT ...` says of each `WAY:HOST:PORT got WHAT` or
the error's name.  `proxy_ways.py serve` is a service of the host's, which says HOST, and first its
port; the proxy says PROXY."""
import errno, select, socket, struct, sys

FASTOPEN, FASTOPEN_CONNECT, NO_PORT = 0x20000000, 30, 24


def talk(s, ask=True):
    s.settimeout(5)
    if ask:
        s.sendall(b"GET / HTTP/1.1\r\n\r\n")
    data = b""
    while part := s.recv(4096):
        data += part
    return "got " + data.decode(errors="replace").split()[-1] if data else "nothing"


def plain(s, there):
    s.connect(there)
    return talk(s)


def mapped(s, there):
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    s.connect(("::ffff:" + there[0], there[1]))
    return talk(s)


def not_waiting(s, there):
    s.setblocking(False)
    first = s.connect_ex(there)
    if first not in (0, errno.EINPROGRESS):
        raise OSError(first, "")
    select.select([], [s], [], 5)
    again = s.connect_ex(there)
    if again not in (0, errno.EISCONN):
        raise OSError(again, "")
    s.setblocking(True)
    return talk(s)


def anew(s, there):
    """Connected to what is allowed, then let go of it and connected elsewhere."""
    s.connect(("127.0.0.1", 3128))
    libc_connect(s, struct.pack("H14x", socket.AF_UNSPEC))
    s.connect(there)
    return talk(s)


def libc_connect(s, address):
    import ctypes
    if ctypes.CDLL(None, use_errno=True).connect(s.fileno(), address, len(address)):
        raise OSError(ctypes.get_errno(), "")


def first_bytes(s, there):
    s.sendto(b"GET / HTTP/1.1\r\n\r\n", FASTOPEN, there)
    return talk(s, ask=False)


def first_bytes_message(s, there):
    s.sendmsg([b"GET / HTTP/1.1\r\n\r\n"], [], FASTOPEN, there)
    return talk(s, ask=False)


def later(s, there):
    """The connect that the first write makes, with another address in that write."""
    s.setsockopt(socket.IPPROTO_TCP, FASTOPEN_CONNECT, 1)
    s.connect(("127.0.0.1", 3128))
    s.sendto(b"GET / HTTP/1.1\r\n\r\n", there)
    return talk(s, ask=False)


def storm(s, there):
    """More at once than the proxy's queue of announcements holds: each waits its turn."""
    import collections, threading
    got = collections.Counter()

    def many():
        for _ in range(100):
            with socket.socket() as each:
                error = each.connect_ex(there)
                got[errno.errorcode.get(error, "connected")] += 1

    threads = [threading.Thread(target=many) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return "got " + ",".join(f"{count}-{what}" for what, count in sorted(got.items()))


def no_port(s, there):
    s.setsockopt(socket.IPPROTO_IP, NO_PORT, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.connect(there)
    return talk(s)


def bound(s, there):
    s.bind(("127.0.0.2", 0))
    s.connect(there)
    return talk(s)


def listens(s, there):
    s.listen()
    return f"got {s.getsockname()[1] and 'a-port'}"


def datagram(s, there):
    s.connect(there)
    s.send(b"x")
    return "got sent"


def made(s, there):
    return "got a-socket"


INET, INET6, STREAM, DGRAM = socket.AF_INET, socket.AF_INET6, socket.SOCK_STREAM, socket.SOCK_DGRAM
ways = {
    "plain": (INET, STREAM, 0, plain),
    "mapped": (INET6, STREAM, 0, mapped),
    "not-waiting": (INET, STREAM, 0, not_waiting),
    "anew": (INET, STREAM, 0, anew),
    "first-bytes": (INET, STREAM, 0, first_bytes),
    "first-bytes-message": (INET, STREAM, 0, first_bytes_message),
    "later": (INET, STREAM, 0, later),
    "storm": (INET, STREAM, 0, storm),
    "no-port": (INET, STREAM, 0, no_port),
    "bound": (INET, STREAM, 0, bound),
    "listens": (INET, STREAM, 0, listens),
    "datagram": (INET, DGRAM, 0, datagram),
    "datagram6": (INET6, DGRAM, 0, made),
    "ping": (INET, DGRAM, 1, made),
    "raw": (INET, socket.SOCK_RAW, 1, made),
    "mptcp": (INET, STREAM, 262, plain),
    "vsock": (40, STREAM, 0, made),
    "packet": (17, socket.SOCK_RAW, 0, made),
    "route-netlink": (16, socket.SOCK_RAW, 0, made),
    "other-netlink": (16, socket.SOCK_RAW, 9, made),
}


def attempt(way, host, port):
    domain, kind, protocol, run = ways[way]
    try:
        with socket.socket(domain, kind, protocol) as s:
            return run(s, (host, int(port)))
    except TimeoutError:
        return "timeout"
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e))


def serve():
    s = socket.create_server(("127.0.0.1", 0))
    print(s.getsockname()[1], flush=True)
    while True:
        client, _ = s.accept()
        try:
            client.settimeout(1)
            client.recv(4096)
            client.sendall(b"HOST")
        except OSError:
            pass
        client.close()


if sys.argv[1] == "serve":
    serve()
for one in sys.argv[1:]:
    print(one, attempt(*one.split(":")), flush=True)
