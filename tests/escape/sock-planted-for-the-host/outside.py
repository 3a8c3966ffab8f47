from attack_socket import serve_path, wait

for name in ("agent.sock", "other.sock", "dir/in.sock"):
    serve_path(name)
wait()
