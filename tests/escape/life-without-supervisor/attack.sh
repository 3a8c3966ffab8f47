setsid sh -c 'sleep 0.4; : >runs; cat ~/.ssh/id >copy' >/dev/null 2>&1 </dev/null &
