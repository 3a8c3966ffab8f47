: >"$HOME/mark"; chmod 600 "$HOME/mark"
git init -q .; git config user.email a@b; git config user.name n
mkdir sub; echo 1 >sub/.mcp.json; git add -A; git commit -qm 1
