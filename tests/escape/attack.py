"""For attacks in Python: says what came of each variant, as the suite reads it."""
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)


def name_of(number):
    return errno.errorcode.get(number, str(number))


def attempt(variant, action):
    """`VARIANT done`, or the name of the error that it raised."""
    try:
        action()
        print(variant, "done", flush=True)
    except OSError as error:
        print(variant, name_of(error.errno), flush=True)


def call(number, *words):
    """A system call by number; raises OSError."""
    words = [word if isinstance(word, bytes) or not isinstance(word, int) else ctypes.c_long(word) for word in words]
    result = libc.syscall(ctypes.c_long(number), *words)
    if result == -1:
        raise OSError(ctypes.get_errno(), f"call {number}")
    return result


def libcall(name, *words):
    """A function of the C library by name; raises OSError."""
    result = getattr(libc, name)(*words)
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result


def alone(variant, action):
    """The same in a child, which the kernel may kill: then the signal's name."""
    import signal
    child = os.fork()
    if child == 0:
        attempt(variant, action)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        print(variant, signal.Signals(os.WTERMSIG(status)).name, flush=True)
