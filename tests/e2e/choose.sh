# Which backend: what is tried first, what comes next, and never nothing.

# What every backend here can hold, as a module; and policies on top of it.
cat >"$dir/sbx/stdlib/thin.pol" <<'END'
language 1
module "thin"
import std/syscalls
fs {
    exec /usr
    exec /bin /sbin /lib /lib64 optional
    read /etc/ld.so.cache /etc/passwd optional
    device /dev/null /dev/zero /dev/urandom
}
env { set PATH "/usr/bin:/bin"; set HOME "$home" }
syscalls {
    allow @default
    deny  @privileged @keyring socket connect bind
    deny  chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat
    deny  setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
    deny  utime utimes futimesat utimensat file_setattr
    seal  @never with kill
}
END
chmod 644 "$dir/sbx/stdlib/thin.pol"
thin() { # NAME <<statements
	{
		printf 'language 1\npolicy "thin"\nimport std/thin\ncommand /bin/sh\nworkspace $cwd\n'
		echo 'syscalls { default ENOSYS }'
		cat
	} >"$dir/$1.pol"
	if ! "$sbxc" "$dir/$1.pol" -o "$dir/$1.sbx" >"$dir/compile" 2>&1; then
		fail "policy $1 does not compile" "$(cat "$dir/compile")"
	fi
	chmod 644 "$dir/$1.sbx"
}
plant() { # bwrap|firejail SCRIPT; no SCRIPT: it is not there
	rm -f "$fakes/$1"
	[ -z "${2-}" ] || { printf '#!/bin/bash\n%s\n' "$2" >"$fakes/$1" && chmod 755 "$fakes/$1"; }
}
attack="echo it ran; (: >$home/outside) 2>/dev/null && echo bare; exit 0"
launch() { # POLICY [OPTION...]: prints "it ran" where it ran, and "bare" where nothing was around
	local name=$1
	shift
	run_in "$work" "$sbx_fake" "$@" "$dir/$name.sbx" -- sh -c "$attack"
}
has_landlock=$([ "$(as_user "$sbx_exec" --check "$dir/plain.sbx" | grep -c '^yes  Landlock ABI [3-9]\|^yes  Landlock ABI [1-9][0-9]')" = 1 ] && echo yes)

thin holds </dev/null
thin needs-mounts <<'END'
fs { deny write $workspace/.envrc }
END
thin best-effort <<'END'
fs { deny write $workspace/.envrc best-effort }
END
thin only-bwrap <<'END'
require { backend bwrap }
END
fresh
bare sh -c "$attack"; output bare 'control: it tells when it runs bare'; rm -f "$home/outside"

case_ 'the order of auto'
for name in holds needs-mounts best-effort; do
	sbx_with -v $name true; status 0 "$name starts"
	no_output 'not bwrap' '... on the first of them, bwrap'
done
sbx_with --backend=landlock needs-mounts true; status 125 'a rule that only mounts hold, on landlock'
output 'needs-mounts.pol:7' '... names the rule'; output 'use --backend bwrap' '... and the remedy'
sbx_with --backend=firejail,bwrap holds true; status 0 'two that may be taken'
sbx_with --backend=bwrap,nothing holds true; status 125 'a backend that there is not'
output 'no such backend' '... says so'
sbx_with --backend=landlock only-bwrap true; status 125 'require { backend bwrap } against --backend landlock'
output 'only-bwrap.pol:7' '... names the rule'

policy twice-base <<'END'
fs { deny write $workspace/x; deny write $workspace/y }
END
thin imports <<'END'
import std/host-exec
END
printf 'language 1\npolicy "t"\nextend twice-base\nfs { deny write $workspace/x best-effort }\n' >"$dir/twice.pol"
"$sbxc" -I "$dir" "$dir/twice.pol" -o "$dir/twice.sbx" >"$dir/compile" 2>&1 && chmod 644 "$dir/twice.sbx" || fail 'twice compiles' "$(cat "$dir/compile")"
run_in "$work" "$sbx_exec" --check -v --backend landlock "$dir/twice.sbx"
output 'best-effort at twice.pol:4 and at twice-base.pol:6' 'a rule that two files have: both are named'
sbx_with --backend=landlock imports true; output '`import std/host-exec best-effort`' 'a rule of a module: the import is'

