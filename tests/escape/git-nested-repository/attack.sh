git init -q sub
git -C sub -c user.email=a@b -c user.name=n commit -qm 1 --allow-empty
git add sub 2>/dev/null
printf '[core]\n\tfsmonitor = touch $PWD/ran; false\n' >>sub/.git/config
git init -q --bare bare; printf '[core]\n\tfsmonitor = touch $PWD/ran; false\n\tbare = false\n\tworktree = .\n' >>bare/config
true
