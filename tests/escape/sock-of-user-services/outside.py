import os

from attack_services import USER
from attack_socket import serve_path, wait

for name in USER.values():
    serve_path(f"/run/user/{os.getuid()}/{name}")
wait()
