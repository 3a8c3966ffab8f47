# The backend "landlock": no namespaces, no mounts.  What it holds, what it says
# that it does not, and what it leaves behind.

land() { local name=$1; shift; sbx_with '--backend landlock' "$name" "$@"; }
quiet() { local name=$1; shift; sbx_with '-q --backend landlock' "$name" "$@"; }

policy land <<'EOF'
process { share processes attributes compat "test" }
EOF
policy landtmp <<'EOF'
process { share processes attributes compat "test" }
fs { tmp /tmp best-effort; exec /tmp; tmp /dev/shm best-effort }
assert { can write /tmp/x }
EOF
# Nothing that needs anybody to stay: this process becomes the program.
policy landalone <<'EOF'
process { share processes attributes compat "test" }
syscalls { default ENOSYS; deny @network-io @pair-io }
EOF

case_ 'the process itself becomes the program'
fresh
run_in "$work" strace -f -e trace=%process -o "$work/trace" "$sbx_exec" --backend landlock "$dir/landalone.sbx" -- true
if [ -s "$work/trace" ]; then
	status 0 'it runs'
	not 'one process' grep -Eq 'clone|fork' "$work/trace"
	equal 2 "$(grep -c execve "$work/trace")" 'one exec'
else
	skip 'strace is not installed'
fi
sbx_with '-v --backend landlock' landalone true
output 'runs on, confined' '... which -v says'
run_in "$work" sh -c "trap '' USR1; exec grep SigIgn /proc/self/status"; before=$out
run_in "$work" sh -c "trap '' USR1; exec '$sbx_exec' -q --backend landlock '$dir/landalone.sbx' -- grep SigIgn /proc/self/status"
equal "$before" "$out" 'signals are as the caller had them'
land landalone sh -c 'exit 7'; status 7 'its exit status'
land landalone sh -c 'kill -TERM $$'; status 143 'its signal'
run_in "$work" sh -c "exec 5<>/dev/null '$sbx_exec' --backend landlock '$dir/landalone.sbx' -- ls /proc/self/fd"
no_output 5 'no descriptor is handed on'

case_ 'LAND-01 what an older Landlock lacks'
abi() { # ABI NAME COMMAND...
	local abi=$1 name=$2
	shift 2
	run_in "$work" env SBX_TEST_ABI="$abi" "$dir/sbx-exec-abi" -v --backend landlock "$dir/$name.sbx" -- "$@"
}
cp "$sbx_abi" "$dir/sbx-exec-abi" && chmod 755 "$dir/sbx-exec-abi"
mkdir -p "$home/ro" && echo kept >"$home/ro/f" && own "$home"
shares='process { share processes attributes compat "t"; share signals compat "t" }'
policy abi-read <<EOF
$shares
fs { read ~/e2e/ro }
EOF
policy abi-full <<'EOF'
process { share processes attributes compat "t" }
EOF
policy abi-listen <<EOF
$shares
net { listen 8080 best-effort }
EOF
policy abi-device <<EOF
$shares
fs { read /dev/full }
EOF
bare truncate -s0 "$home/ro/f"; status 0 'control: truncate works outside'
for n in 1 2 3 4 5 6 7; do
	case_name="LAND-01 ABI $n"
	echo kept >"$home/ro/f"
	abi $n abi-read sh -c "truncate -s0 $home/ro/f; (: >$home/ro/f); mkdir -p a b; echo x >a/f; mv a/f b/f && echo moved"
	if [ $n -lt 3 ]; then
		status 125 'what is readable could be cut short: refused'
		output 'Linux 6.2' '... with the remedy'
	else
		output moved 'a file goes from one directory to another'
		equal kept "$(cat "$home/ro/f")" 'what is readable is not cut short'
	fi
	abi $n abi-full sh -c 'kill -0 1 2>&1; kill -0 $$ && echo mine'
	if [ $n -lt 6 ]; then
		status 125 'signals could leave: refused'
		[ $n -lt 3 ] || output 'share signals' '... with the remedy'
	else
		output mine 'signals reach its own processes'
	fi
	abi $n abi-listen python3 -c '
import socket
def attempt(what, f):
    try: f(); print(what, "done")
    except OSError as e: print(what, e.errno)
