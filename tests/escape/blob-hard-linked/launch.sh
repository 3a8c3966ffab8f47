if [ "$2" = --backend ]; then
	cat "$4" >blobs/p.sbx
	launcher=$1 backend=$3
	shift 4
	set -- "$launcher" --backend "$backend" ../blobs/p.sbx "$@"
fi
cd w && exec "$@"
