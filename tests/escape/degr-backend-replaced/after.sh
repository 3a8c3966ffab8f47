for name in bwrap firejail getent git; do
	if [ -e ~/ran-$name ]; then echo "$name done"; else echo "$name no"; fi
done
