cd tree && exec "$@"
