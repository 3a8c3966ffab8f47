import threading

from attack_socket import serve_path, wait
import attack_socket
import socket


def other(listener):
    """What may be reached says so."""
    while True:
        connection, _ = listener.accept()
        try:
            connection.sendall(b"named")
        except OSError:
            pass
        connection.close()


serve_path("/run/host/service")
named = socket.socket(socket.AF_UNIX)
named.bind("/run/host/named")
named.listen(64)
threading.Thread(target=other, args=(named,), daemon=True).start()
wait("/run/host/service", "/run/host/named")
