look() { # VARIANT
	if [ -n "$(find . -name ran)" ]; then echo "$1 done"; else echo "$1 no"; fi
	find . -name ran -exec rm {} +
}
git status >/dev/null 2>&1; look status-above
(cd sub && git status >/dev/null 2>&1); look status-in-it
(cd bare && git status >/dev/null 2>&1); look status-in-a-bare-one
