exec "$@" <"$HOME"
