# What a careless caller leaves open, each at a number that the attack knows.
exec python3 -c '
import ctypes, fcntl, os, pty, select, socket, sys
home = os.path.expanduser("~")
a, b = socket.socketpair()
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
poll = select.epoll()
poll.register(a, select.EPOLLOUT)
read, write = os.pipe()
os.set_inheritable(read, True)
ours, theirs = pty.openpty()
os.set_inheritable(theirs, True)
os.set_inheritable(a.fileno(), True)
params = (ctypes.c_uint * 64)()
left = {
    10: os.open(home + "/.ssh/id", os.O_RDONLY),
    11: os.open(home + "/.ssh/id", os.O_RDWR),
    12: os.open(home, os.O_RDONLY | os.O_DIRECTORY),
    13: os.open(home, os.O_PATH),
    14: b.fileno(),
    15: os.memfd_create("shared"),
    16: os.pidfd_open(os.getpid()),
    17: poll.fileno(),
    18: client.fileno(),
    19: server.fileno(),
    20: ours,
    21: os.open("/proc/self/ns/user", os.O_RDONLY),
    22: write,
    23: ctypes.CDLL(None).syscall(425, 4, params),
    999: os.open(home + "/.ssh/id", os.O_RDONLY),
}
high = {number: fcntl.fcntl(descriptor, fcntl.F_DUPFD, 500) for number, descriptor in left.items()}
for number, descriptor in high.items():
    os.dup2(descriptor, number)
os.execv(sys.argv[1], sys.argv[1:])' "$@"
