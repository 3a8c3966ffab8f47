import os

from attack import attempt
from attack_services import HOME
from attack_socket import reach

for name, path in HOME.items():
    attempt(name, lambda: reach(f"{os.environ['HOME']}/{path}"))
