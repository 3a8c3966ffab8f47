import os
import time

from attack import name_of

home = os.path.expanduser("~")
open("begun", "w").close()
while not os.path.exists("changed"):
    time.sleep(0.005)


def secret(variant, name):
    try:
        print(variant, "done" if open(f"{home}/{name}").read() == "SECRET\n" else "no")
    except OSError as error:
        print(variant, name_of(error.errno))


secret("file-to-link", "one")
secret("file-to-file", "two")
secret("file-to-directory", "three/id")
secret("directory-to-link", "four/id")
secret("directory-moved", "five/id")
