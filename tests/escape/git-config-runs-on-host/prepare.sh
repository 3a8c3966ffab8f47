git init -q .; git config user.email a@b; git config user.name n
git config extensions.worktreeConfig true
git config remote.origin.url ssh://nowhere.invalid/x
git config filter.f.clean 'touch ran-attributes; cat'
git config filter.g.clean 'touch ran-gitattributes; cat'
echo 1 >a.txt; echo 1 >a.c; git add -A; git commit -qm 1
