import os
import time

print("ready", flush=True)
while not os.path.exists("begun"):
    time.sleep(0.005)
work = os.getcwd()
os.chdir(os.environ["HOME"])
os.unlink("one")
os.symlink(".ssh/id", "one")
os.rename(".ssh/id", "two")
os.link("two", ".ssh/id")
os.unlink("three")
os.mkdir("three")
os.link("two", "three/id")
os.rename("four", "old-four")
os.symlink(".ssh", "four")
os.rename("five", "old-five")
os.mkdir("five")
os.link("two", "five/id")
open(f"{work}/changed", "w").close()
time.sleep(60)
