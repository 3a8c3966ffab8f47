#!/usr/bin/python3
"""A client without manners, inside: says to the proxy what it is told to, byte for byte.

Reads JSON lines and answers each with one:
    {"target": "key.test:443"}              CONNECT first; none: the bytes go to the proxy itself
    {"tls": "key.test", "alpn": ["h2"]}     TLS with this SNI, verified by SSL_CERT_FILE
    {"send": "...", "wait": 0.3}            bytes as latin-1; read until it is closed or silent for so long
    {"environment": "NAME"}                 what stands there
The answer: {"proxy": the answer to CONNECT, "tls": what was wrong, "alpn": ..., "answer": ..., "closed": ...,
             "times": when the first and the last of it came}
"""
import json
import os
import select
import socket
import ssl
import sys
import time


def read_head(connection):
    head = b""
    while b"\r\n\r\n" not in head:
        data = connection.recv(1)
        if not data:
            break
        head += data
    # What refuses has a line to say, and says how long it is.
    length = [int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    while length and len(head.split(b"\r\n\r\n", 1)[1]) < length[0]:
        data = connection.recv(1)
        if not data:
            break
        head += data
    return head


def read_rest(connection, wait):
    answer, times = b"", []
    while True:
        pending = isinstance(connection, ssl.SSLSocket) and connection.pending()
        if not pending and not select.select([connection], [], [], wait)[0]:
            return answer, False, times[:1] + times[-1:]
        try:
            data = connection.recv(65536)
        except (ssl.SSLError, ConnectionError):
            data = b""
        if not data:
            return answer, True, times[:1] + times[-1:]
        answer += data
        times.append(time.monotonic())


def act(order):
    said = {"proxy": "", "tls": "", "alpn": None, "answer": "", "closed": False}
    with socket.create_connection(("127.0.0.1", 3128), 5) as connection:
        connection.settimeout(5)
        if order.get("target") is not None:
            target = order["target"].encode("latin-1")
            connection.sendall(b"CONNECT " + target + b" HTTP/1.1\r\nHost: " + target + b"\r\n\r\n")
            said["proxy"] = read_head(connection).decode("latin-1")
            if not said["proxy"].startswith("HTTP/1.1 200"):
                return said
        if order.get("tls"):
            context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
            context.check_hostname = not order.get("careless")
            if order.get("careless"):
                context.verify_mode = ssl.CERT_NONE
            if order.get("alpn"):
                context.set_alpn_protocols(order["alpn"])
            try:
                connection = context.wrap_socket(connection, server_hostname=order["tls"])
            except (ssl.SSLError, OSError) as error:
                said["tls"] = str(error)
                return said
            said["alpn"] = connection.selected_alpn_protocol()
        try:
            connection.sendall(order.get("send", "").encode("latin-1"))
            answer, said["closed"], said["times"] = read_rest(connection, order.get("wait", 5))
            said["answer"] = answer.decode("latin-1")
        except OSError as error:
            said["answer"], said["closed"] = f"({error})", True
    return said


def main():
    print("inside", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        if "environment" in order:
            answer = os.environ.get(order["environment"])
        else:
            try:
                answer = act(order)
            except OSError as error:
                answer = {"proxy": f"({error})", "tls": "", "alpn": None, "answer": "", "closed": True}
        print(json.dumps(answer), flush=True)


main()
