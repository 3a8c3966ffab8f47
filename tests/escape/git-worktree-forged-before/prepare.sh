git init -q ~/other; git -C ~/other -c user.email=a@b -c user.name=n commit -qm 1 --allow-empty; git -C ~/other worktree add -q ~/tree
printf 'gitdir: %s/other/.git/worktrees/tree\n' "$HOME" >.git
