from attack import *
import time

open("started", "w").close()
while not os.path.exists("replaced"):
    time.sleep(0.01)
time.sleep(0.2)  # a mask is laid again within 50 ms


def write(path):
    with open(path, "a") as file:
        file.write("EVIL")


def read(path):
    with open(path) as file:
        file.read()


attempt("moved-over", lambda: write("settings.json"))
attempt("editor", lambda: write("edited"))
attempt("checkout", lambda: write("tracked"))
attempt("removed", lambda: write("gone"))
attempt("directory", lambda: write("tasks/a"))
attempt("hidden", lambda: read("secret"))
attempt("hidden-directory", lambda: read("keys/a"))
