# std/git in a repository with submodules: what git runs in them stays shut.

case_ 'submodules'
policy modules <<'EOF'
import std/git
EOF
fresh
as_user sh -ec "cd $work; export GIT_CONFIG_GLOBAL=/dev/null
	git() { command git -c user.name=a -c user.email=a@b -c protocol.file.allow=always \"\$@\"; }
	git init -q from; git -C from commit -q --allow-empty -m x
	git init -q .; git submodule -q add ./from libs/deep; git commit -qm x
	mkdir -p .git/modules/libs/deep/info; touch .git/modules/libs/deep/info/attributes" >"$dir/log" 2>&1 ||
	fail 'control: a repository with one' "$(cat "$dir/log")"
sbx modules sh -c 'cd .git/modules/libs/deep && for name in hooks/post-commit config info/attributes; do
	echo x >$name && echo "wrote $name"; done; mv hooks old; mv ../deep ../else'
no_output wrote 'below a directory of modules/ they are read-only'
ok '... and where they were' test -d "$work/.git/modules/libs/deep/hooks"
sbx modules sh -ec 'cd libs/deep; echo x >x; git add x; git -c user.name=a -c user.email=a@b commit -qm x; git gc -q; git log --oneline | wc -l'
output 2 'a commit in it works'
