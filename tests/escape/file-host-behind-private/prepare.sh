for top in ~/empty ~/kept; do
	mkdir -p $top/shown $top/kept/free
	for name in shown/file kept/except kept/free/file; do echo good >$top/$name; done
done
