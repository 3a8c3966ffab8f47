exec python3 -c '
import os, socket, sys
one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
os.dup2(one.fileno(), 0)
os.execvp(sys.argv[1], sys.argv[1:])
' "$@"
