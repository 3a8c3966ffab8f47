import os
import socket

from attack_socket import serve, wait

mark = f"escape-{os.getpid()}"
for name in (mark, mark + "\0", mark + "\0x", "\0\0" + mark, f"/run/user/{mark}", mark.ljust(107, "x")):
    serve(socket.AF_UNIX, "\0" + name)
serve(socket.AF_UNIX, f"\0{mark}-packets", socket.SOCK_SEQPACKET)
serve(socket.AF_UNIX, f"\0{mark}-datagrams", socket.SOCK_DGRAM)
wait(mark)
