exec python3 "$ATTACKS/sock-abstract.py" "$@"
