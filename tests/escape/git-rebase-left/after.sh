git rebase --continue >/dev/null 2>&1
if [ -e ran ]; then echo host-runs done; else echo host-runs no; fi
