for name in bwrap firejail getent git; do
	$name -- true >/dev/null 2>&1 || :
done
