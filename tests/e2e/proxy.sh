# net mode proxy and credentials, from the launcher's side: what the proxy is given, who
# reaches it, what is left of it.  A stand-in says what it was told (proxy_standin.py).

built=$dir/sbx/build
[ ! -x "$built/sbx-proxy" ] || mv "$built/sbx-proxy" "$built/real-sbx-proxy"
cp tests/e2e/proxy_standin.py "$built/sbx-proxy"; chmod 755 "$built/sbx-proxy"
cp tests/e2e/proxy_ways.py "$dir/"
standin() { echo "$*" >"$built/standin"; : >"$built/standin.log"; chmod 666 "$built/standin.log"; }
told() { if grep -qE -- "$1" "$built/standin.log"; then pass "$2"; else fail "$2: not told '$1'" "$(cat "$built/standin.log")"; fi; }
proxy_pid() { sed -nE 's/^environment.* pid ([0-9]+)$/\1/p' "$built/standin.log"; }
gone() { ! kill -0 "$1" 2>/dev/null || [ "$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status")" = Z ]; }
until_gone() { for _ in $(seq 100); do ! gone "$1" || return 0; sleep 0.02; done; return 1; }
records=$TESTHOME/.local/state/sbx/sessions

keys=$home/keys
mkdir -p "$keys"; echo REAL-KEY-1 >"$keys/key"; chmod 600 "$keys/key"; own "$keys"
printf '#!/bin/sh\necho REAL-KEY-3\n' >"$keys/mint"; chmod 755 "$keys/mint"
key_policy() { # NAME CREDENTIALS [FILE RULES]: with a proxy and these
	rig=std/rig-alone policy "$1" <<-POL
	fs { tmp /tmp best-effort; read $dir; ${3:-} }
	env {
	    set http_proxy "http://127.0.0.1:3128"
	    set SSL_CERT_FILE "\$ca-bundle"
	    pass OTHER_* OTHER_KEY GON*
	}
	net { mode proxy; allow keyed.test upstream.test:80 }
	syscalls { default ENOSYS }
	$2
	POL
}
key_policy proxied "
credential FILE_KEY { source file $keys/key; host keyed.test; header x-key; lifetime 1h }
credential ENV_KEY { source env OTHER_KEY; host keyed.test; header x-other; lifetime 1h }
credential GONE optional { source file $keys/absent; host keyed.test; header x-gone; lifetime 1h }"
key_policy keyless ''
caller() { run_in "$work" env OTHER_KEY=REAL-KEY-2 OTHER_X=x GONE=REAL-KEY-4 "$@"; }

fresh
exec {ready}< <(exec setpriv --reuid "$TESTUID" --regid "$TESTUID" --clear-groups /usr/bin/python3 -I "$dir/proxy_ways.py" serve)
server=$!
read -r service <&"$ready"
for backend in bwrap firejail landlock; do
	case_ "mode proxy on $backend"
	standin
	inside() { caller "$sbx_exec" -q --backend "$backend" "$dir/proxied.sbx" -- "$@"; }
	inside true
	if [ "$status" != 0 ]; then
		skip "$(head -n 1 <<<"$out")"
		continue
	fi

	case_ "CRED-04 on $backend: placeholders"
	standin
	inside sh -c 'env; cat "$SSL_CERT_FILE"; (echo x >>"$SSL_CERT_FILE")'
	first=$(grep -E '^FILE_KEY=sbx-placeholder-[0-9a-f]{32}-real-key-is-outside$' <<<"$out")
	equal 1 "$(grep -cE '^FILE_KEY=sbx-placeholder-[0-9a-f]{32}-real-key-is-outside$' <<<"$out")" 'one in the place of a file'
	equal 1 "$(grep -cE '^ENV_KEY=sbx-placeholder-[0-9a-f]{32}-real-key-is-outside$' <<<"$out")" '... and of a variable'
	no_output REAL-KEY 'no value'
	no_output GONE= '... nor one of what is left out'
	output OTHER_X=x 'other variables are passed'
	output ROOTS '$ca-bundle is what the proxy wrote'
	equal 1 "$(grep -ciE 'denied|read-only' <<<"$out")" '... and is not to be written'
	told '^placeholder FILE_KEY=sbx-placeholder-' 'the proxy knows the placeholder'
	told '^env OTHER_KEY=REAL-KEY-2$' '... the variable'
	not 'what is left out it does not hear of' grep -q GONE "$built/standin.log"
	told '^descriptors \[0, 1, 2, 3\] and 3$' 'it has one descriptor'
	told "^environment [01] argv \[\] directory / " '... no environment, no argument'
	told '^session [0-9]+-[0-9]+$' 'the session has a name'
	not 'the bundle goes with the session' ls "$records"/bundle-*
	ok 'the proxy ends with it' gone "$(proxy_pid)"
	inside env
	not 'the next session has others' grep -qF "$first" <<<"$out"

	case_ "NET-11 on $backend: ways out"
	standin
	inside curl -sS http://upstream.test/
	equal PROXY "$out" 'curl gets to the proxy by its variable'
	there=127.0.0.1:3128 host=127.0.0.1:$service beyond=192.0.2.1:80
	inside python3 "$dir/proxy_ways.py" {plain,mapped,not-waiting,anew,no-port,later}:$there \
		{plain,mapped,not-waiting,anew,first-bytes,first-bytes-message,mptcp}:$host {plain,anew,later}:$beyond \
		{vsock,packet,raw,other-netlink}:x:1
	tried=$out
	run_in "$work" python3 "$dir/proxy_ways.py" {plain,mapped,not-waiting,first-bytes,first-bytes-message,mptcp}:$host
	bare=$out
	found() { if grep -qE "^$2 ($3)\$" <<<"$tried"; then pass "$1"; else fail "$1: not $2 $3" "$tried"; fi; }
	to_proxy() { found "$1" "$2:$there" 'got PROXY'; }
	not_to_host() { # WHAT WAY ERRORS: the host's service, which is reached bare
		if grep -qx "$2:$host got HOST" <<<"$bare"; then pass "control: $1"; else fail "control: $1" "$bare"; fi
		found "$1" "$2:$host" "$3"
	}
	to_proxy 'a plain connect' plain
	to_proxy 'the mapped form' mapped
	to_proxy 'a connect that does not wait, asked again' not-waiting
	to_proxy 'a socket let go of' anew
	to_proxy 'a socket that chooses its port late, and shares it' no-port
	to_proxy 'a connect that the first write makes' later
	not_to_host 'a service of the host is not reached' plain 'EACCES|ECONNREFUSED'
	not_to_host '... by its mapped form' mapped 'EACCES|ECONNREFUSED'
	not_to_host '... without waiting' not-waiting 'EACCES|ECONNREFUSED'
	not_to_host '... with the first bytes' first-bytes 'ENOTSUP|ECONNREFUSED'
	not_to_host '... and in a message' first-bytes-message 'ENOTSUP|ECONNREFUSED'
	not_to_host '... by MPTCP' mptcp 'EAFNOSUPPORT|ENOPROTOOPT|EPROTONOSUPPORT'
	found '... by a socket let go of' "anew:$host" 'EACCES|ECONNREFUSED'
	found 'what lies beyond is refused at once' "(plain|anew):$beyond" 'EACCES|ENETUNREACH'
	found 'a later write takes no other address' "later:$beyond" 'got PROXY'
	equal 4 "$(grep -E '^(vsock|packet|raw|other)' <<<"$tried" | grep -vc got)" 'sockets of other kinds cannot be made'

	inside python3 "$dir/proxy_ways.py" storm:$there
	equal "storm:$there got 1600-connected" "$out" 'more connections than the proxy can be told of at once wait their turn'

	case_ "FD-05 on $backend: what leaks"
	inside sh -c 'ls -l /proc/self/fd /proc/$$/fd'
	no_output socket: 'the program holds no socket of ours'
	no_output memfd 'nor a memory file'
	caller "$sbx_exec" -q --backend "$backend" "$dir/proxied.sbx" -- sh -c 'echo up >up; sleep 0.6' &
	await "$work/up"
	seen=$(for all in $(pgrep -u "$TESTUID"); do tr '\0' ' ' <"/proc/$all/cmdline"; echo; done 2>/dev/null)
	equal 0 "$(grep -cE 'REAL-KEY|sbx-placeholder-[0-9a-f]' <<<"$seen")" 'no command line has a value or a placeholder'
	# Of all that is confined here, only the inner stage has a socket: to the launcher.
	held=0
	for status_of in /proc/[0-9]*/status; do
		[ "$(readlink "${status_of%status}cwd")" = "$work" ] && grep -qs '^Seccomp:.2' "$status_of" || continue
		held=$((held + $(ls -l "${status_of%status}fd" 2>/dev/null | grep -c socket:)))
	done
	if [ "$held" -le 1 ]; then pass 'nor does the inner stage'; else fail "nor does the inner stage: $held sockets"; fi
	wait "$!"; rm -f "$work/up"

	case_ "the proxy's end on $backend"
	standin
	(await "$work/up"; kill -KILL "$(proxy_pid)") &
	caller "$sbx_exec" --backend "$backend" "$dir/proxied.sbx" -- \
		sh -c "echo up >up; sleep 0.3; python3 '$dir/proxy_ways.py' plain:127.0.0.1:3128; exit 7"
	rm -f "$work/up"
	status 7 'the session outlives it'
	output 'sbx-exec: the proxy has ended: no network from here on' '... says so'
	output ECONNREFUSED '... and has no network'
	equal 1 "$(grep -c 'has ended' <<<"$out")" '... once'
	standin
	inside python3 -c 'import socket; s = socket.create_connection(("127.0.0.1", 3128)); s.sendall(b"NOTE\r\n\r\n"); s.recv(9)'
	no_output note 'its notes are silent under -q'
	caller "$sbx_exec" --backend "$backend" "$dir/proxied.sbx" -- \
		python3 -c 'import socket; s = socket.create_connection(("127.0.0.1", 3128)); s.sendall(b"NOTE\r\n\r\n"); s.recv(9); import time; time.sleep(0.1)'
	output "sbx-exec: a note of the proxy's" '... and else said'
	standin last
	caller "$sbx_exec" --backend "$backend" "$dir/proxied.sbx" -- sh -c 'echo last; exit 3'
	status 3 'what it refused is said at the end'
	equal 'last
sbx-exec: the proxy refused host0.test:443: \x1b[1m
sbx-exec: the proxy refused host1.test:443: \x1b[1m
sbx-exec: the proxy refused host2.test:443: \x1b[1m
sbx-exec: the proxy refused host3.test:443: \x1b[1m
sbx-exec: the proxy refused host4.test:443: \x1b[1m
sbx-exec: ... and 2 more hosts (-v names them)' "$(grep -vE 'left out|not enforced' <<<"$out")" '... of five hosts'
	caller "$sbx_exec" -v --backend "$backend" "$dir/proxied.sbx" -- true
	equal 7 "$(grep -c 'sbx-exec: the proxy refused' <<<"$out")" '... of all under -v'
	inside true
	equal '' "$out" '... of none under -q'
	standin endless
	caller "$sbx_exec" --backend "$backend" "$dir/proxied.sbx" -- true
	output 'sbx-exec: ... and at least ' 'one that does not come to an end'
	ok '... is ended' until_gone "$(proxy_pid)"
	standin
	(cd "$work" && exec setpriv --reuid "$TESTUID" --regid "$TESTUID" --init-groups env -i OTHER_KEY=1 HOME="$TESTHOME" PATH=/usr/bin:/bin \
		"$sbx_exec" -q --backend "$backend" "$dir/proxied.sbx" -- sh -c 'echo up >up; exec sleep 60') >/dev/null 2>&1 </dev/null &
	launcher=$!
	await "$work/up"
	kill -KILL "$launcher"; wait "$launcher" 2>/dev/null
	rm -f "$work/up"
	ok 'it ends with a launcher that is killed' until_gone "$(proxy_pid)"
	ok '... which leaves the bundle' ls "$records"/bundle-*
	standin
	inside true
	not '... to the next session' ls "$records"/bundle-*

	case_ "a proxy that fails on $backend"
	standin fail; inside true
	status 125 'what it cannot do stops the launch'
	output 'sbx-exec: credential KEY: no key: make one' '... in its words'
	standin die; inside true
	status 125 'so does its end'
	output 'sbx-proxy ended before it was ready, without a word: see whether `sbx-proxy --version` works' '... with the remedy'
	not 'and the bundle is gone' ls "$records"/bundle-*
	standin slow; inside sh -c 'cat "$SSL_CERT_FILE"'
	equal ROOTS "$out" 'one that is slow is waited for'

	case_ "--net-log on $backend"
	standin
	caller "$sbx_exec" -q --backend "$backend" --net-log "$home/net.log" "$dir/proxied.sbx" -- true
	caller "$sbx_exec" -q --backend "$backend" --net-log "$home/net.log" "$dir/proxied.sbx" -- true
	equal 2 "$(wc -l <"$home/net.log")" 'is appended to'
	equal "600 $TESTUSER" "$(stat -c '%a %U' "$home/net.log")" '... and the own user alone reads it'
	rm -f "$home/net.log"
done

case_ 'NET-12 on landlock: another user, on the host'
standin
caller "$sbx_exec" -q --backend landlock "$dir/proxied.sbx" -- true
if [ "$status" = 0 ]; then
	standin
	(caller "$sbx_exec" -v --backend landlock "$dir/proxied.sbx" -- sh -c "
		echo up >up; until [ -e go ]; do sleep 0.02; done
		python3 '$dir/proxy_ways.py' plain:127.0.0.1:3128 plain:192.0.2.1:80 mapped:192.0.2.1:81 listens:x:0 \
			datagram:127.0.0.1:53 datagram6:x:53 ping:x:0 bound:127.0.0.1:3128"; echo "$out" >"$dir/guarded") &
	await "$work/up"
	real=$(sed -nE 's/^listen 127.0.0.1 ([0-9]+) guarded 1$/\1/p' "$built/standin.log")
	out=$(setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 -I "$dir/proxy_ways.py" "plain:127.0.0.1:$real" 2>&1)
	no_output PROXY 'gets nothing from the proxy'
	run_in "$work" python3 "$dir/proxy_ways.py" "plain:127.0.0.1:$real"
	no_output PROXY '... nor does the same user outside'
	own "$work"; : >"$work/go"
	wait "$!"; rm -f "$work/up" "$work/go"
	out=$(cat "$dir/guarded")
	told '^dropped ' 'their connections were not announced'
	output 'plain:127.0.0.1:3128 got PROXY' '... and the session has its own'
	output 'connect refused: 192.0.2.1:80: only the proxy is (net)' 'what is refused is named'
	output 'connect refused: 192.0.2.1:81: ' '... the mapped form as well'
	output 'connect refused: to listen: no `listen` names the port' 'nobody is waited for on the host'
	equal 3 "$(grep -c ' EAFNOSUPPORT$' <<<"$out")" 'there are no datagrams'
	equal 0 "$(grep -c ' got [^P]' <<<"$out")" '... and nothing else got out'
	equal 1 "$(grep -c ^expect "$built/standin.log")" 'each connection is announced, and no other'
	output 'connections refused' 'the end counts them'; no_output '(-v names them)' '... which -v has named'
	caller "$sbx_exec" --backend landlock "$dir/proxied.sbx" -- python3 "$dir/proxy_ways.py" plain:192.0.2.1:80 plain:192.0.2.1:81
	output 'sbx-exec: 2 connections refused (-v names them)' '... and else says how they are named'
else
	skip "$(head -n 1 <<<"$out")"
fi

case_ 'a proxy that hangs'
cp "$sbx_fake" "$built/sbx-exec-fake"; chmod 755 "$built/sbx-exec-fake" # it waits for 2 s
standin hang
caller "$built/sbx-exec-fake" -q --backend landlock "$dir/proxied.sbx" -- true
status 125 'is not waited for without end'
output "the proxy was not ready within 2 s, and was ended: see whether what a credential's source runs hangs" '... and that is said'
ok '... and it is ended' until_gone "$(proxy_pid)"

case_ 'NET-11 on landlock: older kernels'
cp "$sbx_abi" "$built/sbx-exec-abi"; chmod 755 "$built/sbx-exec-abi"
rig=std/rig-alone policy old <<POL
fs { tmp /tmp best-effort; read $dir }
net { mode proxy }
process { share signals processes compat "t" }
syscalls { default ENOSYS }
POL
for abi in 3 6; do
	standin
	run_in "$work" env SBX_TEST_ABI=$abi "$built/sbx-exec-abi" -q --backend landlock "$dir/old.sbx" -- python3 "$dir/proxy_ways.py" \
		plain:127.0.0.1:3128 "plain:127.0.0.1:$service" bound:127.0.0.1:3128 listens:x:0 "first-bytes:127.0.0.1:$service"
	equal "plain:127.0.0.1:3128 got PROXY
plain:127.0.0.1:$service EACCES
bound:127.0.0.1:3128 EACCES
listens:x:0 EACCES
first-bytes:127.0.0.1:$service ENOTSUP" "$out" "ABI $abi: the broker needs nothing of Landlock's"
done

case_ 'CRED-02: sources'
refused() { # WHAT TEXT NAME CREDENTIALS [FILE RULES]
	key_policy "$3" "$4" "${5:-}"
	caller "$sbx_exec" "$dir/$3.sbx" -- true
	status 125 "$1 is refused"
	output "$2" '... with why'
}
standin
refused 'a file that is not there' "credential K: $keys/absent: No such file or directory (" absent \
	"credential K { source file $keys/absent; host keyed.test; header x; lifetime 1h }"
output '): put the value into it, in one line, and chmod 600 it, or mark the credential optional' '... and the remedy'
refused 'a login that is not there' "credential K: $keys/absent: No such file or directory (" nologin \
	"credential K { source file $keys/absent json .a.b; host keyed.test; header x; lifetime 1h }"
output '): log in first, or mark the credential optional' '... and the remedy'
ln -s "$keys/key" "$keys/to-key"; ln -s "$keys/none" "$keys/to-none"; own "$keys"
for link in to-key to-none; do
	for claim in '' "assert { never read $keys/$link }"; do
		refused "a link ($link ${claim:+that is asserted})" "credential K: $keys/$link: a symbolic link (" "$link" \
			"credential K optional { source file $keys/$link; host keyed.test; header x; lifetime 1h }
			$claim" "seal $keys"
		output '): name the file itself' '... and the remedy'
	done
done
rm -f "$keys/to-key" "$keys/to-none"
refused 'a variable that is not set' 'credential K: the variable OTHER_ABSENT is not set (' unset \
	'credential K { source env OTHER_ABSENT; host keyed.test; header x; lifetime 1h }'
refused 'a program that is none' "credential K: $keys/key: Permission denied (" program \
	"credential K { source exec $keys/key; host keyed.test; header x; lifetime 1h }"
refused 'nothing but what is optional and absent' 'none of the policy'"'s credentials is there, and one has to be: K: the variable OTHER_ABSENT is not set (" none \
	"credential K optional { source env OTHER_ABSENT; host keyed.test; header x; lifetime 1h }
	credential L optional { source file $keys/absent; host keyed.test; header y; lifetime 1h }"
output "): export it before sbx-exec is started; L: $keys/absent: No such file or directory (" '... each named'
output '): put the value into it, in one line, and chmod 600 it' '... with what helps'
echo k >"$work/key"; own "$work"
refused 'a key in the workspace' 'credential K: the policy lets '"$work"'/key be written inside, and with it what is read (' inside \
	"credential K { source file $work/key; host keyed.test; header x; lifetime 1h }"
ln -sf "$keys/key" "$work/link"; own "$work"
refused 'one that a link there leads to' "credential K: the policy lets $work/link be written inside" linked \
	"credential K { source file $work/link; host keyed.test; header x; lifetime 1h }"
echo 'echo REAL-KEY-5' >"$work/mint.sh"; own "$work"
exec_of() { printf 'credential K { source exec %s; host keyed.test; header x; lifetime 1h }' "$1"; }
refused 'a script in the workspace' "credential K: the policy lets $work/mint.sh be written inside, and with it what is read (" script \
	"$(exec_of "/bin/sh $work/mint.sh")"
refused '... behind an option' "credential K: the policy lets $work/mint.sh be written inside" option "$(exec_of "/bin/sh \"--rcfile=$work/mint.sh\"")"
refused '... or in one' "credential K: the policy lets $work/mint.sh be written inside" letter "$(exec_of "/bin/cat -f$work/mint.sh")"
refused '... by its name from /' "credential K: the policy lets $work/mint.sh be written inside" from_root "$(exec_of "/bin/sh ${work#/}/mint.sh")"
refused '... from a directory that is named' "credential K: the policy lets $work be written inside" from_there "$(exec_of "/usr/bin/env \"--chdir=$work\" sh sub/mint.sh")"
key_policy from_home "$(exec_of '/bin/sh e2e/made/mint.sh')" 'write ~/e2e/made create compat "a test"'
caller "$sbx_exec" -q "$dir/from_home.sbx" -- true
output "credential K: the policy lets $home/made/mint.sh be written inside" '... from the home directory'
part=$home/part # of which the program writes a part
mkdir -p "$part/sub" "$home/a b@c/bin"; touch "$part/sub/Makefile" "$part/mint.sh"; own "$part" "$home/a b@c"
partly() { # WHAT WORDS WRITTEN [BENEATH]: refused, where the program may write WRITTEN alone
	refused "$1" "credential K: the policy lets $3${4:+, beneath $4,} be written inside" partly "$(exec_of "$2")" "write \"$3\" compat \"a test\""
}
partly 'a directory in which a file is written' "/usr/bin/make -C $part" "$part/sub/Makefile" "$part"
partly '... joined to its option' "/usr/bin/make -C$part" "$part/sub/Makefile" "$part"
partly '... and that to another' "/usr/bin/make -sC${part#/}" "$part/sub/Makefile" "/${part#/}"
partly '... behind an equals sign' "/usr/bin/make \"--directory=$part\"" "$part/sub/Makefile" "$part"
partly '... or an at sign' "/usr/bin/curl -d@$part" "$part/sub/Makefile" "$part"
partly '... by its name from /' "/usr/bin/make -C ${part#/}" "$part/sub/Makefile" "$part"
partly '... above another' "/usr/bin/env -C $home make -C part" "$part/sub/Makefile" "$home"
partly '... the home directory' "/usr/bin/env -C ~ sh mint" "$part/sub/Makefile" "$TESTHOME"
partly '... by another way' "/usr/bin/env -C $keys make -C ../part" "$part/sub/Makefile" "$keys/../part"
partly 'a name of two words, in a list' "/usr/bin/env \"PATH=$home/a b@c/bin:/usr/bin\" mint" "$home/a b@c/bin"
partly 'where programs are found by their names' "$keys/mint" /usr/local/bin
ln -s "$part/mint.sh" "$keys/there.sh"; chown -h "$TESTUSER" "$keys/there.sh"
refused 'a name without a slash, in a directory that is named' "credential K: the policy lets $keys/there.sh be written inside" bare_name \
	"$(exec_of "/usr/bin/env -C $keys sh there.sh")" "write $part/mint.sh compat \"a test\""
rm "$keys/there.sh"
key_policy beside "$(exec_of "$keys/mint $part token \"--directory=$part\" -C$part \"@$part\" \"KEY=$part\"")" "write $home/made create compat \"a test\"; tmp $part/sub"
caller "$sbx_exec" -q "$dir/beside.sbx" -- true
status 0 'what is written elsewhere, or in memory, is in no way'
key_policy from_user "$(exec_of '/bin/sh -c "~somebody/e2e/made/mint.sh"')" 'write ~/e2e/made create compat "a test"'
caller "$sbx_exec" -q "$dir/from_user.sbx" -- true
output "credential K: the policy lets $home/made/mint.sh be written inside" '... by the name of its user'
refused '... to be made yet' "credential K: the policy lets $work/later be written inside" later "$(exec_of "/bin/sh $work/later")"
printf '#!/bin/sh\necho REAL-KEY-6\n' >"$keys/twice"; chmod 755 "$keys/twice"; own "$keys"
ln -f "$keys/twice" "$keys/again"
refused 'a program with another name' "credential K: $keys/twice has 2 names (hard links); one of them may be writable inside (" twice "$(exec_of "$keys/twice")"
refused '... and a script' "credential K: $keys/again has 2 names (hard links)" again "$(exec_of "/bin/sh $keys/again")"
refused '... and a key' "credential K: $keys/again has 2 names (hard links)" againkey \
	"credential K { source file $keys/again; host keyed.test; header x; lifetime 1h }"
rm -f "$keys/again" "$keys/twice"

case_ 'CRED-02: who else may write a source'
others() { # WHAT PATH UID MODE NAME CREDENTIALS: that PATH stands in the way
	refused "$1" "credential K: $2 is neither yours nor root's alone (uid $3, mode $4) (" "$5" "$6"
}
accepted() { # WHAT NAME CREDENTIALS
	key_policy "$2" "$3"
	caller "$sbx_exec" -q "$dir/$2.sbx" -- true
	status 0 "$1"
}
file_of() { printf 'credential K { source file "%s"; host keyed.test; header x; lifetime 1h }' "$1"; }
open=$home/open
mkdir -p "$open" "$home/shared"
cp "$keys/mint" "$open/mint"; cp "$keys/key" "$open/key"
own "$open"; own "$home/shared"; chmod 600 "$open/key"
chmod 777 "$open"
others 'a command in a directory of everybody'"'s" "$open" "$TESTUID" 777 open_dir "$(exec_of "\"$open/mint\"")"
output 'chmod go-w it, or keep the source somewhere else' '... and the remedy'
others '... a script' "$open" "$TESTUID" 777 open_script "$(exec_of "/bin/sh \"$open/mint\"")"
others '... a key' "$open" "$TESTUID" 777 open_key "$(file_of "$open/key")"
chmod 775 "$open"
others '... or of a group'"'s" "$open" "$TESTUID" 775 group_dir "$(exec_of "\"$open/mint\"")"
chmod 1777 "$open"
accepted 'what the user has in a sticky directory' sticky "$(exec_of "\"$open/mint\"")"
others '... but not what is not there yet' "$open" "$TESTUID" 1777 not_yet "$(exec_of "/bin/sh -c \"$keys/mint '$open/none'\"")"
ln -s "$keys/mint" "$open/link"; chown -h 65534 "$open/link"
others '... and no link of somebody else'"'s" "$open/link" 65534 777 their_link "$(exec_of "\"$open/link\"")"
chmod 755 "$open"; chmod 777 "$open/mint"
others 'a command that everybody writes' "$open/mint" "$TESTUID" 777 open_file "$(exec_of "\"$open/mint\"")"
chmod 755 "$open/mint"; chown 65534 "$open/mint"
others '... or another user' "$open/mint" 65534 755 their_file "$(exec_of "\"$open/mint\"")"
ln -s "$open/key" "$home/shared/link"; chmod 777 "$home/shared"
others 'a directory that only a link lies in' "$home/shared" "$TESTUID" 777 link_dir "$(exec_of "/bin/sh -c \"$keys/mint '$home/shared/link'\"")"
chmod 700 "$home/shared"
accepted 'a device cannot be replaced' device "$(exec_of "/bin/sh $keys/mint /dev/null")"
rm -rf "$home/open" "$home/shared"
standin
key_policy scripted "$(exec_of "/bin/sh $keys/mint now")"
caller "$sbx_exec" -q "$dir/scripted.sbx" -- true
status 0 'a script elsewhere is none of the program'"'s"
caller "$sbx_exec" "$dir/proxied.sbx" -- true
status 0 'one that is optional is left out'
output "left out, being optional: credential GONE: $keys/absent: No such file or directory (" '... which is said'
key_policy minted "credential K { source exec $keys/mint; host keyed.test; header x; lifetime 1h }"
caller "$sbx_exec" -q "$dir/minted.sbx" -- true
status 0 'a program is not run by the launcher'
rig=std/rig policy sealed <<POL
fs { seal ~/.local/state/sbx/sessions }
net { mode proxy; allow keyed.test }
POL
sbx sealed true
output 'the session'"'s roots of trust (\$ca-bundle) lie in ~/.local/state/sbx/sessions, which the policy seals: take that out" 'a seal over the bundle is refused'

