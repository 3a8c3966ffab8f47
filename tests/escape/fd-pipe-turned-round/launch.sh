# A shell that reads its commands from a pipe, and starts the program in between.
printf 'line\n' | { "$@"; status=$?; cat >rest; exit $status; }
