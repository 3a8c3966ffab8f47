# Outside this shell is the parent.  It holds a secret, as a launcher would.
export SEKRET=hunter2
sh -c '"$@"; exit $?' sh "$@"
