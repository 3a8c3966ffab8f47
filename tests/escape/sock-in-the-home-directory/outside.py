import os

from attack_services import HOME
from attack_socket import serve_path, wait

for path in HOME.values():
    serve_path(f"{os.environ['HOME']}/{path}")
wait()