attempt("bind", lambda: socket.socket().bind(("127.0.0.1", 8080)))
attempt("other", lambda: socket.socket().bind(("127.0.0.1", 8081)))
attempt("out", lambda: socket.socket().connect(("127.0.0.1", 1)))
attempt("fast", lambda: socket.socket().sendto(b"x", socket.MSG_FASTOPEN, ("127.0.0.1", 1)))
attempt("udp", lambda: socket.socket(type=socket.SOCK_DGRAM))
'
	if [ $n -lt 4 ]; then
		status 125 'ports are not known: refused'
		[ $n -lt 3 ] || output 'net mode none' '... since any could be reached'
	else
		output 'bind done' 'the port of `listen`'
		for what in 'other 13' 'out 13' 'fast 95' 'udp 97'; do output "$what" "not ${what% *}"; done
	fi
	abi $n abi-device python3 -c '
import fcntl, os
try: fcntl.ioctl(os.open("/dev/full", os.O_RDONLY), 0x5413, bytes(8)); print("ioctl")
except OSError as e: print("ioctl", e.errno)'
	if [ $n -lt 5 ]; then
		status 125 'ioctl is not seen: refused'
		[ $n -lt 3 ] || output 'Linux 6.10' '... with the remedy'
	else
		output 'ioctl 13' 'no ioctl on a device that is only readable'
	fi
done

case_ 'LAND-03 a deny beneath a grant'
policy landdeny <<'EOF'
process { share processes attributes compat "test" }
fs { deny write $workspace/shut; deny $workspace/gone }
EOF
policy landbest <<'EOF'
process { share processes attributes compat "test" }
fs { deny write $workspace/shut best-effort; deny $workspace/gone best-effort; deny /proc/version best-effort }
assert { cannot write $workspace/shut/x }
EOF
fresh; mkdir -p "$work/shut/open"; own "$work"
land landdeny true; status 125 'refused'
output "$work/gone (landdeny.pol:" '... names the deny'
output 'inside landdeny.pol:5' '... and the grant around it'
output 'and 1 more' '... and says that there are more'
land landbest sh -c 'echo x >shut/x && echo wrote'; status 0 'best-effort: it runs'
output wrote '... and the name is open'
output 'deny-beneath at 3 names (landbest.pol:' '... which one line says, a name of /proc with it'
output '1 assertion' '... and of the assertions that rest on it'
policy landseal <<'EOF'
process { share processes attributes compat "test" }
fs { deny $workspace/shut best-effort; seal write $workspace/shut }
EOF
land landseal true; status 125 'a seal of a name that a best-effort deny has, too, stops the launch'
output "$work/shut (landseal.pol:" '... and is what is named'
policy landpattern <<'EOF'
process { share processes attributes compat "test" }
fs { deny $workspace/s* best-effort snapshot; deny write $workspace/shut }
EOF
land landpattern true; status 125 'so does another deny of a name that a best-effort pattern matches'
sbx_with '-v --backend landlock' landbest true
output "$work/shut (landbest.pol:" '-v names each'
no_output 'mark the rule' '... without the remedy that the policy has already'
quiet landbest true; no_output sbx-exec '-q does not'
cp "$dir/land.sbx" "$work/own.sbx"; own "$work"
run_in "$work" "$sbx_exec" --backend landlock ./own.sbx -- true
status 125 'a policy that lies in what it grants'; output 'move it out' '... with the remedy'
cp "$dir/land.sbx" "$home/own.sbx"; ln -s "$home/own.sbx" "$work/link.sbx"; own "$home" "$work"
run_in "$work" "$sbx_exec" --backend landlock ./link.sbx -- true; status 125 'one that a link in it names, which could be turned'; output 'move it out' '... with the remedy'

