cd sub/deep && exec "$@"
