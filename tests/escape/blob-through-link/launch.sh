# By two links, one in the place of its directory; sbx-exec itself by another.
if [ "$2" = --backend ]; then
	cat "$4" >~/store/p.sbx
	backend=$3
	shift 4
	set -- ./run --backend "$backend" ./p.sbx "$@"
fi
exec "$@"
