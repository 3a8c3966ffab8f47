for place in /tmp /var/tmp /dev/shm /run/lock "/run/user/$(id -u)"; do
	mkdir -p "$place/sbx-mark" 2>/dev/null
	echo x 2>/dev/null >"$place/sbx-mark/x"
done
