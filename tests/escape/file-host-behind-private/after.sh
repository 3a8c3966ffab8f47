look() { # VARIANT FILE
	if grep -qs EVIL "$2"; then echo "$1 done"; else echo "$1 no"; fi
}
for top in empty kept; do
	look $top-shown ~/$top/shown/file; look $top-except ~/$top/kept/except; look $top-except-directory ~/$top/kept/free/file
done
