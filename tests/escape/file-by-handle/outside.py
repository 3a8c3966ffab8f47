"""The handle, as hexadecimal digits: the attacker guessed it."""
import ctypes
import os
import struct
import time

buffer, mount = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + b"\0" * 128, 136), ctypes.c_int()
if ctypes.CDLL(None).name_to_handle_at(-100, b"secret", buffer, ctypes.byref(mount), 0):
    raise SystemExit("no handles here")
print("ready", buffer.raw.hex(), flush=True)
time.sleep(30)
