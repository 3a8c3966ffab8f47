exec python3 "$(dirname "$0")/start.py" "$@"
