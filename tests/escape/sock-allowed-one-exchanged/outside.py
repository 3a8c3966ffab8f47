import os

from attack_socket import serve_path, wait

for name in ("secret", "secret2", "secret3", "other/four"):
    serve_path(name)
for name in ("one", "two", "three", "dir/four"):
    serve_path(name, greeting=b"allowed")
wait()
