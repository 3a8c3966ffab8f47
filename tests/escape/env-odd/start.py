# An environment as no shell makes one.
import ctypes
import os
import resource
import sys

resource.setrlimit(resource.RLIMIT_STACK, (64 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
keep = [f"{name}={os.environ[name]}" for name in ("HOME", "PATH", "ATTACKS", "PYTHONPATH", "USER")]
strings = keep + ["KEEP_TWICE=1", "SECRET_FIRST=x"]
strings += [f"SECRET_{i}=x" for i in range(3000)]
strings += [f"PADDING_{i}=" + "x" * 120000 for i in range(18)]  # more than 2 MiB
strings += ["SECRET_LATE=x", "SECRET_NO_EQUALS", "=SECRET_EMPTY_NAME", "KEEP ME=SECRET_BLANK", "KEEP_TWICE=2",
            "keep_lower=SECRET_LOWER", "KEEP_OUT_1=SECRET_DENIED", "KEEP_OUT_1 =SECRET_TRAILING", "XKEEP_=SECRET_PREFIX",
            "KEEP_LINES=a\nSECRET_LINE=b"]
argv = (ctypes.c_char_p * len(sys.argv))(*[word.encode() for word in sys.argv[1:]], None)
env = (ctypes.c_char_p * (len(strings) + 1))(*[text.encode() for text in strings], None)
ctypes.CDLL(None).execve(argv[0] if b"/" in argv[0] else b"/usr/bin/" + argv[0], argv, env)
