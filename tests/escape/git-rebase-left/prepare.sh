git init -q .; git config user.email a@b; git config user.name n; git commit -qm 1 --allow-empty
