git init -q .; git config user.email a@b; git config user.name n; mkdir -p sub/deep; echo 1 >sub/deep/a; echo 1 >top; git add -A; git commit -qm 1
