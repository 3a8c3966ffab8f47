# Environment, descriptors, directory, kernel interfaces, limits.

case_ 'ENV-01 hooks of loaders and interpreters'
policy env <<'EOF'
env { pass TERM KEEP_*; pass LD_LIBRARY_PATH compat "clusters"; set SECRET_FOR_PS "s3cr3t-value"; deny KEEP_OUT_* }
EOF
fresh
marker=/var/tmp/sbx-e2e-$$-marker
cat >"$dir/marker.c" <<EOF
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void fire(void) { close(open("$marker", O_CREAT | O_WRONLY, 0666)); }
EOF
gcc -shared -fPIC -o "$dir/marker.so" "$dir/marker.c"; chmod 755 "$dir/marker.so"
echo "touch $marker" >"$dir/marker.sh"; chmod 755 "$dir/marker.sh"
rm -f "$marker"
bare env LD_PRELOAD="$dir/marker.so" true; ok 'control: LD_PRELOAD fires without sbx-exec' test -e "$marker"
rm -f "$marker"
run_in "$work" "$sbx_exec" "$dir/env.sbx" -- true
# The shell that would start env(1) must not be what fires it.
cat >"$dir/exec-with.py" <<'EOF'
import os, sys
env = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/"), "LD_LIBRARY_PATH": "/opt/hpc"}
for name in ("LD_PRELOAD", "LD_AUDIT"):
    env[name] = sys.argv[1] + "/marker.so"
for name in ("BASH_ENV", "ENV", "PYTHONSTARTUP", "PERL5OPT", "NODE_OPTIONS", "GCONV_PATH", "GIT_SSH_COMMAND"):
    env[name] = sys.argv[1] + "/marker.sh"
os.execve(sys.argv[2], sys.argv[2:], env)
EOF
run_in "$work" python3 "$dir/exec-with.py" "$dir" "$sbx_exec" "$dir/env.sbx" -- bash -c env
status 0 'it starts with all of them set'
not 'none fires outside' test -e "$marker"
no_output marker 'none is passed'
output LD_LIBRARY_PATH=/opt/hpc 'what the policy passes is'
rm -f "$marker"

case_ 'ENV-04 odd environments'
cat >"$dir/odd-env.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	static char *env[3100];
	char *big = malloc(120000);
	int n = 0;
	(void)argc;
	env[n++] = "PATH=/usr/bin:/bin";
	env[n++] = "KEEP_TWICE=1";
	for (int i = 0; i < 3000; i++) {
		env[n] = malloc(40);
		sprintf(env[n++], "SECRET_%d=s%d", i, i);
	}
	memset(big, 'x', 119999);
	memcpy(big, "KEEP_BIG=", 9);
	big[119999] = 0;
	env[n++] = big;
	env[n++] = "no-equals-SECRET";
	env[n++] = "=SECRET";
	env[n++] = "A NAME=SECRET";
	env[n++] = "KEEP_TWICE=2";
	env[n++] = "KEEP_LAST=last";
	env[n++] = "KEEP_NL=a\nSECRET_X=b";
	env[n++] = "KEEP_OUT_1=SECRET";
	env[n] = NULL;
	execve(argv[1], argv + 1, env);
	return 99;
}
EOF
gcc -w -o "$dir/odd-env" "$dir/odd-env.c"; chmod 755 "$dir/odd-env"
out=$(cd "$work" && as_user "$dir/odd-env" "$sbx_exec" "$dir/env.sbx" -- env -0 2>&1 </dev/null | tr '\0' '\1' | sed 's/\x01/\x01\n/g')
no_output 'SECRET_1=' 'none of 3,000 passes'; no_output 'SECRET_2999' '... not the last either'
no_output KEEP_TWICE 'a name given twice is dropped'
no_output no-equals 'an entry without = is dropped'; no_output 'A NAME' '... and one with a blank'
output 'KEEP_LAST=last' 'what comes after 120 KB is passed'
output 'KEEP_BIG=xxx' 'and the 120 KB'
no_output KEEP_OUT 'a deny beats the pattern that passes'

