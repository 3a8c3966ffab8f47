# Statuses, messages, the blob, the command line.

case_ 'TTY-04 exit statuses'
fresh
sbx plain sh -c 'exit 3'; status 3 'the command its own status'
sbx plain sh -c 'kill -TERM $$'; status 143 '128 + SIGTERM'
sbx plain sh -c 'kill -SEGV $$'; status 139 '128 + SIGSEGV'
sbx plain sh -c 'exit 125'; status 125 'a status of 125 that is the command its own'
no_output 'sbx-exec:' '... without a message of ours'
sbx plain /nonexistent; status 127 'a path that is not there'
output 'not found inside' '... says so'
sbx plain no-such-command; status 127 'a name that is nowhere in PATH'
output 'PATH=/usr/bin:/bin' '... names the PATH'
sbx plain /etc/passwd; status 126 'a file that is not executable'
sbx plain /usr; status 126 'a directory'
output 'a directory' '... says so'
printf '#!/no/such/interpreter\n' >"$work/script" && chmod 755 "$work/script" && own "$work"
sbx plain ./script; status 127 'a script without its interpreter'
output 'its interpreter or loader' '... says so'
printf 'exit 9\n' >"$work/plain-script" && chmod 755 "$work/plain-script" && own "$work"
sbx plain ./plain-script; status 9 'a script without #! runs by the shell, as env(1) does'
run_in "$work" "$sbx_exec" "$dir/none.sbx" -- true; status 125 'no such blob'
output 'sbx-exec: ' '... with our prefix'
run_in "$work" "$sbx_exec" "$dir/plain.sbx"; status 0 'no command given: the policy its own'

case_ 'options'
run_in "$work" "$sbx_exec" --help; status 0 '--help'; output '--dry-run' '... names the options'
run_in "$work" "$sbx_exec" --version; status 0 '--version'
run_in "$work" "$sbx_exec"; status 125 'no policy'
run_in "$work" "$sbx_exec" --nonsense x; status 125 'unknown option'
run_in "$work" "$sbx_exec" --backend native "$dir/plain.sbx" true; status 125 'a backend to come'
output 'not in this version' '... says so'
run_in "$work" "$sbx_exec" --backend=bwrap "$dir/plain.sbx" true; status 0 'the backend by name'
run_in "$work" "$sbx_exec" "$dir/plain.sbx" sh -c 'exit 4'; status 4 '-- is not needed'
run_in "$work" "$sbx_exec" no-such-name true; status 125 'a name that is not installed'
cp "$dir/plain.sbx" "$work/here" && own "$work"
run_in "$work" "$sbx_exec" here true; status 125 'a file here that is given as a name'
output './here' '... says how to write it'
rm "$work/here"
as_user mkdir -p "$TESTHOME/.local/share/sbx"
cp "$dir/plain.sbx" "$TESTHOME/.local/share/sbx/e2e-name.sbx"
run_in "$work" "$sbx_exec" e2e-name sh -c 'exit 6'; status 6 'a name, from ~/.local/share/sbx'
rm "$TESTHOME/.local/share/sbx/e2e-name.sbx"

case_ '--dry-run and --check'
before=$(find "$work" "$TESTHOME" | sort | md5sum)
policy absent <<'EOF'
fs { deny write $workspace/.mcp.json; deny $workspace/a/b; write ~/e2e/made create }
EOF
run_in "$work" "$sbx_exec" --dry-run "$dir/absent.sbx" -- sh -c 'echo ran'; status 0 '--dry-run'
output "$work/.mcp.json: read-only" '... shows a mask'
output 'absent.pol:' '... and its rule'
output '--unshare-all' '... and the arguments of bubblewrap'
no_output "
ran" '... runs nothing'
run_in "$work" "$sbx_exec" --check "$dir/absent.sbx"; status 0 '--check'
output 'this machine can enforce the policy' '... concludes'
equal "$before" "$(find "$work" "$TESTHOME" | sort | md5sum)" 'neither changes anything'

