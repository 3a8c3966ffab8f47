trap 'echo SIGUSR2 >>group' USR2
trap '' USR1
"$@"
exit $?
