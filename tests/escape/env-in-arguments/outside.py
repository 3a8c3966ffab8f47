# Any user of the machine, reading command lines.
import os
import time

print("ready", flush=True)
end = time.time() + 20
while time.time() < end:
    for pid in os.listdir("/proc"):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                if b"hunter2-" in line.read():
                    open("seen", "w").close()
        except OSError:
            pass
    time.sleep(0.02)
