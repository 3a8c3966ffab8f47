for variant in alone listener; do
	for try in 1 2 3 4 5 6 7 8 9 10; do
		[ -s "$variant" ] && break
		[ -e orphan ] && sleep 0.1
	done
	cat "$variant" 2>/dev/null || echo "$variant no"
done