case_ 'NEST-01 one that is there and cannot work'
unable() { # WHAT WORDS REASON
	plant bwrap "echo 'bwrap: $2' >&2; exit 1"
	launch needs-mounts; status 125 "$1"
	output "not bwrap: $3" '... has one reason and remedy'
	output 'not landlock: ' '... and so has each other'
	no_output 'it ran' '... nothing runs'
	equal 1 "$(grep -c 'not bwrap' <<<"$out")" '... in one line'
	launch needs-mounts --backend bwrap; status 125 '... alone: refused'
	output "$3" '... with the same reason'
	[ "$has_landlock" ] || { skip 'no Landlock ABI 3 here to go on to'; return; }
	launch holds; status 0 '... auto goes on to one that holds everything'
	output 'it ran' '... which runs it'; no_output bare '... confined'
	output "not bwrap: $3" '... and says why'
	launch only-bwrap; status 125 '... unless the policy wants no other'
	no_output 'it ran' '... then nothing runs'
}
unable 'AppArmor or a container: the map of users' 'setting up uid map: Permission denied' 'this system or container forbids'
unable 'AppArmor: the network' 'loopback: Failed RTM_NEWADDR: Operation not permitted' 'this system or container forbids'
unable 'turned off' 'No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.' 'this system or container forbids'
unable 'no more of them' 'Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)' 'no more user namespaces'
unable 'a kernel without' 'Creating new namespace failed, likely because the kernel does not support user namespaces.' 'this kernel is built without'
unable 'inside another sandbox' 'Failed to make / slave: Permission denied' 'mounting is forbidden here'
unable 'a container with masks over /proc' "Can%st mount proc on /newroot/proc: Operation not permitted" 'this container hides parts of /proc'
unable 'too old' 'Unknown option --as-pid-1' 'bubblewrap is too old'
unable 'set-uid, with a limited tmpfs' 'The --size option is not permitted in setuid mode' 'bubblewrap is set-uid'
plant bwrap "echo \"bwrap: Can't bind mount /oldroot$work/setting up uid map on /newroot$work: No such file\" >&2; exit 1"
launch holds; status 125 'the name of a file that reads like a reason'
no_output 'not bwrap' '... is none'; no_output 'it ran' '... and nothing else is tried'
plant bwrap
launch needs-mounts; status 125 'missing'; output 'not bwrap: bubblewrap is not installed' '... has its reason'
output 'install the package bubblewrap' '... and remedy'; no_output 'it ran' '... nothing runs'
if [ "$has_landlock" ]; then
	launch holds; status 0 '... auto takes the next'; no_output bare '... confined'
	launch best-effort; status 0 '... also with best-effort rules it lacks'
	output 'not enforced' '... which are said'; output 'not bwrap' '... with why not the first'
	plant bwrap 'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1'
	run_in "$work" bash -c "ulimit -Sn 200; ulimit -Hn 300; exec '$sbx_fake' -q '$dir/holds.sbx' -- sh -c 'ulimit -Sn; trap'"
	equal 200 "$out" 'the limits and signals that the next one finds are the caller his'
	run_in "$work" "$sbx_fake" -q -- "$dir/holds.sbx" sh -c 'echo "$*"' - -- --backend x
	equal '-- --backend x' "$out" 'and so is the command line'
	run_in "$work" bash -c "trap '' PIPE; exec '$sbx_fake' -q '$dir/holds.sbx' -- sh -c 'kill -PIPE \$\$; echo survived'"
	equal survived "$out" 'and a signal that he ignores'
	run_in "$work" "$sbx_fake" -q "$dir/holds.sbx" -- sh -c 'kill -PIPE $$; echo survived'
	status 141 'and one that he does not'
