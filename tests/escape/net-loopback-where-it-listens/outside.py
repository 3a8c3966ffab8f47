import socket

from attack_socket import serve, wait

STREAM, DGRAM, V4, V6 = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.AF_INET, socket.AF_INET6


def port(listener):
    return listener.getsockname()[1]


def group():
    """A member of a multicast group on the loopback interface."""
    one = serve(V4, ("", 0), DGRAM)
    one.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("239.7.7.7") + socket.inet_aton("127.0.0.1"))
    return one


def other(kind, protocol):
    """1: this kernel has no such protocol."""
    try:
        return port(serve(V4, ("127.0.0.1", 0), kind, protocol))
    except OSError:
        return 1


wait(port(serve(V4, ("127.0.0.1", 0))), port(serve(V6, ("::1", 0))), port(serve(V4, ("0.0.0.0", 0))),
     port(serve(V4, ("127.0.0.1", 0), DGRAM)), port(serve(V6, ("::1", 0), DGRAM)), port(group()),
     other(DGRAM, 136), other(STREAM, 262), other(STREAM, 132), other(6, 33), other(STREAM, 256))