case_ 'ENV-05 and SYS-03 nothing in argv or in process 1'
(cd "$work" && as_user env SEKRET=leak-me "$sbx_exec" "$dir/env.sbx" -- sleep 2) &
sleep 0.7
not 'a set value is in no command line of the host' grep -aqs s3cr3t-value /proc/[0-9]*/cmdline
wait $!
out=$(cd "$work" && as_user env SEKRET=leak-me "$sbx_exec" "$dir/env.sbx" -- sh -c \
	'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\0" "\n" | grep -c -e "[S]EKRET=" -e "[l]eak-me"' 2>&1)
equal 0 "$out" 'no process inside has what was stripped'

case_ 'FD-01 and FD-03 descriptors'
echo INHERITED >"$home/key"; own "$home"
out=$(cd "$work" && as_user sh -c "exec 7<$home/key; cat <&7" 2>&1); output INHERITED 'control: an inherited descriptor reads it'
out=$(cd "$work" && as_user sh -c "exec 7<$home/key; exec $sbx_exec $dir/env.sbx -- sh -c 'cat <&7; ls /proc/self/fd'" 2>&1 </dev/null)
no_output INHERITED 'it is closed inside'
equal '0 1 2 3' "$(grep -o '^[0-9]*$' <<<"$out" | tr '\n' ' ' | sed 's/ $//')" '... only 0 1 2, and the one of ls'
cat >"$dir/sock.py" <<'EOF'
import os, socket, sys
a, b = socket.socketpair()
os.dup2(b.fileno(), 5)
os.set_inheritable(5, True)
os.execv(sys.argv[1], sys.argv[1:])
EOF
run_in "$work" python3 "$dir/sock.py" "$sbx_exec" "$dir/env.sbx" -- sh -c 'echo x >&5'; status 2 'an inherited socket is closed'
policy passfd <<'EOF'
process { pass fd 7 }
EOF
out=$(cd "$work" && as_user sh -c "exec 7<$home/key 8<$home/key; exec $sbx_exec $dir/passfd.sbx -- sh -c 'cat <&7; cat <&8'" 2>&1 </dev/null)
output INHERITED 'pass fd hands one on'; output 'Bad file descriptor' '... and no other'
rig=std/rig-alone policy passfd-everywhere <<'EOF'
process { pass fd 7; share signals attributes compat "they are not what is asked here" }
limits { wall-time 1h }
EOF
for name in bwrap landlock; do # with the launcher beside it: a wall-time is waited for
	out=$(cd "$work" && as_user sh -c "exec 7<$home/key; exec $sbx_exec --backend $name $dir/passfd-everywhere.sbx -- sh -c 'cat <&7'" 2>&1 </dev/null)
	output INHERITED "pass fd hands one on ($name)"
done
out=$(cd "$work" && as_user sh -c "$sbx_exec $dir/passfd.sbx -- true" 2>&1 </dev/null); output 'descriptor 7 is not open' 'pass fd of one that is not open stops'
out=$(cd "$work" && as_user sh -c "exec 7</; $sbx_exec $dir/passfd.sbx -- true" 2>&1 </dev/null); output 'a directory' 'pass fd of a directory stops'