case_ '--net-log: files'
logged() { caller "$sbx_exec" -q --net-log "$1" "$dir/${2:-proxied}.sbx" -- true; }
logged net.log; output "--net-log $work/net.log: the policy lets it be written inside: name a file elsewhere" 'not in the workspace'
not '... and none was made' ls "$work/net.log"
ln -sf "$keys/key" "$home/log-link"
logged "$home/log-link"; output "--net-log $home/log-link: a symbolic link" 'not by a link'
logged "$keys/key"; output "credential FILE_KEY: --net-log would be written into $keys/key (" 'not into a key'
logged /dev/null; output 'not a file of your own that has one name' 'not a device'
logged "$home/none/log"; output "--net-log $home/none/log: No such file or directory" 'not where there is no directory'
logged "$home/log" plain; output "--net-log $home/log: only the proxy writes one, and the policy has none" 'not without a proxy'

case_ 'mode proxy: --check and --dry-run'
standin
caller "$sbx_exec" --check "$dir/proxied.sbx"
status 0 'can be enforced'
output "yes  proxy $built/sbx-proxy" 'the proxy is named'
output 'yes  bwrap: net mode proxy: the proxy, and nothing else: held by network namespace' '... and what holds the mode'
output 'yes  bwrap: the value of a credential stays outside (3 rules): held by proxy' '... and the credentials'
equal '' "$(cat "$built/standin.log")" '... which is not started'
caller env -u OTHER_KEY "$sbx_exec" --check "$dir/proxied.sbx"
status 125 'a source that is absent is an obstacle'
output 'no   credential ENV_KEY: the variable OTHER_KEY is not set (' '... in the list'
caller "$sbx_exec" --dry-run "$dir/proxied.sbx"
output "proxy
  $built/sbx-proxy, inside at 127.0.0.1:3128
  credential " 'the plan has the proxy'
output '  credential GONE: left out' '... and what is left out'
output '  FILE_KEY (a placeholder)' '... names alone'
no_output REAL-KEY '... no value'
not '... and makes nothing' ls "$records"/bundle-*
mv "$built/sbx-proxy" "$built/away"
caller "$sbx_exec" "$dir/proxied.sbx" -- true
status 125 'without sbx-proxy no launch'
output "net { mode proxy } needs $built/sbx-proxy: No such file or directory (" '... and why'
cp "$built/away" "$built/sbx-proxy"; chmod 777 "$built/sbx-proxy"
caller "$sbx_exec" "$dir/proxied.sbx" -- true
output "$built/sbx-proxy is neither yours nor root's alone (uid 0, mode 777): not trusted; install it again" 'nor with one that others write'
rm -f "$built/sbx-proxy" "$built/away"
[ ! -x "$built/real-sbx-proxy" ] || mv "$built/real-sbx-proxy" "$built/sbx-proxy"
kill "$server"; exec {ready}<&-