else
	skip 'no Landlock ABI 3 here to go on to'
fi

case_ 'NEST-01 a firejail that cannot work'
plant bwrap
for words in 'Error: not allowed to use Firejail|not in /etc/firejail/firejail.users' 'Error: noprofile is disabled in Firejail configuration file|turns off what is needed' \
	'Error mounting: something: mounting: Operation not permitted|mounting is forbidden here' 'Error: invalid --keep-fd|firejail is too old' \
	'Error fork: Resource temporarily unavailable|no more processes may be made'; do
	plant firejail "echo '${words%|*}' >&2; exit 1"
	launch needs-mounts; status 125 "${words%|*}"
	no_output 'it ran' '... nothing runs'
	equal 1 "$(grep -c "not firejail: .*${words#*|}.*: " <<<"$out")" '... one line, with reason and remedy'
	for name in bwrap landlock; do output "not $name: " "... and why not $name"; done
done
plant firejail

case_ 'DEGR-01 one that lies'
lies() { # WHAT SCRIPT REASON [POLICY...]
	for kind in bwrap firejail; do
		plant bwrap; plant firejail
		if [ $kind = firejail ] && ! as_user "$sbx_fake" --check "$dir/holds.sbx" | grep -q 'firejail.*not installed'; then
			skip "firejail $1: this build has no firejail"
			continue
		fi
		plant $kind "$2"
		for name in ${4:-holds needs-mounts}; do
			launch $name; status 125 "$kind $1 ($name)"
			no_output 'it ran' '... nothing runs'
			output "$3" '... and why is said'
		done
		run_in "$work" "$sbx_fake" --check "$dir/holds.sbx"
		status 125 '... --check finds it'; output "no   $kind: " '... says so'
		output "$3" '... and why'
	done
}
lies 'ends with 0 and runs nothing' 'exit 0' 'without starting the sandbox'
lies 'ends with 1 and unknown words' 'echo "something else" >&2; exit 1' 'why is not known'
lies 'runs the command bare' 'while [[ $1 != -- && $1 != /proc/self/fd/* ]]; do shift; done; [[ $1 != -- ]] || shift; exec "$@"' 'namespace'
lies 'hangs' 'exec sleep 60' 'did not start the program' holds
plant firejail

case_ 'set-uid bubblewrap'
plant bwrap; cp /usr/bin/bwrap "$fakes/bwrap" && chmod 4755 "$fakes/bwrap"
launch needs-mounts --backend bwrap; status 0 'is used as the other is'; output 'it ran' '... it runs'
no_output bare '... confined'
run_in "$work" "$sbx_fake" "$dir/needs-mounts.sbx" -- sh -c 'echo x >.envrc; grep -h Cap /proc/self/status; echo done'
output done '... and verified from inside'; not '... masks hold' test -s "$work/.envrc"
rm -rf "$work/.envrc"
thin sized <<'END'
fs { tmp /tmp size 1M }
END
launch sized; status 125 '... a tmpfs it cannot limit'; output 'chmod u-s' '... has its remedy'

case_ 'DEGR-01 what is looked for, and where'
plant bwrap; cp /usr/bin/bwrap "$fakes/bwrap"; chown "$TESTUSER" "$fakes/bwrap"
launch needs-mounts; status 125 'a bubblewrap that belongs to the user'; output 'not trusted' '... says so'
plant bwrap 'exec /usr/bin/bwrap "$@"'
chmod 775 "$fakes/bwrap"
launch needs-mounts; status 125 'one that a group may write'; output 'not trusted' '... says so'
chmod 755 "$fakes/bwrap"
launch needs-mounts; status 0 'a wrapper of root is verified from inside like the program'; output 'it ran' '... and runs'
rm -f "${fakes:?}"/*
mkdir "$work/bin"
for name in bwrap firejail newuidmap getent true sh; do
	printf '#!/bin/sh\necho planted >>%s/planted\nexec /usr/bin/%s "$@"\n' "$dir" $name >"$work/bin/$name"
done
chmod 755 "$work/bin"/*; own "$work"; : >"$dir/planted"; chmod 666 "$dir/planted"
run_in "$work" env PATH="$work/bin:/usr/bin:/bin" bwrap --version; ok 'control: what is first on PATH runs' test -s "$dir/planted"
: >"$dir/planted"
run_in "$work" env PATH="$work/bin:/usr/bin:/bin" "$sbx_exec" "$dir/holds.sbx" -- echo fine; status 0 'wrappers planted on PATH'
not '... are never run' test -s "$dir/planted"
run_in "$work" env PATH="$work/bin:/usr/bin:/bin" "$sbx_exec" --check "$dir/holds.sbx"; status 0 '... nor by --check'
not '... at all' test -s "$dir/planted"
rm -rf "$work/bin"

case_ 'DEGR-01 nothing that could hold it'
for number in 444; do # landlock_create_ruleset
	run_in "$work" env PATH=/nowhere "$dir/bin/e2e-without" $number "$sbx_fake" "$dir/holds.sbx" -- /bin/echo it-ran
	status 125 'no bwrap, no firejail, no Landlock'; no_output it-ran '... nothing runs'
	for name in bwrap landlock; do output "not $name: " "... why not $name"; done
	run_in "$work" "$dir/bin/e2e-without" $number "$sbx_fake" --check "$dir/holds.sbx"
	status 125 '... --check says no'; output 'no   Landlock' '... names it'
	output 'no   this machine cannot enforce the policy' '... concludes'
done

case_ '--check tells of every backend'
run_in "$work" "$sbx_exec" -v --check "$dir/needs-mounts.sbx"; status 0 '--check -v'
equal '' "$(grep -Ev '^(yes |no  |note) ' <<<"$out")" 'each line begins with yes, no or note'
before=$(find "$work" "$TESTHOME" | sort | md5sum)
run_in "$work" "$sbx_exec" --check "$dir/needs-mounts.sbx"; status 0 '--check of a policy with placeholders'
output 'yes  bwrap: started' '... tries it'
equal "$before" "$(find "$work" "$TESTHOME" | sort | md5sum)" '... and leaves nothing'
run_in "$work" "$sbx_exec" -v --check --backend firejail "$dir/needs-mounts.sbx"; output 'note firejail: a mask comes back' 'that firejail does not keep a mask is noted'
run_in "$work" "$sbx_exec" -v --check --backend firejail,bwrap "$dir/holds.sbx"; no_output 'a mask comes back' '... where there is one'
run_in "$work" "$sbx_exec" --check --backend landlock "$dir/needs-mounts.sbx"; status 125 '... for one backend'
no_output 'bwrap: ' '... says nothing of the others'
run_in "$work" "$sbx_exec" --check --backend landlock -v "$dir/best-effort.sbx"
output 'note landlock: not enforced, nor insisted on' 'best-effort rules are notes'
cd / && run_in "$work" "$sbx_exec" --check "$dir/only-bwrap.sbx"; output 'add landlock to its require' 'a backend that the policy does not name'
cd - >/dev/null || exit

case_ 'NEST-03 no namespace of its own'
bare "$dir/bin/e2e-namespaces"
for words in 'clone done' 'clone3 done' 'setns EBADF' 'open_tree EBADF' 'fsopen EPERM' 'unshare done'; do
	output "$words" "control: $words"
done
for backend in bwrap landlock; do
	[ $backend = bwrap ] || [ "$has_landlock" ] || { skip "$backend: no Landlock ABI 3 here"; continue; }
	policy_for_namespaces=holds-$backend
	thin $policy_for_namespaces <<<"fs { exec $dir/bin }"
	run_in "$work" "$sbx_exec" --backend $backend "$dir/$policy_for_namespaces.sbx" -- "$dir/bin/e2e-namespaces"
	for words in 'clone EPERM' 'clone3 ENOSYS' 'setns EPERM' 'open_tree EPERM' 'unshare EPERM'; do
		output "$words" "$backend: $words"
	done
	no_output done '... and none succeeds'
done

case_ 'NEST-02 a launch inside a launch'
outer() { # NAME <<statements: a policy in which a launcher can start
	{
		printf 'language 1\npolicy "outer"\nimport std/rig\ncommand /bin/sh\nworkspace $cwd\n'
		echo "fs { exec $dir/sbx/build; read $dir/inner.sbx; deny write \$workspace/shut best-effort; tmp /tmp best-effort }"
		cat
	} >"$dir/$1.pol"
	"$sbxc" "$dir/$1.pol" -o "$dir/$1.sbx" >"$dir/compile" 2>&1 || fail "policy $1 does not compile" "$(cat "$dir/compile")"
	chmod 644 "$dir/$1.sbx"
}
# The inner one grants what the outer one does not, and closes nothing.
thin inner <<'END'
fs { write ~/e2e optional }
END
outer outer <<'END'
syscalls { default ENOSYS; allow openat2 override compat "a launcher inside" }
process { share processes attributes compat "test" }
END
outer outer-nests <<'END'
process { allow user-namespaces compat "a sandbox of its own" }
syscalls {
    default ENOSYS
    allow openat2 @namespaces override compat "a sandbox of its own"
    allow mount umount2 pivot_root sethostname chroot open_tree move_mount fsopen fsconfig fsmount mount_setattr compat "a sandbox of its own"
    allow clone where flags & CLONE_NEWUSER != 0 override compat "a sandbox of its own"
}
END
outer outer-plain <<'END'
syscalls { default ENOSYS }
process { share processes attributes compat "test" }
END
fresh
mkdir "$work/shut"; own "$work"
nest() { # OUTER-BACKEND OUTER INNER-BACKEND
	rm -f "$home/inside" "$work/shut/x" "$work/own"
	run_in "$work" "$sbx_exec" -q --backend "$1" "$dir/$2.sbx" -- "$dir/sbx/build/sbx-exec" --backend "$3" "$dir/inner.sbx" -- \
		sh -c "echo it ran; echo x >own && echo own; echo x >shut/x; echo x >$home/inside; exit 0"
}
confined() { # SHUT: whether the outer one holds that
	output 'it ran' "$1: it runs"; output own '... the workspace can be written'
	not '... nothing is opened that the outer one does not grant' test -e "$home/inside"
	[ -z "${2-}" ] || not '... nor what it closes' test -e "$work/shut/x"
}
run_in "$work" "$sbx_exec" --backend bwrap "$dir/inner.sbx" -- sh -c "echo x >$home/inside"
ok 'control: alone the inner one writes there' test -e "$home/inside"
nest bwrap outer-nests bwrap; confined 'bwrap in bwrap' shut
nest bwrap outer bwrap; status 125 'bwrap in bwrap that allows none: refused'; output 'user namespaces' '... with that reason'
no_output 'it ran' '... nothing runs'
nest bwrap outer-plain bwrap; status 125 'without openat2: refused'; output 'openat2(2) is refused' '... with that reason'
if [ "$has_landlock" ]; then
	nest bwrap outer landlock; confined 'landlock in bwrap' shut
	nest bwrap outer auto; confined 'auto in bwrap' shut
	output 'not bwrap: ' '... says why not bwrap'
	nest landlock outer landlock; confined 'landlock in landlock'
	nest landlock outer bwrap; status 125 'bwrap in landlock: refused'; no_output 'it ran' '... nothing runs'
	nest landlock outer auto; confined 'auto in landlock'
else
	skip 'no Landlock ABI 3 here'
fi
