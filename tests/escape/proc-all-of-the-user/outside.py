# Writes down what is done to it.
import os
import signal
import time


def note(what):
    with open("got", "a") as log:
        log.write(what + "\n")


signal.signal(signal.SIGUSR1, lambda *_: note("SIGUSR1"))
print("ready", flush=True)
while True:
    time.sleep(0.02)
    if os.getpriority(os.PRIO_PROCESS, 0) == 19:
        note("nice")
