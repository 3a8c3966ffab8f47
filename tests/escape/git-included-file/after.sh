git status >/dev/null 2>&1; git x >/dev/null 2>&1
for name in shared denied; do
	if [ -e "ran-$name" ]; then echo "$name done"; else echo "$name no"; fi
done
