#!/usr/bin/env python3
"""What a process tries that should not get it.  One line an attempt:

    NAME open|shut DETAIL

Run by the agent inside the sandbox, and by the test outside it: there each
attempt has to succeed, else the case proves nothing.
usage: probe.py HOME STATE BLOB POLICY NAME=SOCKET...
"""
import os
import socket
import sys

home, state, blob, policy, *sockets = sys.argv[1:]


def read(path):
    with open(path, "rb") as file:
        return file.read(20)


def append(path):
    with open(path, "ab") as file:
        file.write(b"\n")


def secret():
    return os.environ["AWS_SECRET_ACCESS_KEY"]


def connect(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)


ATTEMPTS = [
    ("read-ssh-key", read, f"{home}/.ssh/id_ed25519"),
    ("read-real-claude-login", read, f"{home}/.claude/.credentials.json"),
    ("write-home", append, f"{home}/anything"),
    ("write-bashrc", append, f"{home}/.bashrc"),
    ("write-sibling", append, "../sibling/notes.txt"),
    ("write-own-settings", append, f"{state}/settings.json"),
    ("write-own-skill", append, f"{state}/skills/evil.md"),
    ("write-git-hook", append, ".git/hooks/pre-commit"),
    ("write-git-config", append, ".git/config"),
    ("write-mcp", append, ".mcp.json"),
    ("write-blob", append, blob),
    ("write-policy", append, policy),
    ("see-secret-variable", secret),
    *(("connect-" + name, connect, path) for name, path in (s.split("=") for s in sockets)),
]

for name, action, *arguments in ATTEMPTS:
    try:
        action(*arguments)
        print(name, "open")
    except (OSError, KeyError) as error:
        print(name, "shut", repr(error))