policy onefile <<'EOF'
fs { copy ~/e2e/settings; copy ~/e2e/tree }
EOF
mkdir -p "$home/tree"; echo good >"$home/settings"; echo good >"$home/tree/f"; own "$home"
for option in --dry-run --check; do
	run_in "$work" "$sbx_exec" $option "$dir/onefile.sbx" -- true
	equal "$(grep 'replace it by rename fails' <<<"$out" | grep -c "$home/settings")" 1 "$option: a copy of one file cannot be replaced by rename"
	no_output "$home/tree is a private copy; to" '... and one of a directory can'
done
sbx onefile sh -c "echo new >$home/x; echo mine >$home/settings && cat $home/settings; echo mine >$home/tree/g && mv $home/tree/g $home/tree/f && cat $home/tree/f"
output "mine
mine" '... as it is'

case_ 'a caller with less or more than a user has'
policy given <<'EOF'
process { share attributes processes signals terminals compat "a test" }
EOF
rig=std/base policy homely <<'EOF'
import std/syscalls
fs { seal ~/.keys }
syscalls { default ENOSYS; allow @default @network-io }
EOF
policy patterned <<'EOF'
fs { deny ~/e2e/*.elsewhere $workspace/*.here snapshot }
EOF
fresh
for number in 10 40 60; do
	run_in "$work" sh -c "ulimit -n $number; exec $sbx_exec $dir/plain.sbx -- true"
	status 125 "$number open files"; output 'ulimit -n' '... are too few, and that is said'
	no_output installed '... and nothing else'
done
run_in "$work" sh -c "ulimit -n 80; exec $sbx_exec $dir/plain.sbx -- true"; status 0 '80 are enough'
as_given() { # SETPRIV-OPTIONS-IN-ONE-WORD UID HOME COMMAND...
	local options=$1 uid=$2 where=$3
	shift 3
	# shellcheck disable=SC2086
	out=$(cd "$work" && setpriv $options --regid "$uid" --clear-groups env -i HOME="$where" PATH=/usr/bin:/bin "$@" 2>&1 </dev/null)
	status=$?
}
for backend in bwrap landlock; do
	as_given "--reuid $TESTUID --inh-caps=+dac_override,+setuid --ambient-caps=+dac_override,+setuid" "$TESTUID" "$TESTHOME" \
		"$sbx_exec" --backend $backend "$dir/given.sbx" -- grep CapEff /proc/self/status
	status 0 "$backend: ambient capabilities are no hindrance"; output 0000000000000000 '... and not handed on'
done
for rights in "--ruid $TESTUID --euid 0" "--ruid 0 --euid $TESTUID"; do
	as_given "$rights" "$TESTUID" "$TESTHOME" "$sbx_exec" "$dir/plain.sbx" -- true
	status 125 "$rights"; output 'not the effective one' '... is refused as such'
done
chown 1743 "$work"
as_given '--reuid 1743' 1743 /nonexistent "$sbx_exec" "$dir/homely.sbx" -- true
status 125 'no passwd entry and no HOME'; output 'HOME names no directory' '... is what the reason says'
as_given '--reuid 1743' 1743 "$work" "$sbx_exec" --workspace "$work/x" "$dir/homely.sbx" -- true
mkdir "$work/x"; chown 1743 "$work/x"
as_given '--reuid 1743' 1743 "$work" "$sbx_exec" --workspace "$work/x" "$dir/homely.sbx" -- env
status 0 'no passwd entry, but a HOME'; output "HOME=$work" '... which it is'; no_output LOGNAME= '... and no name'

case_ 'a workspace that cannot be listed'
fresh; chmod 100 "$work"
sbx patterned true; status 125 'stops the launch'; output '*.here may match in it' '... for the pattern that is meant'

case_ 'what has no enforcer stops the launch'
policy cgroup <<'EOF'
require { limits cgroup }
EOF
sbx cgroup true; status 125 'require limits cgroup'; output 'cgroup.pol:' '... names the line'
run_in "$work" "$sbx_exec" --check "$dir/cgroup.sbx"; status 125 '--check says no'
output 'cannot enforce' '... in words'
policy future <<'EOF'
require { landlock 99 }
EOF
sbx future true; status 125 'require landlock 99'
policy kernel <<'EOF'
require { kernel 99.1 }
EOF
sbx kernel true; status 125 'require kernel 99.1'

case_ 'a policy that allows no call'
rig=std/base policy callless <<'EOF'
syscalls { default ENOSYS }
EOF
run_in "$work" timeout 10 "$sbx_exec" "$dir/callless.sbx" -- true
status 125 'is refused, and does not hang'; output 'import std/syscalls' '... with the remedy'

case_ '--check lists all that stands in the way'
policy troubles <<'EOF'
require { kernel 99.1; landlock 99; limits cgroup }
fs { read /nonexistent/a /nonexistent/b; exec /nonexistent/c }
env { set X "$gitdir" }
EOF
run_in "$work" "$sbx_exec" --check "$dir/troubles.sbx"; status 125 'a policy with many troubles'
for words in 'kernel 99.1' 'Landlock ABI 99' cgroup nonexistent/a nonexistent/b nonexistent/c 'set X'; do
	output "$words" "... lists $words"
done
run_in "$work" "$sbx_exec" "$dir/troubles.sbx" -- echo it-ran; status 125 'the launch stops at the first'
equal 1 "$(wc -l <<<"$out")" '... with one line'

case_ 'BLOB-03 a blob that cannot be trusted'
fresh
blob() { # WHAT: copies the blob to $work/x.sbx, applies the rest, launches
	local what=$1
	shift
	rm -f "$work"/*.sbx
	cp "$dir/plain.sbx" "$work/x.sbx"
	chown "$TESTUSER" "$work/x.sbx"
	chmod 600 "$work/x.sbx"
	"$@"
	run_in "$work" "$sbx_exec" ./x.sbx -- echo ran
	status 125 "$what"
	no_output ran "... does not run"
}
cp "$dir/plain.sbx" "$work/x.sbx"; chown "$TESTUSER" "$work/x.sbx"
run_in "$work" "$sbx_exec" ./x.sbx -- echo ran; status 0 'the blob as it is'
blob 'cut short' truncate -s -1 "$work/x.sbx"
blob 'empty' truncate -s 0 "$work/x.sbx"
blob 'a flipped bit' python3 -c 'import sys
f=open(sys.argv[1],"r+b"); f.seek(5000); b=f.read(1); f.seek(5000); f.write(bytes([b[0]^1]))' "$work/x.sbx"
blob 'writable by the group' chmod g+w "$work/x.sbx"
blob 'writable by all' chmod o+w "$work/x.sbx"
blob 'a second name' ln "$work/x.sbx" "$work/y.sbx"
blob 'not a blob' cp /etc/passwd "$work/x.sbx"
blob 'of another user' chown 1:1 "$work/x.sbx"
chmod 644 "$work/x.sbx"
run_in "$work" "$sbx_exec" ./x.sbx -- echo ran; status 125 'of another user, readable'
output 'neither to you nor to root' '... says so'
rm -f "$work"/*.sbx
mkdir "$work/open" && cp "$dir/plain.sbx" "$work/open/" && own "$work" && chmod 777 "$work/open"
run_in "$work" "$sbx_exec" open/plain.sbx -- echo ran; status 125 'in a directory where anyone may replace it'
rm -rf "$work/open"
rm -f "$work"/*; mkfifo "$work/p.sbx"; own "$work"
run_in "$work" timeout 10 "$sbx_exec" ./p.sbx -- echo ran; status 125 'a FIFO'

case_ 'the blob and the launcher protect themselves'
fresh
cp "$dir/plain.sbx" "$work/own.sbx"; own "$work"; chmod 644 "$work/own.sbx"
bare sh -c 'echo >>own.sbx'; status 0 'control: it can be written outside'
cp "$dir/plain.sbx" "$work/own.sbx"
sum=$(md5sum <"$work/own.sbx")
run_in "$work" "$sbx_exec" ./own.sbx -- sh -c 'echo x >own.sbx; rm -f own.sbx; mv own.sbx o; echo y >o; cp /bin/true own.sbx'
equal "$sum" "$(md5sum <"$work/own.sbx")" 'a blob in the workspace cannot be changed from inside'

case_ 'DEGR-01 a bubblewrap that lies'
fake() { # WHAT SCRIPT
	printf '#!/bin/bash\n%s\n' "$2" >"$fakes/bwrap"
	chmod 755 "$fakes/bwrap"
	run_in "$work" "$sbx_fake" "$dir/plain.sbx" -- sh -c 'echo ran'
	status 125 "$1"
	no_output ran '... nothing runs'
}
fake 'ends with 0 and does nothing' 'exit 0'
output 'without starting the sandbox' '... says so'
fake 'runs the command bare' 'shift 3; exec "$@"'
fake 'user namespaces refused' 'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1'
fake 'no new namespaces' 'echo "bwrap: No permissions to create new namespace" >&2; exit 1'
fake 'no network setup' 'echo "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted" >&2; exit 1'
fake 'nested in something' 'echo "bwrap: Failed to make / slave: Permission denied" >&2; exit 1'
output 'start outside it' '... with a remedy'
fake 'too old' 'echo "bwrap: Unknown option --as-pid-1" >&2; exit 1'
output 'too old' '... says so'
# It edits the arguments that it is given, and hands them to the real one.
edits() { # SED-SCRIPT
	echo "sed -z '$1' </proc/self/fd/\$2 >$dir/args; eval \"exec \$2<$dir/args\"; exec /usr/bin/bwrap \"\$@\""
}
: >"$dir/args"; own "$dir/args"
fake_run() { # SCRIPT
	printf '#!/bin/bash\n%s\n' "$1" >"$fakes/bwrap"
	run_in "$work" "$sbx_fake" "$dir/plain.sbx" -- sh -c 'echo ran'
}
fake_run "$(edits 's/nothing/nothing/')"
status 0 'control: one that changes nothing works'
fake 'mounts writable what must not be' "$(edits 's/^--ro-bind-fd$/--bind-fd/')"
output 'not read-only inside' '... found from inside'
fake 'leaves the root writable' "$(edits 's/^--remount-ro$/--dir/')"
output 'root is writable' '... found from inside'
fake 'makes no network namespace' "$(edits 's/^--unshare-all$/--unshare-all\x00--share-net/')"
output 'no net namespace' '... found from inside'
fake 'starts us as another process than 1' "$(edits 's/^--as-pid-1$/--die-with-parent/')"
output 'process namespace' '... found from inside'
fake_run 'if grep -aq bind-fd /proc/self/fd/$2; then echo "bwrap: Unknown option --bind-fd" >&2; exit 1; fi; exec /usr/bin/bwrap "$@"'
status 0 'one that knows no --bind-fd is given names'; output ran '... and it runs'
rm "$fakes/bwrap"
run_in "$work" "$sbx_fake" "$dir/plain.sbx" -- sh -c 'echo ran'
status 125 'missing'; output 'not installed' '... says so'
cp /bin/true "$fakes/bwrap" && chown "$TESTUSER" "$fakes/bwrap"
run_in "$work" "$sbx_fake" "$dir/plain.sbx" -- sh -c 'echo ran'
status 125 'of another user'; output 'not trusted' '... says so'
rm -f "${fakes:?}"/*
mkdir "$work/bin" && printf '#!/bin/sh\necho planted\n' >"$work/bin/bwrap" && chmod 755 "$work/bin/bwrap" && own "$work"
run_in "$work" env PATH="$work/bin:$PATH" "$sbx_exec" "$dir/plain.sbx" -- echo fine
status 0 'a bwrap planted in PATH is not taken'; no_output planted '... nor run'

case_ 'DEGR-01 a kernel that lacks something'
run_in "$work" "$dir/bin/e2e-without" 444 "$sbx_exec" "$dir/plain.sbx" -- echo it-ran
status 125 'no Landlock'; output 'no Landlock' '... says so'; no_output it-ran '... does not run'
run_in "$work" "$dir/bin/e2e-without" 428 "$sbx_exec" "$dir/absent.sbx" -- echo it-ran
status 125 'no open_tree, where masks are needed'; no_output it-ran '... does not run'
run_in "$work" "$dir/bin/e2e-without" 317 "$sbx_exec" "$dir/plain.sbx" -- echo it-ran
status 125 'no seccomp'; no_output it-ran '... does not run'
run_in "$work" "$dir/bin/e2e-without" 437 "$sbx_exec" "$dir/plain.sbx" -- echo it-ran
status 125 'no openat2'; no_output it-ran '... does not run'

case_ 'BLOB-03 replaced while starting'
fresh
cp "$dir/plain.sbx" "$work/x.sbx"; own "$work"
as_user sh -c "cd $work; i=0; while [ \$i -lt 300 ]; do cp $dir/absent.sbx y; chmod 644 y; mv y x.sbx; cp $dir/plain.sbx y; mv y x.sbx; i=\$((i+1)); done" &
bad=
for _ in 1 2 3 4 5 6 7 8; do
	run_in "$work" "$sbx_exec" ./x.sbx -- sh -c 'exit 3'
	case $status in 3 | 125) ;; *) bad="$bad $status: $out" ;; esac
done
wait $!
equal "" "$bad" 'each launch runs one of the two, or is refused'

case_ 'nesting and the network of the host'
policy nest <<'EOF'
process { allow user-namespaces compat "a sandbox of its own" }
syscalls {
    default ENOSYS
    allow @namespaces override compat "a sandbox of its own"
    allow mount umount2 pivot_root sethostname chroot compat "a sandbox of its own"
    allow clone where flags & CLONE_NEWUSER != 0 override compat "a sandbox of its own"
}
fs { deny write $workspace/shut; tmp /tmp }
EOF
fresh
mkdir "$work/shut"; own "$work"
sbx nest bwrap --ro-bind / / --dev /dev --proc /proc --unshare-user --unshare-pid sh -c 'echo nested; umount shut; echo x >shut/x'
output nested 'a sandbox of its own starts where the policy allows it'
output 'Landlock holds no path rules' '... and what that loses is said'
not '... and lifts no mask' test -e "$work/shut/x"
sbx nest unshare -Urm sh -c 'umount -l shut; umount shut; mount --bind /tmp shut; echo x >shut/x; echo done'
not '... nor does a user namespace' test -e "$work/shut/x"
sbx nest sh -c 'head -c1 /proc/1/mem'; output 'Permission denied' 'process 1 stays closed'
policy nethost <<'EOF'
net { mode host compat "test" }
EOF
answer_with HOSTNET
connect="import socket; print(socket.create_connection((\"127.0.0.1\",$port),2).recv(9))"
sbx nethost python3 -c "$connect"; output HOSTNET 'mode host reaches the network of the host'
sbx plain python3 -c "$connect"; no_output HOSTNET 'mode none does not'
kill $! 2>/dev/null; wait $! 2>/dev/null

case_ 'the remedy is one that helps'
policy privtmp <<'EOF'
fs { tmp /tmp }
EOF
run_in /tmp "$sbx_exec" "$dir/privtmp.sbx" -- true
status 125 'started in /tmp, over which the policy lays its own'; output 'start elsewhere' '... says so'; no_output 'cd into' '... and not to go where one is'
fresh
policy many <<'EOF'
fs { read /etc/hosts /etc/hostname /etc/group /etc/profile /etc/shells /etc/fstab /etc/services optional }
EOF
run_in "$work" bash -c "for n in {8..36..2}; do (ulimit -n \$n; '$sbx_exec' --backend bwrap '$dir/many.sbx' -- true); done"
output ': raise the limit, `ulimit -n`' 'too few open files: says so'; no_output 'start again' '... and not that something changed'
policy asserts <<'EOF'
assert { cannot write /var/tmp/x }
EOF
run_in /var/tmp "$sbx_exec" "$dir/asserts.sbx" -- true; status 125 'an assertion that does not hold here'; output 'start in another directory' '... with what to do'
run_in "$work" "$sbx_exec" /etc/passwd.sbx; status 125 'a policy that is not there'; output 'compile one with sbxc' '... with what to do'
policy patterned <<'EOF'
fs { deny ~/e2e/**/*.key snapshot; write ~/e2e compat "test" }
EOF
mkdir -p "$home/shut"; own "$home"; chmod 0 "$home/shut"
sbx patterned true; status 125 'a directory of the user his that hides names'; output 'chmod u+rwx' '... may be opened'; no_output 'chmod -R' '... and no more than that'
chmod 700 "$home/shut"; rmdir "$home/shut"
