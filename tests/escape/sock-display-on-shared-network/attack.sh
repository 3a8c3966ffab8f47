exec python3 "$ATTACKS/sock-display.py" "$@"
