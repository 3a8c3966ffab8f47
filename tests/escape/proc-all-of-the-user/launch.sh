trap 'echo SIGUSR2 >>group' USR2
trap 'echo SIGURG >>group' URG
trap '' USR1
"$@"
exit $?
