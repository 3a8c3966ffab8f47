git push -q >/dev/null 2>&1 </dev/null
rm -f .git/remotes/origin
git push -q >/dev/null 2>&1 </dev/null
for kind in remotes branches; do
	if [ -e ran-$kind ]; then echo "$kind done"; else echo "$kind no"; fi
done
