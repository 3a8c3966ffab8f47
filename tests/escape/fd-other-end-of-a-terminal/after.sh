sleep 0.1
if grep -qs evil typed; then echo 'read-by-the-shell done'; else echo 'read-by-the-shell no'; fi
