#!/usr/bin/python3 -B
"""Runs a command, as root, in a world for one user (world.py).
usage: unshare --net --mount --propagation private enter.py UID NAME COMMAND...
For the command, WORLD_PID is a process of the other side: nsenter --net --target."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import world  # noqa: E402


def main():
    made = world.World(int(sys.argv[1]), sys.argv[2], None)
    try:
        return subprocess.run(sys.argv[3:], env=os.environ | {"WORLD_PID": str(made.children[0].pid)}).returncode
    finally:
        made.end()


sys.exit(main())
