for kind in remotes branches; do
	git init -q --bare $kind.git
	printf '#!/bin/sh\ntouch %s/ran-%s\n' "$PWD" $kind >$kind.git/hooks/pre-receive; chmod +x $kind.git/hooks/pre-receive
	mkdir -p .git/$kind
done
printf 'URL: %s/remotes.git\nPush: HEAD:refs/heads/x\n' "$PWD" >.git/remotes/origin
echo "$PWD/branches.git" >.git/branches/origin
true
