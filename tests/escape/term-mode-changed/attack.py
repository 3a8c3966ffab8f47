# The node of the terminal that is handed over is the user's, who could open it to others.
import os

from attack import attempt

attempt("mode", lambda: os.fchmod(0, 0o622) or os.fchmod(0, 0o620))
attempt("mode-by-proc", lambda: os.chmod("/proc/self/fd/0", 0o620))
attempt("times", lambda: os.utime(1))
