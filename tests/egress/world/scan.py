#!/usr/bin/python3 -B
"""Looks for a secret wherever a session could find it: memory, environment, command
lines, files.
usage: scan.py PID TEXT     in sbx-exec PID and all below it, but its proxy; prints each
place, then how many bytes of memory were looked at; exit status 1 where it was found"""
import os
import pathlib
import re
import sys

CHUNK = 1 << 22


def program(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def session(pid):
    """A process and all below it."""
    below = {}
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        below.setdefault(parent, []).append(int(status.parent.name))
    found, todo = [], [pid]
    while todo:
        found.append(todo.pop())
        todo += below.get(found[-1], [])
    return found


def proxies(pid):
    return [each for each in session(pid) if program(each).startswith("sbx-proxy")]


def inside(pid):
    return [each for each in session(pid) if not program(each).startswith("sbx-proxy")]


def in_memory(pid, needle):
    """Of every readable mapping; (found, bytes looked at)."""
    seen = 0
    try:
        maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
        memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    except OSError:
        return False, 0
    found = False
    for low, high, access in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) (\S+)", maps, re.M):
        if access[0] != "r":
            continue
        at, end, tail = int(low, 16), int(high, 16), b""
        while at < end:
            try:
                data = os.pread(memory, min(CHUNK, end - at), at)
            except OSError:  # [vvar], and what nobody backs
                break
            if not data:
                break
            found |= needle in tail + data
            seen, at, tail = seen + len(data), at + len(data), data[-len(needle):]
    os.close(memory)
    return found, seen


def in_proc(pid, needle):
    """Names of the files of /proc/PID that hold it."""
    found = []
    for name in ("environ", "cmdline", "comm", "status", "maps", "mountinfo"):
        try:
            if needle in pathlib.Path(f"/proc/{pid}", name).read_bytes():
                found.append(f"{pid}/{name}")
        except OSError:
            pass
    return found


def in_files(places, needle, but=()):
    found = []
    for place in places:
        for path in pathlib.Path(place).rglob("*"):
            try:
                if path.is_file() and not path.is_symlink() and str(path) not in but and needle in path.read_bytes():
                    found.append(str(path))
            except OSError:
                pass
    return found


def everywhere(pids, needle):
    """(places, bytes of memory looked at)"""
    places, total = [], 0
    for pid in pids:
        found, seen = in_memory(pid, needle)
        total += seen
        places += [f"memory of {pid}"] * found + in_proc(pid, needle)
    return places, total


def main():
    places, total = everywhere(inside(int(sys.argv[1])), sys.argv[2].encode())
    for place in places:
        print(place)
    print(total)
    return bool(places)


if __name__ == "__main__":
    sys.exit(main())
