. "$ATTACKS/attack.sh"
try "${1:-none}" sh -c 'echo EVIL >>x'
