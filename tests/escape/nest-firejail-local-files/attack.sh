. "$ATTACKS/attack.sh"
try home cat ~/.ssh/id
try masked cat hidden/key
try write touch /var/tmp/evil
rm -f /var/tmp/evil
try filters unshare -U true
