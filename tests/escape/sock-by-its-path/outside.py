import socket

from attack_socket import serve_path, wait

serve_path("/run/host/service")
serve_path("/run/host/packets", socket.SOCK_SEQPACKET)
for name in ("daemon", "linked", "moved"):
    serve_path(f"{name}.sock")
wait("/run/host/service", "/run/host/packets")
