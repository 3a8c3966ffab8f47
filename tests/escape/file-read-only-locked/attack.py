from attack import *
import fcntl

file = os.open(os.environ["HOME"] + "/data/a", os.O_RDONLY)
attempt("flock", lambda: fcntl.flock(file, fcntl.LOCK_EX))
attempt("lease", lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK))
