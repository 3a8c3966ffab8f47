import socket

from attack_socket import serve, serve_path, wait

serve_path("/run/host/service")
serve_path("/run/host/log", socket.SOCK_DGRAM)
wait("/run/host/service", "/run/host/log", serve(socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1])
