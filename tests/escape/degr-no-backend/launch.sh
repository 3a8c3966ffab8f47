# A machine on which nothing is to be had: no user namespace, no Landlock, no set-uid program.
exec python3 "$(dirname "$0")/start.py" "$@"
