import socket

print("names", "done" if [name for _, name in socket.if_nameindex() if name != "lo"] else "no")
