for word in status 'add -A' diff 'commit -qm 2 --allow-empty' 'commit --allow-empty' fetch 'checkout -q HEAD'; do
	echo x >>a.c; echo x >>a.txt
	timeout 5 git $word >/dev/null 2>&1 </dev/null
done
for name in config by-git moved-over worktree-config attributes gitattributes hook; do
	if [ -e "ran-$name" ]; then echo "$name done"; else echo "$name no"; fi
done
