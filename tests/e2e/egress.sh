# The launcher with the real sbx-proxy: a program inside, services of the host's that stand
# for the world, in a mount namespace where the test's authority is a root of trust and the
# names are in /etc/hosts.

world=$dir/world
mkdir -p "$world"
authority() { openssl req -x509 -newkey rsa:2048 -nodes -days 2 "$@" 2>/dev/null; }
authority -subj /CN=test -keyout "$world/ca.key" -out "$world/ca.pem" \
	-addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign
openssl req -newkey rsa:2048 -nodes -subj /CN=keyed.test -keyout "$world/leaf.key" -out "$world/leaf.csr" 2>/dev/null
printf 'subjectAltName=DNS:keyed.test\n' >"$world/leaf.ext"
openssl x509 -req -in "$world/leaf.csr" -CA "$world/ca.pem" -CAkey "$world/ca.key" -CAcreateserial -days 2 \
	-extfile "$world/leaf.ext" -out "$world/leaf.pem" 2>/dev/null
cat "$world/leaf.key" "$world/leaf.pem" >"$world/both.pem"
cat /etc/ssl/certs/ca-certificates.crt "$world/ca.pem" >"$world/roots.pem" 2>/dev/null
printf '127.0.0.1 localhost keyed.test plain.test other.test\n' >"$world/hosts"
touch "$world/requests"
chmod 644 "$world"/*.pem "$world/hosts"
exec {ready}< <(exec /usr/bin/python3 -I tests/e2e/egress_upstream.py "$world/both.pem" "$world/requests" 2>/dev/null)
upstream=$!
read -r plain_port safe_port <&"$ready"

# As run_in, in that world.
in_world() {
	out=$(cd "$work" && unshare -m --propagation private sh -c '
		mount --bind "$0/roots.pem" /etc/ssl/certs/ca-certificates.crt && mount --bind "$0/hosts" /etc/hosts && exec "$@"
		' "$world" setpriv --reuid "$TESTUID" --regid "$TESTUID" --init-groups env -i HOME="$TESTHOME" \
		PATH=/usr/bin:/bin OTHER_KEY=REAL-KEY-2 timeout 30 "$@" 2>&1 </dev/null)
	status=$?
}
proxies() { pgrep -u "$TESTUID" -x 'sbx-proxy|sbx-keeper'; }
none_left() { for _ in $(seq 100); do proxies >/dev/null || return 0; sleep 0.02; done; return 1; }

keys=$home/keys
mkdir -p "$keys"; echo REAL-KEY-1 >"$keys/key"; echo REAL-KEY-3 >"$keys/open"
chmod 600 "$keys/key"; chmod 644 "$keys/open"; own "$keys"
egress_policy() { # NAME SOURCE
	rig=std/rig-alone policy "$1" <<-POL
	fs { tmp /tmp best-effort; read /etc/ssl/openssl.cnf optional; read $dir }
	env {
	    set http_proxy "http://127.0.0.1:3128"
	    set https_proxy "http://127.0.0.1:3128"
	    set CURL_CA_BUNDLE "\$ca-bundle"
	}
	net { mode proxy; allow plain.test:$plain_port keyed.test:$safe_port at 127.0.0.0/8 }
	credential FILE_KEY { source $2; host keyed.test:$safe_port; header x-key; lifetime 1h }
	credential ENV_KEY { source env OTHER_KEY; host keyed.test:$safe_port; header authorization bearer; lifetime 1h }
	syscalls { default ENOSYS }
	POL
}
egress_policy egress "file $keys/key"
egress_policy exposed "file $keys/open"

fresh
for backend in bwrap firejail landlock; do
	case_ "egress on $backend"
	if ! [ -x "$dir/sbx/build/sbx-proxy" ]; then
		skip 'sbx-proxy is not built'
		continue
	fi
	: >"$world/requests"; rm -f "$home/net.log"
	inside() { in_world "$sbx_exec" -q --backend "$backend" --net-log "$home/net.log" "$dir/egress.sbx" -- "$@"; }
	inside true
	if [ "$status" != 0 ]; then
		skip "$(head -n 1 <<<"$out")"
		continue
	fi
	inside sh -c "
		curl -sS http://plain.test:$plain_port/plain
		echo; curl -sS -H \"X-Key: \$FILE_KEY\" https://keyed.test:$safe_port/keyed
		echo; curl -sS -H \"Authorization: Bearer \$ENV_KEY\" https://keyed.test:$safe_port/keyed
		echo; curl -sS http://other.test:$plain_port/
		echo; curl -sS --noproxy '*' --max-time 3 http://plain.test:$plain_port/direct
		env; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'; grep -c BEGIN \"\$CURL_CA_BUNDLE\""
	equal 3 "$(grep -c '^UPSTREAM' <<<"$out")" 'what is allowed is reached'
	ok 'the key is put in' grep -qix 'x-key: REAL-KEY-1' "$world/requests"
	ok '... the variable as well' grep -qix 'authorization: bearer REAL-KEY-2' "$world/requests"
	equal 0 "$(grep -c placeholder "$world/requests")" '... for the placeholder'
	no_output REAL-KEY 'the program sees neither, in no answer, variable or process'
	output "sbx: other.test:$plain_port refused" 'what is not is refused, with why'
	equal 0 "$(grep -c direct "$world/requests")" '... and nothing is reached without the proxy'
	equal "$(($(grep -c BEGIN "$world/roots.pem") + 1))" "$(tail -n 1 <<<"$out")" '$ca-bundle has the roots and one more'
	ok 'each line of the log is JSON' python3 -c '
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert {"allowed", "refused"} == {"refused" if "refus" in json.dumps(line) or "deni" in json.dumps(line) else "allowed" for line in lines}, lines
assert len(lines) >= 3' "$home/net.log"
	equal 0 "$(grep -c REAL-KEY "$home/net.log")" '... without a key'
	in_world "$sbx_exec" --backend "$backend" "$dir/egress.sbx" -- curl -sS https://other.test/
	output "sbx-exec: the proxy refused other.test:443: no rule allows it" 'what curl keeps to itself is said at the end'
	ok 'no proxy is left' none_left

	case_ "egress on $backend: ends"
	in_world "$sbx_exec" -q --backend "$backend" "$dir/exposed.sbx" -- true
	status 125 'a key that others may read stops the launch'
	output "FILE_KEY: $keys/open: others can read or write it: chmod 600 $keys/open" '... by name, with the remedy'
	chmod 000 "$keys/open"
	in_world "$sbx_exec" -q --backend "$backend" "$dir/exposed.sbx" -- true
	output "FILE_KEY: $keys/open: you may not read it: chmod 600 $keys/open" '... as does one that nobody may'
	chmod 644 "$keys/open"
	(await "$work/up"; pkill -KILL -u "$TESTUID" -x sbx-proxy) &
	in_world "$sbx_exec" --backend "$backend" "$dir/egress.sbx" -- \
		sh -c "echo up >up; until ! curl -sSf http://plain.test:$plain_port/ >/dev/null; do sleep 0.02; done; curl -sS http://plain.test:$plain_port/; exit 7"
	wait "$!"; rm -f "$work/up"
	status 7 'the proxy killed, the session goes on'
	output 'sbx-exec: the proxy has ended: no network from here on' '... says so'
	no_output UPSTREAM '... and has no network'
	(cd "$work" && exec setpriv --reuid "$TESTUID" --regid "$TESTUID" --init-groups env -i HOME="$TESTHOME" \
		PATH=/usr/bin:/bin OTHER_KEY=REAL-KEY-2 "$sbx_exec" -q --backend "$backend" "$dir/egress.sbx" -- sh -c 'echo up >up; exec sleep 60') >/dev/null 2>&1 </dev/null &
	launcher=$!
	await "$work/up"
	rm -f "$work/up"
	equal 2 "$(proxies | wc -l)" 'two processes hold the way out and the keys'
	if [ "$backend" = landlock ]; then
		real=$(ss -Hltnp | sed -nE 's/.* 127\.0\.0\.1:([0-9]+) .*"sbx-proxy".*/\1/p' | head -n 1)
		got=$(setpriv --reuid 65534 --regid 65534 --clear-groups curl -sS --max-time 3 -x "127.0.0.1:$real" "http://plain.test:$plain_port/" 2>&1)
		if [ "$real" ] && [[ $got == *curl:* && $got != *sbx:* && $got != *UPSTREAM* ]]; then pass 'another user is not served'
		else fail 'another user is not served' "$real: $got"; fi
	fi
	kill -KILL "$launcher"; wait "$launcher" 2>/dev/null
	ok '... and end with a launcher that is killed' none_left
done
kill "$upstream"; exec {ready}<&-
