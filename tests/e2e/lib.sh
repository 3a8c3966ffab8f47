# Sourced by tests/e2e/run: a workspace, a policy, a launch, and what to expect.
#
#	policy NAME <<'EOF'	a policy with a loader, a filter and no network,
#				plus these statements; compiled to $dir/NAME.sbx
#	fresh			a new, empty workspace: $work
#	sbx NAME COMMAND...	runs it in $work under policy NAME; sets $out (both
#				streams) and $status
#	bare COMMAND...		the same without a sandbox
#	status N WHAT / output TEXT WHAT / no_output TEXT WHAT
#	ok WHAT COMMAND... / not WHAT COMMAND...

passed=0 failed=0 skipped=0
case_name=

case_() { case_name=$1; }
pass() { passed=$((passed + 1)); [ "${VERBOSE:-}" ] && echo "  ok    $case_name: $1"; return 0; }
fail() {
	failed=$((failed + 1))
	echo "  FAIL  $case_name: $1"
	printf '%s\n' "${2-}" | head -n 12 | sed 's/^/        | /'
}
skip() { skipped=$((skipped + 1)); echo "  skip  $case_name: $1"; }

ok() { local what=$1; shift; if "$@" >/dev/null 2>&1; then pass "$what"; else fail "$what" "$*"; fi; }
not() { local what=$1; shift; if "$@" >/dev/null 2>&1; then fail "$what" "$*"; else pass "$what"; fi; }
status() { if [ "$status" = "$1" ]; then pass "$2"; else fail "$2: status $status, not $1" "$out"; fi; }
output() { if [[ $out == *"$1"* ]]; then pass "$2"; else fail "$2: no '$1' in" "$out"; fi; }
no_output() { if [[ $out != *"$1"* ]]; then pass "$2"; else fail "$2: '$1' in" "$out"; fi; }
equal() { if [ "$1" = "$2" ]; then pass "$3"; else fail "$3: '$2', not '$1'"; fi; }

# Why firejail cannot be tried here; nothing where it can.  Where it sees no kernel
# thread it takes itself to be in a sandbox already, and makes none.
firejail_obstacle() {
	if ! [ -u /usr/bin/firejail ]; then
		echo 'firejail is not installed, or not set-uid'
	elif ! grep -qsx kthreadd /proc/[0-9]*/comm; then
		echo 'firejail takes this machine for a sandbox, since /proc shows no kernel thread'
	fi
}

fresh() {
	count=$((${count:-0} + 1))
	work=$dir/w$count
	mkdir "$work"
	chown "$TESTUSER" "$work"
}

write_rig() { # what every policy here needs to run a shell, as modules
	cp tests/lib/rig*.pol "$dir/sbx/stdlib/"
	chmod 644 "$dir/sbx/stdlib/"rig*.pol
}
policy() { # NAME [workspace statement]; $rig: another module than std/rig
	local body
	body=$(cat)
	{
		printf 'language 1\npolicy "test"\nimport %s\ncommand /bin/sh\n%s\n%s\n' \
			"${rig:-std/rig}" "${2:-workspace \$cwd}" "$body"
		[[ $body == *'syscalls {'* ]] || echo 'syscalls { default ENOSYS }'
	} >"$dir/$1.pol"
	if ! "$sbxc" "$dir/$1.pol" -o "$dir/$1.sbx" >"$dir/compile" 2>&1; then
		fail "policy $1 does not compile" "$(cat "$dir/compile")"
	fi
	chmod 644 "$dir/$1.sbx"
}

await() { for _ in $(seq 500); do [ ! -s "$1" ] || return 0; sleep 0.02; done; } # FILE, until there is something in it
answer_with() { # WORD: to whoever connects on the host, for some seconds; sets $port
	rm -f "$dir/port"
	python3 -c '
import socket, sys
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); s.settimeout(20)
print(s.getsockname()[1], flush=True)
try:
    while True:
        c, _ = s.accept(); c.sendall(sys.argv[1].encode()); c.close()
except OSError: pass' "$1" >"$dir/port" &
	until [ -s "$dir/port" ]; do sleep 0.05; done
	port=$(cat "$dir/port")
}
run_in() { # DIRECTORY COMMAND...
	local where=$1
	shift
	out=$(cd "$where" && as_user "$@" 2>&1 </dev/null)
	status=$?
}
sbx() { local name=$1; shift; run_in "$work" "$sbx_exec" "$dir/$name.sbx" -- "$@"; }
sbx_with() { # OPTIONS-IN-ONE-WORD NAME COMMAND...
	local options=$1 name=$2
	shift 2
	# shellcheck disable=SC2086
	run_in "$work" "$sbx_exec" $options "$dir/$name.sbx" -- "$@"
}
bare() { run_in "$work" "$@"; }
own() { chown -Rh "$TESTUSER" "$@"; } # made by root for the user