case_ 'LAND-04 what a rule may say depends on what is there'
fresh
mkfifo "$work/fifo"; echo file >"$home/file"; mkdir -p "$home/dir"; echo in >"$home/dir/f"; ln -sfn dir "$home/dirlink"; mkfifo "$home/fifo" 2>/dev/null; own "$work" "$home"
policy landtypes <<'EOF'
process { share processes attributes compat "test" }
fs { read ~/e2e/file ~/e2e/dirlink /etc/hosts; write ~/e2e/fifo compat "test" }
EOF
land landtypes sh -c "cat $home/file $home/dirlink/f $home/dir/f; cat /etc/hosts >/dev/null && echo hosts; (echo through >$home/fifo &) ; cat $home/fifo"
status 0 'a file, a link to a directory, a FIFO, /etc/hosts'
for word in file in hosts through; do output "$word" "... $word"; done
rm -rf "$home/file"; mkdir "$home/file"; echo deep >"$home/file/f"; own "$home"
land landtypes cat "$home/file/f"; output deep 'a directory where a file was at the compilation'
rm -rf "$home/file"

case_ 'LAND-05 what Landlock does not see'
fresh
mkdir -p "$home/hidden"; echo SECRET >"$home/hidden/key"; chmod 600 "$home/hidden/key"; own "$home"
bare cat "$home/hidden/key"; output SECRET 'control: it can be read outside'
land land sh -c "stat -c %s $home/hidden/key; cat $home/hidden/key; ls $home/hidden; echo x >$home/hidden/key"
output 7 'its attributes can be read'; no_output SECRET 'its content cannot'
output 'Permission denied' '... nor its directory, nor can it be written'
land land chmod 644 "$home/hidden/key"; status 0 'the mode of a file of one'"'"'s own can be changed, as the policy accepts'
equal 644 "$(stat -c %a "$home/hidden/key")" '... as on the host'; output attributes '... which one line says'
policy landmodes <<'EOF'
process { share processes compat "test" }
EOF
land landmodes true; status 125 'a policy that does not is refused'; output 'share attributes' '... with the remedy'
policy landkept <<'EOF'
process { share processes compat "test" }
syscalls {
    default ENOSYS
    deny chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat setxattr lsetxattr fsetxattr setxattrat
    deny utime utimes futimesat utimensat file_setattr removexattr lremovexattr fremovexattr removexattrat
}
EOF
before=$(stat -c %Y "$home/hidden/key")
land landkept sh -c "chmod 600 $home/hidden/key; touch -d 2001-01-01 $home/hidden/key"; no_output attributes 'one whose filter refuses it is held'
equal "644 $before" "$(stat -c '%a %Y' "$home/hidden/key")" '... and the file is as it was'

