# Another window of the user's, at which something waits for a line.
import os
import pty
import time

ours, theirs = pty.openpty()
print("ready", os.ttyname(theirs), flush=True)
time.sleep(60)
