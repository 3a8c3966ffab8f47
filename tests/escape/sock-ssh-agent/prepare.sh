mkdir -p ~/.ssh/agent
ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id
