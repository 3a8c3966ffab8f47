# Each way in turn: fails as the first that does not end in 125, if there is one.
status=125
start() { # VARIANT DIRECTORY COMMAND...
	variant=$1 directory=$2
	shift 2
	(cd "$directory" && exec "$@" "$variant")
	got=$?
	[ $got = 125 ] || status=$got
}
work=$PWD
start home "$HOME" "$@"
start above "$HOME/.." "$@"
start root / "$@"
start link "$work/to-home" "$@"
HOME=/var/tmp start home-elsewhere "$HOME" env "HOME=$HOME" "$@"
exit $status
