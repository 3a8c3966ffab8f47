git init -q .; git config user.email a@b; git config user.name n
mkdir tasks keys; for f in settings.json edited tracked secret gone tasks/a keys/a; do echo 1 >$f; done
git add tracked; git commit -qm 1; git branch other; echo 2 >tracked; git commit -qam 2
