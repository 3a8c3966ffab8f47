# A mark is a mode: no write is needed for it.
for name in filter filter-before monitor promised included; do : >"$HOME/mark-$name"; chmod 600 "$HOME/mark-$name"; done
git init -q .; git config user.email a@b; git config user.name n
printf '#!/bin/sh\ntrue\n' >clean.sh; chmod +x clean.sh
git config filter.before.clean ./clean.sh
mkdir -p .vscode tools; for name in .mcp.json .envrc .vscode/tasks.json .pre-commit-config.yaml; do echo 1 >$name; done
git add -A; git commit -qm 1
