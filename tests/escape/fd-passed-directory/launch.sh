exec "$@" 7<"$HOME"
