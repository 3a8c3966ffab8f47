import os

from attack_socket import serve_path, wait

for name in ("renamed", "linked", "dir/carried", "symlinked"):
    serve_path(name)
wait()
