# A key of the user's, as a login or Kerberos leaves it.
import ctypes
import os
import time

libc = ctypes.CDLL(None)
USER, TIMEOUT = -4, 15
name = f"sbx-{os.getpid()}".encode()
add_key, keyctl = (248, 250) if os.uname().machine == "x86_64" else (217, 219)
key = libc.syscall(add_key, b"user", name, b"SECRET", 6, USER)
libc.syscall(keyctl, TIMEOUT, key, 40)
print("ready", name.decode(), key, flush=True)
time.sleep(60)
