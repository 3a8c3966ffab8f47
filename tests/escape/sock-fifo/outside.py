import os
import time

for name in ("/run/host/control", "control"):
    os.open(name, os.O_RDWR)
print("ready", flush=True)
time.sleep(60)
