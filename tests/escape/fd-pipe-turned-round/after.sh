if grep -q injected rest; then echo 'reaches-the-shell done'; else echo 'reaches-the-shell no'; fi
