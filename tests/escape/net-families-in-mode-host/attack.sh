exec "$ATTACKS/net-families" "$@"
