from attack import *
import time

open("started", "w").close()
while not os.path.exists("made"):
    time.sleep(0.01)
later = os.environ["HOME"] + "/later"
attempt("read", lambda: open(f"{later}/key").read())
attempt("write", lambda: open(f"{later}/x", "w").close())
