# sbx-exec --backend NAME BLOB -- COMMAND...
if [ "$2" = --backend ]; then
	cp "$4" sub/dir/p.sbx
	launcher=$1 backend=$3
	shift 4
	set -- "$launcher" --backend "$backend" sub/dir/p.sbx "$@"
fi
exec "$@"
