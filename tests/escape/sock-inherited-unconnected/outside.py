import socket

from attack_socket import serve_path, wait

serve_path("/run/host/log", socket.SOCK_DGRAM)
wait("/run/host/log")
