# Everything is laid out for whoever asks git about the protected files afterwards; the
# last lines do so themselves.
script() { printf '#!/bin/sh\nchmod 777 "%s/mark-%s"\n%s\n' "$home" "$2" "$3" >"$1"; chmod +x "$1"; }
home=$HOME export GIT_OPTIONAL_LOCKS=0
script clean.sh filter-before cat
script filter.sh filter cat
script monitor.sh monitor false
script fetch.sh promised false
script included.sh included cat
printf '.mcp.json filter=now\n.envrc filter=before\n.pre-commit-config.yaml filter=included\n' >.gitattributes
git config filter.now.clean "$PWD/filter.sh"
printf '[filter "included"]\n\tclean = %s/included.sh\n' "$PWD" >more; git config include.path "$PWD/more"
git add -A; git commit -qm 2
# What HEAD has of .vscode is not there: from elsewhere it could be had.
git config core.repositoryFormatVersion 1; git config extensions.partialClone o
git config remote.o.url "ext::$PWD/fetch.sh"; git config remote.o.promisor true; git config protocol.ext.allow always
git config core.fsmonitor "$PWD/monitor.sh"
tree=$(git rev-parse HEAD:.vscode); rm -f ".git/objects/$(echo "$tree" | sed 's,..,&/,')"
touch -d 2001-01-01 .git/index .mcp.json .envrc .pre-commit-config.yaml 2>/dev/null
git status >/dev/null 2>&1; git diff-index HEAD -- .mcp.json .envrc .pre-commit-config.yaml >/dev/null 2>&1; git ls-tree -r HEAD .vscode >/dev/null 2>&1
true