case_ 'standard streams'
out=$(cd "$work" && as_user sh -c "$sbx_exec $dir/env.sbx -- python3 -c 'import os; print(os.open(\"etc/shadow\", os.O_PATH, dir_fd=0))' </" 2>&1)
status=$?; output 'standard input is a directory' 'a directory as standard input'
out=$(cd "$work" && as_user sh -c "$sbx_exec $dir/env.sbx -- true </dev/zero" 2>&1); output 'a device' 'a device as standard input'
out=$(cd "$work" && as_user sh -c "$sbx_exec $dir/env.sbx -- sh -c 'echo fine; ls -l /proc/self/fd' <&- 2>&-" 2>&1); output fine 'closed ones become /dev/null'
out=$(cd "$work" && as_user python3 -c "
import os,sys
fd=os.open('/', os.O_PATH); os.dup2(fd,0)
os.execv('$sbx_exec',['sbx-exec','$dir/env.sbx','--','true'])" 2>&1); output 'O_PATH' 'an O_PATH descriptor'
as_user sh -c "echo keep >$home/log"
out=$(cd "$work" && as_user sh -c "$sbx_exec $dir/env.sbx -- sh -c 'true >/proc/self/fd/1; echo line' >>$home/log" 2>&1)
ok 'a log opened for appending cannot be opened again and cut' grep -q keep "$home/log"
ok '... but written' grep -q line "$home/log"

case_ 'CWD-01 directory'
policy nocwd 'workspace ~/e2e' <<'EOF'
EOF
run_in / "$sbx_exec" "$dir/nocwd.sbx" -- pwd; status 125 'a directory that is not shown'; output 'not visible' '... says so'
policy tmpdir <<'EOF'
fs { tmp /tmp }
EOF
mkdir -p "$work/gone"; own "$work"
out=$(cd "$work/gone" && as_user sh -c "rmdir $work/gone; $sbx_exec $dir/plain.sbx -- pwd" 2>&1); output 'is gone' 'a directory that was removed'
case_ 'CWD-02 through a link'
mkdir -p "$home/real"; ln -sfn "$home/real" "$dir/link"; own "$home"
policy pwd <<'EOF'
env { pass PWD }
EOF
out=$(cd "$dir/link" && as_user env PWD="$dir/link" "$sbx_exec" "$dir/pwd.sbx" -- sh -c 'pwd; pwd -P; echo "$PWD"; touch f; cd ..; ls -a' 2>&1 </dev/null)
equal "$home/real $home/real $home/real" "$(head -n 3 <<<"$out" | tr '\n' ' ' | sed 's/ $//')" 'pwd, pwd -P and PWD agree on the real one'
ok 'a write lands there' test -f "$home/real/f"
run_in "$dir" "$sbx_exec" --workspace "$home/real" "$dir/plain.sbx" -- pwd; output "$home/real" '--workspace: the working directory moves'
output 'working directory' '... and that is said'
below=$(mktemp -d /tmp/sbx-e2e.XXXXXX) && own "$below"
run_in "$below" "$sbx_exec" "$dir/tmpdir.sbx" -- sh -c 'pwd; touch f; ls -A /tmp; touch /tmp/private'
status 0 'a workspace below a private /tmp'; ok '... is the real one' test -f "$below/f"
not '... and /tmp is not' test -e /tmp/private
rm -rf "${below:?}"

case_ 'SYS the kernel its files'
fresh
for place in /tmp /var/tmp /dev/shm /run/lock /dev/mqueue; do
	[ -d $place ] && sbx plain sh -c "echo x >$place/sbx-e2e-$$-mark"
	not "SYS-01 no mark in $place" test -e "$place/sbx-e2e-$$-mark"
done
sbx plain sh -c 'mkdir /sys/fs/cgroup/x; echo x >/proc/sysrq-trigger; echo x >/proc/sys/kernel/core_pattern; cat /proc/kcore; ls /proc/1/root; head -c1 /proc/1/mem; ls -l /proc/1/fd; cat /proc/1/environ; echo done'
output done 'SYS-05'
no_output 'core_pattern: directory' '.'
sbx plain sh -c 'echo x >/proc/sys/kernel/core_pattern'; status 2 'SYS-05 /proc/sys is read-only'
sbx plain sh -c 'head -c1 /proc/1/mem'; output 'Permission denied' 'process 1 cannot be read'
sbx plain python3 -c 'open("/proc/1/mem","r+b")'; output 'Permission' '... nor written'
sbx plain sh -c 'ls -l /proc/1/fd'; output 'Permission denied' '... nor its descriptors seen'
sbx plain sh -c 'ps ax | wc -l'; not 'SYS-06 no process of the host is seen' test "$out" -gt 8
sbx plain sh -c 'kill -9 1; sleep 0.1; echo alive'; output alive 'process 1 is not killed from inside'
sbx plain sh -c 'grep -e Cap -e NoNewPrivs -e Seccomp: /proc/self/status'
output 'CapEff:	0000000000000000' 'no capability'; output 'CapBnd:	0000000000000000' '... none to be had'
output 'NoNewPrivs:	1' 'no new privileges'; output 'Seccomp:	2' 'a filter'
sbx plain sh -c 'touch /x /usr/x /dev/x; mount -t tmpfs x /mnt; unshare -Urm true; echo "status $?"'
no_output 'status 0' 'no mount, no namespace'
sbx plain sh -c 'ls /home /root /var /etc/shadow 2>&1; cat /etc/hostname'; no_output "$TESTUSER
" 'nothing of home is there'
sbx plain python3 -c 'import socket; s=socket.socket(); s.settimeout(2); s.connect(("1.1.1.1",53))'; status 1 'no network'
if [ "${BACKEND-}" != firejail ]; then # which is not for root
chown root "$work"
out=$(cd "$work" && "$sbx_exec" "$dir/plain.sbx" -- sh -c 'id -u; grep CapEff /proc/self/status; echo x >/proc/sys/kernel/core_pattern; cat /etc/shadow; echo w >w && echo wrote' 2>&1 </dev/null)
output 'CapEff:	0000000000000000' 'as root: no capability'; output wrote '... and it works'
no_output 'root:' '... without the shadow file'
fi
own "$work"

case_ 'limits'
# Where they are counted for the user as a whole, they are not ours to limit.
processes='best-effort'
[ "${BACKEND-}" = firejail ] || processes=
policy limits <<EOF
limits { memory 1G; processes 40 $processes; cpus 1; open-files 64; file-size 1M; core-size 0; wall-time 3s }
EOF
fresh
sbx limits sh -c 'ulimit -n; ulimit -c; ulimit -d; nproc'; output '64
0
1048576
1' 'as the policy says'
sbx limits python3 -c 'b=bytearray(2<<30)'; output MemoryError 'memory'
sbx limits python3 -c 'open("big","wb").write(b"x"*(2<<20))'; not 'file size' test "$status" = 0
[ "$processes" ] || sbx limits python3 -c '
import os,time
n=0
try:
    for i in range(100):
        if os.fork()==0: time.sleep(2); os._exit(0)
        n+=1
except OSError: print("stopped at", n)'; [ "$processes" ] || output 'stopped at 3' 'processes'
sbx limits sleep 20; status 124 'wall-time'; output 'wall-time of 3 s' '... says so'
sbx plain sh -c 'ulimit -Sn'; equal "$(as_user sh -c 'ulimit -Sn')" "$out" 'the caller its own limit on open files is left alone'

case_ 'orphans end with the session'
fresh
sbx plain sh -c 'setsid sh -c "sleep 1; echo late >late" >/dev/null 2>&1 & exit 0'
sleep 1.5
not 'a daemon started inside is gone' test -e "$work/late"

case_ 'terminal none'
policy noterm <<'EOF'
process { terminal none }
EOF
sbx noterm python3 -c 'import os; os.openpty()'; status 1 'no pty'
sbx plain python3 -c 'import os; print(os.openpty())'; status 0 'TTY-06 by default there are'
sbx plain script -qc 'echo in-script' /dev/null; output in-script '... script(1) works'

case_ 'parameters'
policy param <<'EOF'
param state path = ~/e2e/state under ~/e2e
param jobs int = 4 max 8
param mode string = a in a b
fs { write $state create }
env { set JOBS "$jobs"; set MODE "$mode" }
EOF
run_in "$work" "$sbx_exec" "$dir/param.sbx" -- sh -c 'echo $JOBS $MODE'; output '4 a' 'defaults'
run_in "$work" "$sbx_exec" -D jobs=8 -D mode=b -D "state=$home/other" "$dir/param.sbx" -- sh -c "echo \$JOBS \$MODE; touch $home/other/f"; output '8 b' 'values given'; status 0 '... a path too'
run_in "$work" "$sbx_exec" -D jobs=9 "$dir/param.sbx" -- true; status 125 'more than max'
run_in "$work" "$sbx_exec" -D mode=c "$dir/param.sbx" -- true; status 125 'not in the list'
run_in "$work" "$sbx_exec" -D state=/etc "$dir/param.sbx" -- true; status 125 'a path elsewhere'
run_in "$work" "$sbx_exec" -D "state=$home/../../../etc" "$dir/param.sbx" -- true; status 125 '... by ..'
ln -sfn /etc "$home/to-etc"; own "$home"
run_in "$work" "$sbx_exec" -D "state=$home/to-etc" "$dir/param.sbx" -- true; status 125 '... by a link'
mkdir -p "$home/state/deep" && ln -sfn "$home/to-etc" "$home/state/deep/link"; own "$home"
run_in "$work" "$sbx_exec" -D "state=$home/state/deep/link/ssl" "$dir/param.sbx" -- true; status 125 '... by a link below it'
run_in "$work" "$sbx_exec" -D "state=$home/state/../state" "$dir/param.sbx" -- true; status 125 '.. in a path, wherever it leads'
run_in "$work" "$sbx_exec" -D "state=$home/state//" "$dir/param.sbx" -- true; status 0 'a slash at the end is none'
run_in "$work" "$sbx_exec" -D nope=1 "$dir/param.sbx" -- true; status 125 'no such parameter'
rm -rf "$home/state" "$TESTHOME/kept" && mkdir "$TESTHOME/kept" && ln -s "$TESTHOME/kept" "$home/state"; own "$home"; own "$TESTHOME/kept"
run_in "$work" "$sbx_exec" "$dir/param.sbx" -- touch "$home/state/f"; status 0 'the default, which leads elsewhere by a link'
run_in "$work" "$sbx_exec" -D "state=$home/state" "$dir/param.sbx" -- touch "$home/state/f"; status 0 '... given as well, as a job is'
rm -rf "$home/state" "$TESTHOME/kept"

policy part <<'EOF'
param name string = one
param note string = "a/b"
fs { read ~/e2e/parts/$name optional; read ~/e2e/parts/x-$name.txt optional; seal ~/e2e/parts/shut except ~/e2e/parts/shut/$name }
env { set NOTE "$note" }
EOF
mkdir -p "$home/parts/one" "$home/parts/two"; echo ONE >"$home/parts/one/f"; echo TWO >"$home/parts/two/f"; echo OUT >"$home/f"; own "$home"
run_in "$work" "$sbx_exec" -D name=two "$dir/part.sbx" -- sh -c "cat $home/parts/*/f $home/f $home/parts/two/f"
output TWO 'a text as a component'; no_output OUT '... opens that one'
for value in .. . '' ../.. two/../.. /etc a/b ../; do
	run_in "$work" "$sbx_exec" -D "name=$value" "$dir/part.sbx" -- sh -c "cat $home/f"
	status 125 "... but not '$value'"; no_output OUT '... which opens nothing'
done
run_in "$work" "$sbx_exec" -D note=/x/../y "$dir/part.sbx" -- sh -c 'echo "$NOTE"'; output /x/../y 'outside of paths a text is what it is'

case_ 'repositories'
policy repo <<'EOF'
import std/git
EOF
fresh
as_user git init -q "$work"
as_user git -C "$work" config user.email a@b
as_user git -C "$work" config user.name n
sbx repo sh -c 'echo x >f && git add f && git commit -qm one && git log --oneline'; output one 'commit works'
sbx repo sh -c 'echo evil >.git/hooks/pre-commit; git config core.pager evil'; not 'a hook cannot be made' test -e "$work/.git/hooks/pre-commit"
ok '... nor the configuration changed' sh -c "! grep -q evil $work/.git/config"
mkdir "$dir/w$count.wt"; own "$dir/w$count.wt"
as_user git -C "$work" worktree add -q "$dir/w$count.wt"
run_in "$dir/w$count.wt" "$sbx_exec" "$dir/repo.sbx" -- sh -c 'echo y >g && git add g && git commit -qm two && git log --oneline'; output two 'a linked worktree too'
run_in "$dir/w$count.wt" "$sbx_exec" "$dir/repo.sbx" -- sh -c 'git fetch -q . HEAD:refs/heads/copy && git log --oneline copy'; output two 'GIT-03 fetch in it'
rm -rf "$dir/bare.git"
as_user git clone -q --bare "$work" "$dir/bare.git" 2>/dev/null || { mkdir "$dir/bare.git"; own "$dir/bare.git"; as_user git clone -q --bare "$work" "$dir/bare.git"; }
mkdir "$dir/w$count.bt"; own "$dir/w$count.bt"
as_user git -C "$dir/bare.git" worktree add -q "$dir/w$count.bt"
run_in "$dir/w$count.bt" "$sbx_exec" "$dir/repo.sbx" -- sh -c 'git config --get user.name; echo z >h && git add h && git -c user.name=n -c user.email=a@b commit -qm three && git log --oneline'
output three '... a worktree of a bare repository'
where=$dir/w$count.wt
back=$(sed 's/^gitdir: //' "$where/.git")
run_in "$where" python3 -c "import os; open('.git','w').write('gitdir: '+os.path.relpath('$back')+'\n')"
run_in "$where" "$sbx_exec" "$dir/repo.sbx" -- sh -c 'echo w >i && git add i && git commit -qm four && git log --oneline'; output four '... named by a relative path'
evil='mkdir -p evil && printf "[core]\n\tfsmonitor = touch PWNED\n" >evil/config
	for c in "cp evil/x .git" "mv evil/x .git" "rm -f .git" "mv .git g" "ln -f evil/x .git" "ln -sfn evil .git"; do
		echo "gitdir: ./evil" >evil/x; $c; done; echo "gitdir: ./evil" >.git'
for pol in repo plain; do
	mkdir "$dir/bare-wt"; echo "gitdir: $back" >"$dir/bare-wt/.git"; own "$dir/bare-wt"
	run_in "$dir/bare-wt" sh -c "${evil/ln -sfn evil .git/true}"; equal 'gitdir: ./evil' "$(cat "$dir/bare-wt/.git")" 'control: a .git file can be rewritten outside'
	rm -rf "$dir/bare-wt"
	sum=$(cat "$where/.git")
	run_in "$where" "$sbx_exec" "$dir/$pol.sbx" -- sh -c "$evil"
	equal "$sum" "$(cat "$where/.git")" "a .git file stays as it is, under policy $pol"
	ok '... a file' test -f "$where/.git" -a ! -L "$where/.git"
	rm -rf "$where/evil" "$where/g"
done
fresh
as_user git init -q "$home/victim"; echo "gitdir: $home/victim/.git" >"$work/.git"; own "$work"
sbx repo sh -c "echo x >$home/victim/.git/evil"; not 'a planted .git file opens no other repository' test -e "$home/victim/.git/evil"
status 125 '... it stops the launch'
for target in "$home/.ssh" "../../$(basename "$dir")/w1/.git/worktrees/x" "$dir/w$((count - 1))/.git/worktrees/w$((count - 1)).wt"; do
	echo "gitdir: $target" >"$work/.git"; own "$work"
	sbx repo sh -c 'echo ran'; status 125 "GIT-03 .git rewritten to $(basename "$target") is refused"; no_output ran '... before anything runs'
done
rm "$work/.git"
