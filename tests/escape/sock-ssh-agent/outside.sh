mkdir -m 700 /tmp/ssh-agent.1
for socket in /tmp/ssh-agent.1/agent "$HOME/.ssh/agent/s" "$PWD/agent.sock"; do
	ssh-agent -D -a "$socket" >/dev/null &
	until [ -S "$socket" ]; do sleep 0.01; done
	SSH_AUTH_SOCK=$socket ssh-add -q ~/.ssh/id 2>/dev/null
done
echo "ready /tmp/ssh-agent.1/agent $HOME/.ssh/agent/s $PWD/agent.sock"
wait
