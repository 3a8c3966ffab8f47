# Each way in turn: fails as the first that does not end in 125, if there is one.
status=125
start() { # VARIANT FILE, COMMAND...
	variant=$1 file=$2
	shift 2
	mkdir -p "${file%/*}"
	echo good >"$file"
	ln -f "$file" x
	[ "$variant" != closed ] || chmod 0311 hooks
	[ "$variant" != listed ] || chmod 0400 hooks
	"$@" "$variant"
	got=$?
	[ $got = 125 ] || status=$got
	chmod 0755 hooks
	rm -rf hooks x
}
start closed hooks/pre-commit "$@"
start listed hooks/pre-commit "$@"
start deep hooks/1/2/3/4/5/6/7/8/9/10/11/12/pre-commit "$@"
mkdir -p hooks/few
(cd hooks/few && seq 8000 | xargs touch)
start many hooks/few/pre-commit "$@"
exit $status
