for name in filter filter-before monitor promised included; do
	if [ "$(stat -c %a "$HOME/mark-$name")" = 777 ]; then echo "$name done"; else echo "$name no"; fi
done
