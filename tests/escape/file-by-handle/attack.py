from attack import *
import sys

handle = bytes.fromhex(sys.argv[1])


def read(at):
    file = libcall("open_by_handle_at", os.open(at, os.O_RDONLY), handle, os.O_RDONLY)
    assert os.read(file, 4) == b"KEY\n"


alone("workspace", lambda: read("."))
alone("root", lambda: read("/var/tmp/sbx/attacks"))