case_ 'LAND-07 sixteen layers, and no more'
fresh
policy landnest <<'EOF'
process { share processes attributes compat "test"; share signals compat "test" }
syscalls { default ENOSYS; deny @network-io @pair-io }
fs { exec ~/e2e/nest; read /var/tmp optional }
EOF
mkdir -p "$home/nest"; cp "$sbx_exec" "$home/nest/"; cp "$dir/landnest.sbx" "$home/nest/"
cat >"$home/nest/deeper" <<EOF
#!/bin/sh
echo depth \$1
exec $home/nest/sbx-exec -q --backend landlock $home/nest/landnest.sbx -- $home/nest/deeper \$((\$1 + 1))
EOF
chmod 755 "$home/nest"/*; own "$home"; chown -R root "$home/nest"
run_in "$work" "$home/nest/deeper" 0
status 125 'the seventeenth is refused'
output 'Landlock layer limit (16) reached' '... with that reason'
output 'depth 16' '... and sixteen work'; no_output 'depth 17' '... and no more'

case_ 'RES-01 limits'
fresh
policy landlimits <<'EOF'
process { share processes attributes compat "test" }
limits { memory 300M; file-size 1M; open-files 64; cpu-time 1s; core-size 0; processes 10 best-effort }
EOF
land landlimits python3 -c 'bytearray(400 << 20)'; output MemoryError 'memory'
land landlimits dd if=/dev/zero of=big bs=1M count=3; status 153 'the size of a file: SIGXFSZ'
land landlimits python3 -c '
import os
try:
    for i in range(100): os.open("/dev/null", 0)
except OSError as e: print("at", i, e.strerror)'; output 'Too many open files' 'open files'
land landlimits sh -c 'while :; do :; done'; status 137 'processor time: killed'
sbx_with '--dry-run --backend landlock' landlimits true; equal 1 "$(grep -c open-files <<<"$out")" '--dry-run lists open files once'
land landlimits sh -c 'ulimit -c; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.2 & done; wait && echo twelve'
output twelve 'processes are not limited here'; output 'process-count (landlimits.pol:' '... which is said'
policy landprocesses <<'EOF'
process { share processes attributes compat "test" }
limits { processes 10 }
EOF
land landprocesses true; status 125 'processes, not best-effort: refused'; output 'limits { processes }' '... by name'

case_ 'RES-04 limits of the caller'
policy landmany <<'EOF'
process { share processes attributes compat "test" }
limits { open-files 4096 }
EOF
run_in "$work" sh -c "ulimit -Sn 64; ulimit -Hn 128; exec '$sbx_exec' -v --backend landlock '$dir/landmany.sbx' -- bash -c 'ulimit -Sn; ulimit -Hn'"
output '128
128' 'the lower of both'; output 'only 128, not 4096' '... which -v says'

case_ 'a directory of the session'"'"'s own for tmp /tmp'
fresh
mine() { find /tmp /var/tmp -maxdepth 1 -name 'sbx-*' -user "$TESTUSER" 2>/dev/null; }
records() { find "$TESTHOME/.local/state/sbx/sessions" -name 'tmp-*' 2>/dev/null; }
rm -f $(records)
land landtmp sh -c 'echo "$TMPDIR $TMP $TEMP"; stat -c %a "$TMPDIR"; cp /bin/true "$TMPDIR/t" && "$TMPDIR/t" && echo ran; echo x >/tmp/x; ls /tmp; mktemp'
status 0 'it runs'; output '/tmp/sbx-' 'TMPDIR names it'; output '
700' 'nobody else can enter'
output ran 'exec /tmp beside it counts'; output 'cannot create /tmp/x' '/tmp itself is not granted'
output 'cannot open directory' '... nor listed'
output 'tmp at 2 names' 'one line says that it is not /tmp, and that /dev/shm is not there'
output '1 assertion' '... and of the assertion that rests on it'
equal '' "$(mine)$(records)" 'it is gone at the end, and its record'
policy landset <<'EOF'
process { share processes attributes compat "test" }
fs { tmp /tmp best-effort }
env { set TMPDIR "$workspace/t"; set TMP "/nowhere" }
EOF
quiet landset sh -c 'echo $TMPDIR $TMP'; output "$work/t /tmp/sbx-" 'a value of the policy stays if it names what is granted'
policy landgit <<'EOF'
import std/git best-effort
process { share processes attributes compat "test" }
fs { tmp /tmp best-effort; read /tmp/granted optional }
env { set A "/tmp/granted/x"; set B "/tmpx"; set C "/tmp" }
EOF
mkdir -p /tmp/granted; chmod 755 /tmp/granted
quiet landgit sh -c 'git config --global user.name me && git config user.name; echo "$GIT_CONFIG_GLOBAL $A $B $C"'
output 'me
/tmp/sbx-' 'a variable that the policy sets to a path in /tmp names the directory, so git config --global works'
output '/.gitconfig /tmp/granted/x /tmpx /tmp/sbx-' '... and what names something granted stays'
sbx_with '--dry-run --backend landlock' landgit true; output 'GIT_CONFIG_GLOBAL=/tmp/sbx-' '... as --dry-run shows'
rmdir /tmp/granted
land landtmp bash -c 'cd "$TMPDIR"; mkdir a; chmod 700 a; (cd a; for i in $(seq 600); do mkdir d && cd d; done; echo deep >f); ln -s / root; ln -s "$HOME" home; mkdir shut; echo x >shut/x; chmod 0 shut a/d; mkfifo p; mkdir 0 1 2; touch -- "-rf" "a b"; cd /; chmod 500 "$TMPDIR"'
status 0 'deep, linked, closed to its owner'
equal '' "$(mine)$(records)" '... all of it is gone'
ok 'what links led to is not' test -d "$home"
land landtmp sh -c 'for i in 0 1 2 3; do mkdir -p "$TMPDIR/$i/d/x/$i"; done'
equal '' "$(mine)$(records)" 'names that the sweeping itself might use do not hinder it'
# A session that is killed; its directory is the next one's to remove, and no other.
as_user sh -c "cd '$work' && exec '$sbx_exec' -q --backend landlock '$dir/landtmp.sbx' -- sh -c 'mkdir \$TMPDIR/d; echo x >\$TMPDIR/d/f; echo \$TMPDIR >tmpname; echo \$\$ >inner; exec sleep 30'" </dev/null >/dev/null 2>&1 &
for _ in $(seq 50); do [ -s "$work/inner" ] && break; sleep 0.1; done
kept=/tmp/sbx-$(printf %016x $$); mkdir -p "$kept"; echo mine >"$kept/f"; own "$kept"
launcher=$(pgrep -f -u "$TESTUSER" "^$sbx_exec -q --backend landlock" | head -n 1)
quiet landtmp true
ok 'a living session keeps its own' test -d "$(cat "$work/tmpname")"
kill -KILL "$launcher"; wait $! 2>/dev/null
sleep 0.3
not 'the program ends with a killed launcher' pgrep -f -u "$TESTUSER" '^sleep 30'
ok 'what a killed session had is left' test -d "$(cat "$work/tmpname")"
quiet landtmp true
not '... and the next one removes it' test -e "$(cat "$work/tmpname")"
ok '... and nothing that only looks like it' test -f "$kept/f"
equal '' "$(records)" '... and the record'
rm -rf "$kept"
cat >"$work/fill.py" <<'EOS'
import os, time
end = time.time() + 8
for k in range(6):
    if os.fork() == 0:
        i = 0
        while time.time() < end:
            i += 1
            try: os.mknod(os.environ["TMPDIR"] + "/%d-%d" % (k, i))
            except OSError: time.sleep(0.001)
        os._exit(0)
open("filling", "w").write("up")
time.sleep(30)
EOS
own "$work"
as_user sh -c "cd '$work' && exec '$sbx_exec' -q --backend landlock '$dir/landtmp.sbx' -- python3 fill.py" </dev/null >/dev/null 2>&1 &
for _ in $(seq 50); do [ -s "$work/filling" ] && break; sleep 0.1; done
kill -KILL "$(pgrep -f -u "$TESTUSER" "^$sbx_exec -q --backend landlock" | head -n 1)"; wait $! 2>/dev/null
SECONDS=0; quiet landtmp true; status 0 'what a killed session left running fills its directory'
ok '... which holds up the next launch for a while only' test "$SECONDS" -lt 6
pkill -f -u "$TESTUSER" 'python3 fill.py'; sleep 0.2; quiet landtmp true
equal '' "$(mine)$(records)" '... and is removed once that has ended'
policy landhome <<'EOF'
process { share processes attributes compat "test" }
fs { write ~/.local compat "test"; deny write ~/.local/state/sbx best-effort }
EOF
as_user mkdir -p "$TESTHOME/.local/state/sbx/sessions"
land landhome true; status 125 'records that could be written inside'; output 'records' '... are named'

case_ 'SYS-01 places that all may write'
fresh
land landtmp sh -c 'for d in /tmp /var/tmp /dev/shm /run/lock /run/user/1742 /dev/mqueue; do (echo marker >$d/sbx-'$$'-marker) 2>/dev/null && echo "wrote $d"; done; echo done'
output done 'tried'; no_output 'wrote ' 'none of them can be written'
for d in /tmp /var/tmp /dev/shm /run/lock; do not "no marker in $d on the host" test -e "$d/sbx-$$-marker"; done
bare sh -c "echo marker >/var/tmp/sbx-$$-marker && rm /var/tmp/sbx-$$-marker && echo wrote"; output wrote 'control: outside they can'
policy landshm <<'EOF'
process { share processes attributes compat "test" }
fs { tmp /dev/shm }
EOF
land landshm true; status 125 'tmp, not best-effort: refused'

case_ 'other processes of the user'
fresh
cp tests/e2e/same-user.py "$dir/" && chmod 644 "$dir/same-user.py"
segment=$(as_user python3 -c '
import ctypes, os
libc = ctypes.CDLL(None)
print(libc.shmget(0, 4096, 0o1600))
libc.mq_open(b"/sbx-e2e-'$$'", os.O_RDWR | os.O_CREAT, 0o600, None)' 2>/dev/null)
attack() { # PID, WHERE
	"$2" python3 "$dir/same-user.py" "$1" "$segment" sbx-e2e-$$ sbx-e2e-$$-key
}
confined() { quiet land-python "$@"; }
policy land-python <<EOF
process { share processes attributes compat "test" }
fs { read $dir/same-user.py }
EOF
as_user sleep 100 & sleep 0.3
attack "$(pgrep -n -f -u "$TESTUSER" '^sleep 100')" bare; wait $! 2>/dev/null
names=$(sed -n 's/ done$//p' <<<"$out")
for name in prlimit renice taskset shmat kill ptrace proc-mem; do
	grep -qx "$name" <<<"$names" && pass "control: $name works outside" || fail "control: $name works outside" "$out"
done
as_user sleep 100 & sleep 0.3
target=$(pgrep -n -f -u "$TESTUSER" '^sleep 100')
attack "$target" confined
for name in $names; do
	if grep -qx "$name done" <<<"$out"; then fail "$name" "$out"; else pass "$name is refused inside"; fi
done
output 'kill EPERM' 'they were all tried'
ok 'the other process lives' kill -0 "$target"
kill "$target"; wait $! 2>/dev/null
as_user python3 -c "
import ctypes; libc = ctypes.CDLL(None); libc.shmctl($segment, 0, None); libc.mq_unlink(b'/sbx-e2e-$$')"
land land sh -c 'prlimit --nofile=100:100 sh -c "ulimit -n"; nice -n 3 true && taskset 1 true && echo own'
output own 'its own limits and priority it may change'

case_ 'the process that waits for the program'
land landtmp sh -c 'echo $PPID; head -c1 /proc/$PPID/mem; ls -l /proc/$PPID/fd; cat /proc/$PPID/environ; kill -0 1'
no_output ' -> ' 'its descriptors are closed to it'
equal 3 "$(grep -c 'Permission denied' <<<"$out")" '... so are its memory and environment'
run_in "$work" env SEKRET=hunter2 "$sbx_exec" -q --backend landlock "$dir/landtmp.sbx" -- sh -c 'for p in /proc/[0-9]*; do tr "\0" "\n" <$p/environ; done 2>/dev/null | grep -c hunt[e]r2; cat /proc/*/cmdline 2>/dev/null | tr "\0" " " | grep -c hunt[e]r2'
output '0
0' 'what the environment lost is nowhere else (SYS-03)'
quiet landtmp sh -c 'kill -STOP $PPID; kill -CONT $PPID; exit 3'; status 3 'stopped and continued by the program, it goes on'
quiet landtmp sh -c 'kill -KILL $PPID; sleep 3; echo on'; no_output on 'killed by the program, it takes the program with it'

