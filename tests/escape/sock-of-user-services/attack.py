import os

from attack import attempt
from attack_services import USER
from attack_socket import reach

for variant, name in USER.items():
    attempt(variant, lambda: reach(f"/run/user/{os.getuid()}/{name}"))
