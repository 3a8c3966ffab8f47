setsid sh -c 'sleep 0.5; : >started-runs' >/dev/null 2>&1 </dev/null &
sh -c 'trap "" HUP TERM INT; sleep 0.5; : >child-runs' >/dev/null 2>&1 </dev/null &
sleep 0.6
: >program-runs
