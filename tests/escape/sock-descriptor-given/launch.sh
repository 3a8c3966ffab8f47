exec python3 -c '
import array, os, socket, sys
ours, theirs = socket.socketpair()
home = os.open(os.environ["HOME"], os.O_RDONLY)
log = os.open("log", os.O_RDONLY, dir_fd=home)
given = [home, log, socket.socket(socket.AF_UNIX), socket.socket(), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)]
fds = array.array("i", [one if isinstance(one, int) else one.fileno() for one in given])
ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
os.dup2(theirs.fileno(), 0)
os.set_inheritable(ours.fileno(), True)
os.execvp(sys.argv[1], sys.argv[1:])
' "$@"
