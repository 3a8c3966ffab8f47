exec "$@" </dev/zero
