look() { # VARIANT MARKER
	git status >/dev/null 2>&1
	if [ -e "$2" ]; then echo "$1 done"; else echo "$1 no"; fi
}
look host-runs-forged ran-forged
echo 'gitdir: ../../.git/modules/deep/lib' >deep/lib/.git
look host-runs ran
