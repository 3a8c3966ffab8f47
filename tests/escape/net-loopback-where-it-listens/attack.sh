exec python3 "$ATTACKS/net-loopback.py" "$@"
