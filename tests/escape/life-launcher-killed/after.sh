sleep 0.6
for name in started child; do
	if [ -e $name-runs ]; then echo "$name done"; else echo "$name no"; fi
done
