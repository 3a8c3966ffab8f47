here=$PWD
tmux -S "$1" run-shell "touch $here/ran-tmp"
tmux -S "$2" run-shell "touch $here/ran-workspace"
sleep 0.1
