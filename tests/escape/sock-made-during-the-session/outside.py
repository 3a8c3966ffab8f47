# An editor, a build daemon, a file watcher: they put their sockets where they work.
import os
import time

from attack_socket import serve_path

print("ready", flush=True)
while not os.path.exists("begun"):
    time.sleep(0.005)
serve_path(".vscode-ipc.sock")
serve_path("daemon.tmp")
os.rename("daemon.tmp", "daemon.sock")
serve_path("watchman.tmp")
os.makedirs(".watchman", exist_ok=True)
os.link("watchman.tmp", ".watchman/sock")
os.unlink("mine.sock")
serve_path("mine.sock")
open("made", "w").close()
time.sleep(60)