case_ 'new terminals (trap 5)'
fresh
policy landpty <<'EOF'
process { share processes attributes compat "test"; share terminals compat "test" }
assert { can use pty }
EOF
policy landnopty <<'EOF'
process { share processes attributes compat "test" }
assert { can use pty }
EOF
policy landtty <<'EOF'
process { share processes attributes compat "test" }
assert { can use terminal }
EOF
policy landdev <<'EOF'
process { share processes attributes compat "test" }
fs { read /dev compat "test" }
EOF
land landnopty true; status 125 '`can use pty` does not hold'; output 'share terminals' '... with the remedy'
land landtty true; status 0 '`can use terminal` does'
land landdev true; status 125 '/dev as a whole would open the other terminals: refused'
as_user python3 -c '
import os, pty, sys, time
master, slave = pty.openpty()
print(os.ttyname(slave), flush=True)
time.sleep(15)' >"$dir/tty" & sleep 0.5
steal='import os, sys
try: os.write(os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY), b"x"); print("opened")
except OSError as e: print(e.strerror)
try: os.openpty(); print("new")
except OSError as e: print("no new one")'
bare python3 -c "$steal" "$(cat "$dir/tty")"; output opened 'control: outside another terminal of the user can be opened'
land landpty python3 -c "$steal" "$(cat "$dir/tty")"; output opened 'with `share terminals` inside too'
output 'new' '... and new ones made'; output terminals '... which one line says'
land landtty python3 -c "$steal" "$(cat "$dir/tty")"; no_output opened 'without it neither'; output 'no new one' '... nor new ones made'
kill $! 2>/dev/null; wait $! 2>/dev/null

