# Bare, this shell is the parent.
sh -c '"$@"; status=$?; echo gone >ended; exit $status' sh "$@"
