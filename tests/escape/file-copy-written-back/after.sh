look() { # VARIANT FILE
	if grep -qs EVIL "$2"; then echo "$1 done"; else echo "$1 no"; fi
}
look in-place ~/.gitconfig; look empty ~/empty; look read-only ~/readonly; look through-a-link ~/real/file
look in-directory ~/.config/app/sub/f; look made ~/.config/app/sub/g
