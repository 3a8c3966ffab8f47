. "$ATTACKS/attack.sh"
try "${1:-none}" cat "$HOME/.ssh/id"
