. "$ATTACKS/attack.sh"
try read cat ~/.ssh/id
