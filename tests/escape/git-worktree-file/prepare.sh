git init -q main; cd main; git config user.email a@b; git config user.name n; git commit -qm 1 --allow-empty
git config extensions.worktreeConfig true; git worktree add -q ../tree
