# Every way to say the name of a socket.
import ctypes
import os
import socket
import sys
import threading

from attack import attempt, call
from attack_socket import greeted, reach

path, packets = sys.argv[1:]
here = os.getcwd()
UNIX = (1).to_bytes(2, "little")
CONNECT = {"x86_64": 42, "aarch64": 203}[os.uname().machine]


def from_directory():
    os.chdir("sub")
    try:
        reach("../daemon.sock")
    finally:
        os.chdir(here)


def by_descriptor():
    reach(f"/proc/self/fd/{os.open('.', os.O_PATH)}/daemon.sock")


def descriptor_itself():
    reach(f"/proc/self/fd/{os.open('daemon.sock', os.O_PATH)}")


def connect_raw(address, high=0):
    with socket.socket(socket.AF_UNIX) as one:
        call(CONNECT, one.fileno() | high, ctypes.c_char_p(address), len(address) | high)
        greeted(one)


def whole_length():
    """108 bytes without a NUL: what counts is the length."""
    name = path.replace("/run/", "/run" + "/" * (108 - len(path) + 1))
    connect_raw(UNIX + name.encode())


def not_blocking():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as one:
        one.connect(path)
        greeted(one)


def in_thread():
    failed = []

    def run():
        try:
            reach(path)
        except OSError as error:
            failed.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def wide():
    """Above the 32 bits of each number that the kernel reads."""
    connect_raw(UNIX + path.encode() + b"\0", 1 << 40)


def again():
    """What was refused once, with the same socket."""
    with socket.socket(socket.AF_UNIX) as one:
        for last in (False, False, True):
            try:
                one.connect(path)
                break
            except OSError:
                if last:
                    raise
        greeted(one)


def orphan():
    """A grandchild of another session, once its parent is gone."""
    take, give = os.pipe()
    if os.fork() == 0:
        os.setsid()
        parent = os.getpid()
        if os.fork() == 0:
            while os.getppid() == parent:
                pass
            try:
                reach(path)
                os.write(give, b"0")
            except OSError as error:
                os.write(give, str(error.errno).encode())
        os._exit(0)
    os.wait()
    number = int(os.read(take, 9))
    if number:
        raise OSError(number, "the orphan's")


def linked():
    os.link("linked.sock", "sub/other-name")
    reach("sub/other-name")


def renamed():
    os.rename("moved.sock", "sub/moved")
    reach("sub/moved")


attempt("whole-name", lambda: reach(path))
attempt("workspace", lambda: reach("daemon.sock"))
attempt("workspace-whole", lambda: reach(f"{here}/daemon.sock"))
attempt("symlink", lambda: reach("link"))
attempt("symlinked-dir", lambda: reach("dir/service"))
attempt("dot-dot", lambda: reach("../../../.." + path))
attempt("changed-dir", from_directory)
attempt("other-name-of-run", lambda: reach("/var" + path))
attempt("proc-root", lambda: reach("/proc/self/root" + path))
attempt("proc-cwd", lambda: reach("/proc/self/cwd/daemon.sock"))
attempt("proc-fd", by_descriptor)
attempt("proc-fd-itself", descriptor_itself)
attempt("slashes", lambda: reach("//run/./host//service"))
attempt("length-to-the-end", whole_length)
attempt("not-blocking", not_blocking)
attempt("packets", lambda: reach(packets, kind=socket.SOCK_SEQPACKET))
attempt("thread", in_thread)
attempt("orphan", orphan)
attempt("wide-registers", wide)
attempt("again", again)
attempt("hard-link", linked)
attempt("renamed", renamed)
