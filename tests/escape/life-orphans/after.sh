sleep 0.6
for name in child session twice deaf subreaper sibling silent stopped; do
	if [ -e $name ]; then echo "$name done"; else echo "$name no"; fi
done
