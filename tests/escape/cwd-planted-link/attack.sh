. "$ATTACKS/attack.sh"
try read cat id
try write touch id
