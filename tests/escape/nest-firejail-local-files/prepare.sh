mkdir -p ~/.config/firejail ~/.ssh hidden; echo KEY >~/.ssh/id; echo TREASURE >hidden/key
for name in globals sbx sbx-exec default firejail server; do
	printf '%s\n' 'noblacklist ${HOME}' 'ignore blacklist' 'ignore read-only' 'ignore seccomp' 'ignore nonewprivs' \
		'ignore net none' 'ignore private-dev' 'read-write /' >~/.config/firejail/$name.local
	cp ~/.config/firejail/$name.local ~/.config/firejail/$name.profile
done
