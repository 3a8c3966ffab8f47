import socket

from attack_services import KINDS, SYSTEM, SYSTEM_DATAGRAMS
from attack_socket import serve_path, wait

for name, path in SYSTEM.items():
    serve_path(path, KINDS.get(name, socket.SOCK_STREAM))
for path in SYSTEM_DATAGRAMS.values():
    serve_path(path, socket.SOCK_DGRAM)
wait()
