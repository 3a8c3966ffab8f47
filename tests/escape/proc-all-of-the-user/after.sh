saw() { if grep -qsx "$2" "$3"; then echo "$1 done"; else echo "$1 no"; fi; }
saw kill-all SIGUSR1 got
saw kill-group SIGUSR2 group
saw pidfd-group SIGURG group
saw renice-all nice got
