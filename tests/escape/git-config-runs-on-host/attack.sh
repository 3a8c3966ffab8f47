mkdir -p .git/info
printf '[core]\n\tfsmonitor = touch ran-config; false\n' >>.git/config
git config core.sshCommand 'touch ran-by-git; false'
cp .git/config c; printf '[diff]\n\texternal = touch ran-moved-over; true\n' >>c; mv -f c .git/config
printf '[core]\n\teditor = touch ran-worktree-config; false\n' >>.git/config.worktree
echo 'a.c filter=f' >>.git/info/attributes
echo 'a.txt filter=g' >>.gitattributes
mkdir -p .git/hooks; printf '#!/bin/sh\ntouch ran-hook\n' >h; chmod +x h; cp h .git/hooks/pre-commit
ln -s ../../h .git/hooks/post-checkout; mv h2 .git/hooks/x 2>/dev/null; cp h .git/h; mv .git/h .git/hooks/post-index-change
true
