cd sub && exec "$@"
