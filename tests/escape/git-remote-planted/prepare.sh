git init -q .; git config user.email a@b; git config user.name n
echo 1 >a.txt; git add -A; git commit -qm 1