case_ 'without a network'
policy landnet <<'EOF'
process { share processes attributes compat "test" }
EOF
policy landhost <<'EOF'
process { share processes attributes compat "test" }
net { mode host compat "test" }
EOF
answer_with REACHED
reach="
import socket
def attempt(what, f):
    try: print(what, f() or 'done')
    except OSError as e: print(what, 'failed', e.errno)
attempt('tcp', lambda: socket.create_connection(('127.0.0.1', $port), 2).recv(9))
attempt('fast', lambda: socket.socket().sendto(b'x', socket.MSG_FASTOPEN, ('127.0.0.1', $port)))
attempt('udp', lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9)))
attempt('mptcp', lambda: socket.socket(proto=262))
attempt('raw6', lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
"
bare python3 -c "$reach"; output REACHED 'control: outside the host answers'; no_output failed '... in every way'
land landnet python3 -c "$reach"; equal 5 "$(grep -c failed <<<"$out")" 'mode none: none of them'
land landhost python3 -c "$reach"; output REACHED 'mode host: it does'; output 'udp 1' '... by datagrams too'
kill $! 2>/dev/null; wait $! 2>/dev/null

case_ 'root without capabilities (trap 35)'
printf 'language 1\npolicy "test"\nimport std/rig\ncommand /bin/sh\nworkspace $cwd\nprocess { share processes attributes compat "t" }\nsyscalls { default ENOSYS }\n' >"$dir/landroot.pol"
sed 's/default ENOSYS/& ; deny chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat setxattr lsetxattr fsetxattr setxattrat/' "$dir/landroot.pol" >"$dir/landrootsafe.pol"
for name in landroot landrootsafe; do "$sbxc" "$dir/$name.pol" -o "$dir/$name.sbx" >/dev/null 2>&1 || fail "$name does not compile" "$("$sbxc" "$dir/$name.pol" -o /dev/null 2>&1)"; done
as_root() { out=$(cd "$work" && "$@" 2>&1 </dev/null); status=$?; }
as_root "$sbx_exec" --backend landlock "$dir/landroot.sbx" -- true
status 125 'root owns the whole system: refused'; output 'chmod(2)' '... says why'; output 'ordinary user' '... and the remedy'
touch "$dir/roots"; chmod 600 "$dir/roots"
as_root setpriv --bounding-set -all --inh-caps -all sh -c "chmod 666 $dir/roots"; status 0 'control: root without capabilities can open its files to others'
chmod 600 "$dir/roots"
before=$(cat /proc/sys/kernel/core_pattern)
as_root setpriv --bounding-set -all --inh-caps -all sh -c 'cat /proc/sys/kernel/core_pattern >/proc/sys/kernel/core_pattern'; status 0 'control: and set the core pattern'
as_root "$sbx_exec" -q --backend landlock "$dir/landrootsafe.sbx" -- sh -c "chmod 666 $dir/roots; (echo '|/bin/false' >/proc/sys/kernel/core_pattern); (echo c >/proc/sysrq-trigger); (echo >/etc/sbx-e2e-$$); mkdir /sys/fs/cgroup/sbx-e2e-$$; head -c1 /proc/kcore; (: >/dev/sda); grep CapEff /proc/self/status"
output 'CapEff:	0000000000000000' 'where the filter refuses that, it runs without capabilities'
equal "$before 600" "$(cat /proc/sys/kernel/core_pattern) $(stat -c %a "$dir/roots")" '... and can do neither'
not '... nor write elsewhere' test -e /etc/sbx-e2e-$$ -o -e /sys/fs/cgroup/sbx-e2e-$$

case_ 'what stays when the program ends (trap 24)'
fresh
land landtmp sh -c 'setsid sh -c "sleep 1; echo alive >orphan" & exit 0'
sleep 1.6
not 'an orphan ends with the session' test -e "$work/orphan"
sbx_with '-q --backend landlock' landalone sh -c 'setsid sh -c "sleep 1; echo x >orphan; cat /etc/shadow >orphan2" 2>/dev/null & exit 0'
sleep 1.6
ok 'without a supervisor it runs on: documented' test -e "$work/orphan"
not '... as confined as before' test -s "$work/orphan2"

case_ 'a program that stops, and goes on'
fresh
policy landtime <<'EOF'
process { share processes attributes compat "test" }
limits { wall-time 1s }
EOF
run_in "$work" bash -mc "'$sbx_exec' -q --backend landlock '$dir/landtime.sbx' -- sh -c '(sleep 2.5; echo late >late) & kill -STOP \$\$; sleep 9' & wait -f \$!; echo rc=\$?"
output rc=124 'its wall-time is over all the same'; not '... for what it has started too' test -e "$work/late"
run_in "$work" setsid -w "$sbx_exec" -q --backend landlock "$dir/landtmp.sbx" -- python3 -c '
import os, signal
supervisor = open("/proc/%d/stat" % os.getppid()).read().rsplit(")", 1)[1].split()[1]
def data(): return [line for line in open("/proc/%s/status" % supervisor) if line.startswith("VmData")]
before = data()
for i in range(9000): os.kill(os.getpid(), signal.SIGSTOP)
print("grown" if data() != before else "the same")'
output 'the same' 'it may stop as often as it likes: sbx-exec does not grow'

case_ 'a program that nobody listens to'
cat >"$work/fill.py" <<'EOS'
import fcntl, os, time
fcntl.fcntl(2, fcntl.F_SETFL, os.O_NONBLOCK)
try:
    while os.write(2, b"x"): pass
except BlockingIOError: pass
time.sleep(2.5)
open("late", "w")
EOS
own "$work"; rm -f "$work/late"
(cd "$work" && as_user "$sbx_exec" -q --backend landlock "$dir/landtime.sbx" -- python3 fill.py 2>&1 </dev/null) | { sleep 4; cat >/dev/null; }
not 'what sbx-exec has to say does not hold it up: the wall-time holds' test -e "$work/late"

case_ 'descriptors, copies, records'
fresh
echo kept >"$home/log"; echo '[user]' >"$home/gitconfig"; own "$home"
run_in "$work" sh -c "exec '$sbx_exec' -q --backend landlock '$dir/land.sbx' -- sh -c ': >/proc/self/fd/1' >>'$home/log'"
equal kept "$(cat "$home/log")" 'a file as standard output is not cut short by opening it anew'
run_in "$work" sh -c "exec sh -c ': >/proc/self/fd/1' >>'$home/log'"; equal '' "$(cat "$home/log")" 'control: outside it is'
run_in "$work" sh -c "exec 7</etc/passwd '$sbx_exec' -q --backend landlock '$dir/land.sbx' -- ls /proc/self/fd"
equal 4 "$(wc -w <<<"$out")" 'nothing but the standard streams is handed on by a supervisor either'
policy landcopy <<'EOF'
process { share processes attributes compat "test" }
fs { copy ~/e2e/gitconfig best-effort }
EOF
land landcopy sh -c "cat $home/gitconfig; echo x >>$home/gitconfig"
output '[user]' 'a copy, best-effort: read in place'; output 'Permission denied' '... and not written'
output 'copy (landcopy.pol:' '... which is said'
equal '[user]' "$(cat "$home/gitconfig")" '... and it is as it was'

case_ 'directory, umask, groups, --dry-run'
mkdir -p "$home/ws"; own "$home"
policy landws 'workspace ~/e2e/ws' <<'EOF'
process { share processes attributes compat "test" }
env { pass PWD }
EOF
land landws true; status 125 'a working directory outside what the policy shows'; output 'not visible inside' '... for that reason'
run_in "$home/ws" env PWD=/elsewhere "$sbx_exec" -q --backend landlock "$dir/landws.sbx" -- sh -c 'pwd; env | grep ^PWD'
equal "$home/ws
PWD=$home/ws" "$out" 'PWD names it as it is'
run_in "$work" sh -c "umask 027; exec '$sbx_exec' -q --backend landlock '$dir/land.sbx' -- sh -c 'umask; id -u; id -G'"
equal "0027
$(as_user id -u)
$(as_user id -G)" "$out" 'umask, user and groups are the caller'"'"'s'
before=$(mine; records)
sbx_with '--dry-run --backend landlock' landtmp true; status 0 '--dry-run'
output 'made for the session' '... shows the directory that would be made'; output 'TMPDIR=/tmp/sbx-' '... and the variable'
no_output 'masks' '... and no mounts'
equal "$before" "$(mine; records)" '... and makes nothing'
