. "$ATTACKS/attack.sh"
read -r line
exec 3<&0
try write sh -c 'echo "touch injected" >/proc/self/fd/3'
