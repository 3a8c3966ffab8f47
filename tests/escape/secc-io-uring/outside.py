from attack_socket import serve_path, wait

serve_path("/run/host/service")
wait("/run/host/service")
