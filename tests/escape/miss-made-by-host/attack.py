from attack import *
import time

open("started", "w").close()
while not os.path.exists("made"):
    time.sleep(0.01)
time.sleep(0.2)  # a mask is laid again within 50 ms
attempt("read", lambda: open("secrets.env").read())
attempt("read-in-directory", lambda: open("keys/a").read())
attempt("write", lambda: open(".mcp.json", "a").write("EVIL"))
