cd w && exec "$@"
