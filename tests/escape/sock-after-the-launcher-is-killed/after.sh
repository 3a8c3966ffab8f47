flock -w 5 orphan true
for variant in alone listener; do
	cat "$variant" 2>/dev/null || echo "$variant no"
done
