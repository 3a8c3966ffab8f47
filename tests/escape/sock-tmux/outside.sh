mkdir -p -m 700 "/tmp/tmux-$(id -u)"
for socket in "/tmp/tmux-$(id -u)/default" "$PWD/tmux.sock"; do
	tmux -f /dev/null -S "$socket" new-session -d 'sleep 60'
done
echo "ready /tmp/tmux-$(id -u)/default $PWD/tmux.sock"
trap 'tmux -S "$PWD/tmux.sock" kill-server; tmux kill-server' TERM
sleep 60
