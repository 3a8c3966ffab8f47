# Writes down each signal that it gets.
import os
import signal
import time


def got(number, _frame):
    with open("got", "a") as log:
        log.write(signal.Signals(number).name + "\n")


for each in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGIO):
    signal.signal(each, got)
print("ready", os.getpid(), flush=True)
while True:
    time.sleep(60)
