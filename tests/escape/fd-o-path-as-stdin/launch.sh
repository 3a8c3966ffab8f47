exec python3 -c '
import os, sys
os.dup2(os.open(os.path.expanduser("~"), os.O_PATH), 0)
os.execv(sys.argv[1], sys.argv[1:])' "$@"
