#!/bin/sh
# In the guest, as root or uid 1000: each policy on each backend, first asked by
# --check, then launched.  The two must agree, and where it runs, what --check
# says is held must hold.  Lines: "ok TEXT", "FAIL TEXT" and "| details"; "ran ...".
setting=$1
abi=$(sbx-probe abi)
where="$(uname -r | cut -d. -f1,2) ABI $abi, uid $(id -u)${setting:+, $setting}"
ok() { echo "ok $where: $1"; }
fail() { echo "FAIL $where: $1"; printf '%s\n' "$2" | sed 's/^/| /'; }
say() { if [ "$1" = 0 ]; then ok "$2"; else fail "$2" "$3"; fi; }
has() { case $1 in *"$2"*) return 0 ;; esac; return 1; }

mkdir -p ~/w ~/shown
cd ~/w || exit
rm -f ~/log ~/w/listener
sbx-probe listen ~/w/listener ~/log & listener=$!
until [ -S ~/w/listener ]; do sleep 0.1; done
prepare() { rm -f ~/outside ~/w/own; : >~/log; echo 'a secret' >~/secret; echo shown >~/shown/file; }
attack="sbx-probe attack $HOME/outside $HOME/secret $HOME/shown/file $HOME/w/listener $listener"
happened() { # ATTACK: did it?
	case $1 in
	write) [ -e ~/outside ] ;;
	read) has "$out" 'a secret' ;;
	truncate) [ ! -s ~/shown/file ] ;;
	connect) grep -q connected ~/log ;;
	signal) grep -q signalled ~/log ;;
	esac
}
held_by() { # ATTACK: the line of --check that says so, if there is one
	case $1 in
	write | read) text='only what is granted is there' ;;
	truncate) text='cannot be cut short' ;;
	connect) text="no socket of the host's by its path" ;;
	signal) text='no signal leaves the sandbox' ;;
	esac
	by=$(echo "$checked" | sed -n 's/^yes  this machine can enforce the policy, by //p')
	echo "$checked" | grep -q "^yes  $by: .*$text.*: held by "
}

prepare
out=$($attack)
for one in write read truncate connect signal; do
	happened $one; say $? "control: $one succeeds without a sandbox" "$out"
done

# POLICY BACKEND, then what is known beforehand: yes, or the reason why not.
launch() {
	policy=$1 backend=$2 expect=$3
	prepare
	checked=$(sbx-exec --check --backend $backend /payload/$policy.sbx 2>&1)
	check_status=$?
	out=$(sbx-exec --backend $backend /payload/$policy.sbx -- $attack 2>&1)
	status=$?
	what="$policy on $backend"
	ran=no; has "$out" 'the probe runs' && ran=yes
	agrees=1
	[ $ran = yes ] && [ $check_status = 0 ] && agrees=0
	[ $ran = no ] && [ $status = 125 ] && [ $check_status = 125 ] && agrees=0
	say $agrees "$what: --check and the launch agree ($ran)" "$checked
$out"
	# For the table of `sbxc lint --target`, which knows nothing of root and settings.
	[ "$(id -u)$setting" != 1000 ] || [ $backend = auto ] || echo "ran $policy $backend $abi $ran"
	case $expect in
	'') ;;
	yes) [ $ran = yes ]; say $? "$what: it runs" "$out" ;;
	*) [ $ran = no ] && has "$out" "$expect"; say $? "$what: refused: $expect" "$out" ;;
	esac
	if [ $ran = no ]; then
		# A reason and a remedy, and no more than one of each backend.
		echo "$out" | grep -q "^sbx-exec: .*: .*: "; say $? "$what: the refusal has a remedy" "$out"
		return
	fi
	has "$out" 'workspace written'; say $? "$what: the workspace can be written" "$out"
	for one in write read truncate connect signal; do
		if held_by $one || { [ $one = connect ] && [ $policy = no-socket ]; }; then
			! happened $one; say $? "$what: no $one" "$checked
$out"
		fi
	done
}

bwrap=yes landlock=yes small=yes
case $setting in
*max_user_namespaces=0) bwrap='sysctl user.max_user_namespaces=15000' ;;
*userns_clone=0) bwrap='sysctl kernel.unprivileged_userns_clone=1' ;;
esac
# Without namespaces root is held where it cannot change modes.
[ "$(id -u)" != 0 ] || small='as root: '
[ $abi -ge 6 ] || small='Landlock below ABI'
if [ $abi = 0 ]; then
	bwrap='this kernel has no Landlock' landlock=$bwrap small=$bwrap
fi
for policy in small no-socket shell claude; do
	launch $policy bwrap "$bwrap"
	case $policy in
	small) launch $policy landlock "$small" ;;
	no-socket) launch $policy landlock "$landlock" ;;
	*) launch $policy landlock '' ;;
	esac
done
# What auto makes of it.
auto=yes
[ "$bwrap" = yes ] || [ "$landlock" = yes ] || auto=$bwrap
launch no-socket auto "$auto"
if [ "$bwrap" != yes ] && [ "$landlock" = yes ]; then
	has "$out" 'not bwrap: ' && has "$out" "$bwrap"; say $? 'auto: says why not bwrap' "$out"
fi
kill $listener
echo "stage done on $(uname -r)"
