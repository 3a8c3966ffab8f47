# What the outer stage does while the program runs, and after it: nobody runs on,
# masks come back, sessions leave each other alone, and one line says what happened.

policy sgit <<'END'
import std/git
END
policy sreads <<'END'
fs { read $home/.local }
END
policy sloose <<'END'
fs { deny write $gitdir/hooks $workspace/.mcp.json }
END
policy sprot <<'END'
import std/git
fs {
    deny write $workspace/.mcp.json $workspace/.vscode
    deny write $workspace/.envrc placeholder file
    deny $workspace/secret
}
END
# What landlock can hold alone, or need not.
rig=std/rig-without-proc policy sland <<'END'
fs { deny write $workspace/.envrc $workspace/.mcp.json $workspace/tasks best-effort }
process { share attributes compat "t" }
END
sessions=$TESTHOME/.local/state/sbx/sessions
records() { find "$sessions" -name 'session-*' 2>/dev/null | wc -l; }
git_at() { as_user git -C "$work" -c user.email=a@b -c user.name=n "$@"; }
repository() { fresh; git_at init -q .; git_at commit -qm x --allow-empty; }
await() { for _ in $(seq 100); do [ -e "$1" ] && return; sleep 0.05; done; }
# A session in the background that runs a python program in $work; then `ended`.
began() { # POLICY PROGRAM
	rm -f "$work/ready"
	(cd "$work" && exec setpriv --reuid "$TESTUID" --regid "$TESTUID" --init-groups env -i HOME="$TESTHOME" \
		PATH=/usr/bin:/bin "$sbx_exec" "$dir/$1.sbx" -- python3 -c "$2") >"$dir/session.out" 2>&1 </dev/null &
	session=$!
	await "$work/ready"
}
ended() { wait "$session"; status=$?; out=$(cat "$dir/session.out"); }
wake() { for pid in $(pgrep -u "$TESTUID" -f "sleep $1\$"); do kill -9 "$pid"; done; }
asleep() { pgrep -u "$TESTUID" -f "sleep $1\$" | wc -l; }

case_ 'nobody runs on'
for backend in bwrap landlock; do
	fresh
	sbx_with "--backend $backend" "$([ $backend = bwrap ] && echo plain || echo sland)" \
		sh -c '(setsid sleep 4711 & ) ; sleep 4711 & setsid sh -c "sleep 1; echo x >late" & echo started; exit 3'
	status 3 "$backend: the session ends with the program"
	equal 0 "$(asleep 4711)" "$backend: daemons and orphans with it"
	run_in "$work" prlimit --nproc=150 "$sbx_exec" --backend $backend \
		"$dir/$([ $backend = bwrap ] && echo plain || echo sland).sbx" -- python3 -c '
import os, time
if os.fork() == 0:
    os.setsid()
    while True:
        try: os.fork()
        except OSError: pass
time.sleep(0.3)'
	equal 0 "$(pgrep -u "$TESTUID" -f 'os.setsid' | wc -l)" "$backend: a fork bomb too"
	not "$backend: and nothing was done later" test -e "$work/late"
done
bare sh -c 'setsid sleep 4712 >/dev/null 2>&1 & exit 0'; equal 1 "$(asleep 4712)" 'control: without a sandbox a daemon stays'
wake 4712
run_in "$work" sh -c "sleep 4713 >&- 2>&- & exec $sbx_exec --backend landlock $dir/sland.sbx -- sh -c 'setsid sleep 4714 & echo x'"
equal 1 "$(asleep 4713)" 'a child that the caller had is left alone'; equal 0 "$(asleep 4714)" '... and only that'
wake 4713
# Whatever they look like: confined, or below a backend of their own.
for backend in bwrap landlock $([ "$(firejail_obstacle)" ] || echo firejail); do
	fresh; asked=sland; [ $backend = bwrap ] && asked=plain
	run_in "$work" sh -c "for before in 'bwrap --ro-bind / / --dev /dev sleep 4713' 'setpriv --no-new-privs sleep 4713' 'setpriv --no-new-privs setsid -f sleep 4713' '$sbx_exec -q --backend landlock $dir/sland.sbx -- sleep 4713'; do \$before >&- 2>&- & done; sleep 0.5
		exec $sbx_exec -q --backend $backend $dir/$asked.sbx -- sh -c '(setsid sleep 4714 &) ; sleep 4714 & :'"
	equal 4 "$(pgrep -u "$TESTUID" -x sleep -a | grep -c 4713)" "$backend: children that the caller had are left alone"; equal 0 "$(asleep 4714)" "... and only those"; wake 4713
done

case_ 'a supervisor that is killed'
for backend in bwrap landlock; do
	fresh
	(cd "$work" && exec setpriv --reuid "$TESTUID" --regid "$TESTUID" --init-groups env -i HOME="$TESTHOME" \
		"$sbx_exec" --backend $backend "$dir/$([ $backend = bwrap ] && echo plain || echo sland).sbx" -- sh -c 'echo >ready; sleep 4715 & exec sleep 4716') 2>/dev/null &
	session=$!; await "$work/ready"; sleep 0.1; kill -9 $session; wait $session 2>/dev/null; sleep 0.2
	equal 0 "$(asleep 4716)" "$backend: the program ends"
	if [ $backend = bwrap ]; then
		equal 0 "$(asleep 4715)" '... and all that it started'
	else
		for pid in $(pgrep -u "$TESTUID" -f 'sleep 4715$'); do
			ok '... what it started runs on, confined' grep -q '^Seccomp:.*2' "/proc/$pid/status"
		done
		wake 4715
	fi
done

case_ 'a backend that hangs'
fresh
for way in 'sleep 4717' 'trap "" TERM HUP INT; sleep 4717 & sleep 4717'; do
	printf '#!/bin/bash\n%s\n' "$way" >"$fakes/bwrap"; chmod 755 "$fakes/bwrap"
	run_in "$work" "$sbx_fake" --backend bwrap "$dir/plain.sbx" -- true
	status 125 "ends the launch ($way)"; output 'did not start the program' '... which is said'; output '--backend' '... with a remedy'
	equal 0 "$(asleep 4717)" '... and nothing of it is left'
done
rm -f "${fakes:?}"/*

case_ 'a signal to sbx-exec'
# Each that would end it: the program gets it, or nobody does, and nothing stays.
for signal in ABRT ALRM BUS FPE HUP ILL INT IO PIPE PROF PWR QUIT RTMAX RTMIN SEGV STKFLT SYS TERM TRAP USR1 USR2 VTALRM XCPU XFSZ; do
	[ -d "${work:-/nowhere}/.git" ] || repository
	began sgit 'import time; open("ready","w").close(); time.sleep(0.3)'
	kill -s $signal "$session"; ended
	case $status in 0 | $((128 + $(kill -l $signal)))) pass "$signal: $status" ;; *) fail "$signal: $status" "$out" ;; esac
	equal '0 ' "$(records) $(cd "$work" && ls .git/commondir .git/config.worktree .git/info/attributes 2>/dev/null)" "$signal: nothing stays"
	rm -f "$work/ready"
done
for backend in bwrap landlock; do
	fresh; asked=plain; [ $backend = landlock ] && asked=sland
	before=$(find "$TESTHOME/.local/state/sbx" "$work" | sort)
	sbx_with "--backend $backend" $asked true; status 0 "$backend: control"
	for most in 0 1 100; do
		run_in "$work" bash -c "ulimit -f $most; exec $sbx_exec --backend $backend $dir/$asked.sbx -- true"
		status 125 "$backend: files of $most KiB at most"; output 'ulimit -f' '... which is said'
		equal "$before" "$(find "$TESTHOME/.local/state/sbx" "$work" | sort)" '... and nothing stays'
	done
	run_in "$work" bash -c "ulimit -St 1; exec timeout 20 $sbx_exec --backend $backend $dir/$asked.sbx -- sh -c 'trap \"trap \\\"exit 9\\\" XCPU\" XCPU; while :; do :; done'"
	case $status in 9 | 137 | 152) pass "$backend: ulimit -t" ;; *) fail "$backend: ulimit -t: $status" "$out" ;; esac
	equal "$before" "$(find "$TESTHOME/.local/state/sbx" "$work" | sort)" '... and nothing stays'
done

case_ 'the mode of the terminal'
for backend in bwrap landlock $([ "$(firejail_obstacle)" ] || echo firejail); do
	fresh; asked=sland; [ $backend = bwrap ] && asked=plain
	run_in "$work" python3 -c '
import os, pty, subprocess, sys
master, slave = pty.openpty()
os.fchmod(slave, 0o600)
inside = "import os; os.fchmod(0, 0o666); print(oct(os.fstat(0).st_mode))"
print(subprocess.run(sys.argv[1:] + ["python3", "-c", inside], stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout)
print("mode", oct(os.fstat(slave).st_mode))' "$sbx_exec" -q --backend $backend "$dir/$asked.sbx" --
	[ $backend = bwrap ] || output 0o20666 "$backend: control: the program changes it"
	output 'mode 0o20600' "$backend: it is as it was"
done

case_ 'a mask that the host lifts'
# Tries to write without pause; says how long it could, in milliseconds, and how
# often that began.  "+": also to make it, where it is missing.
poll='
import os, time, sys
def can(path):
    try:
        if path.endswith("/"):
            os.close(os.open(path + "x", os.O_WRONLY | os.O_CREAT)); os.unlink(path + "x")
        else:
            os.close(os.open(path.lstrip("+"), os.O_WRONLY | (os.O_CREAT if path[0] == "+" else 0)))
        return True
    except OSError:
        return False
path = PATH
open("ready", "w").close()
end, longest, since, times = time.time() + 0.5, 0, None, 0
while time.time() < end:
    if can(path):
        if since is None: since, times = time.time(), times + 1
        longest = max(longest, time.time() - since)
    else: since = None
print("open %d ms, %d times, now %s" % (longest * 1000, times, "open" if since else "closed"))'
# The host does it while that runs.  A machine that is busy with something else is
# given a second chance.
lifted() { # POLICY PATH WHAT COMMAND...
	local policy=$1 path=$2 what=$3 ms=999; shift 3
	for _ in 1 2 3; do
		[ -d "$work.old" ] && rm -rf "$work" && cp -a "$work.old" "$work"
		[ -d "$work.old" ] || cp -a "$work" "$work.old"
		began "$policy" "PATH = '$path'$poll"; sleep 0.1
		(cd "$work" && as_user "$@") >"$dir/host" 2>&1 || fail "$what: the host's command" "$(cat "$dir/host")"
		ended
		ms=${out#*open }; ms=${ms%% ms*}
		[ "$ms" -gt 50 ] || break
	done
	output 'now closed' "$what: $path is closed again"
	if [ "$ms" -le 50 ]; then pass "... within 50 ms ($ms)"; else fail "... within 50 ms: $ms" "$out"; fi
	output 'protected again' '... which is said'
	output 'lifted while it ran: ' '... at the end too'
}
repository; lifted sgit .git/config 'git config' git config core.y 2
equal 2 "$(git_at config core.y)" '... and the host has what it wanted'
repository; lifted sgit .git/config 'an editor that saves' sh -c 'cp .git/config .git/config~; echo "#" >>.git/config~; mv .git/config~ .git/config'
repository; mkdir "$work/.git/hooks.new"; own "$work"
lifted sgit .git/hooks/ 'rm -rf and mkdir' sh -c 'rm -rf .git/hooks && mkdir .git/hooks'
repository; echo 1 >"$work/.mcp.json"; own "$work"; git_at add .mcp.json; git_at commit -qm 1; git_at switch -qc other; echo 2 >"$work/.mcp.json"; git_at commit -qam 2
lifted sprot .mcp.json 'git checkout' git checkout -q -
equal 1 "$(cat "$work/.mcp.json")" '... which came through'
repository; lifted sgit .git/config 'the whole of .git' sh -c 'cp -r .git y; mv .git x; mv y .git'
printf 'import os\nos.link(".git/config", "x"); os.unlink(".git/config"); os.rename("x", ".git/config")\n' >"$dir/relink.py"; chmod 644 "$dir/relink.py"
repository; lifted sgit .git/config 'another link of the same file' python3 "$dir/relink.py"
repository; chmod 333 "$work/.git"; lifted sgit .git/config 'in a directory that is closed to reading' git config core.y 2
repository; lifted sprot +.envrc 'a placeholder removed, which the program makes itself' rm .envrc
repository; lifted sprot .envrc 'a placeholder removed' rm .envrc
not '... and it is gone at the end' test -e "$work/.envrc"
equal '' "$(git_at status --short | grep -v ready)" '... git sees nothing'
policy slink <<'END'
fs { deny write $workspace/deep/er/none }
END
on_the_way() { fresh; (cd "$work" && mkdir -p other/er new/er && echo fine >other/file && "$@"); own "$work"; }
on_the_way ln -s other deep
lifted slink +deep/er/none 'a link on the way that makes room for a directory' sh -c 'rm deep && mv new deep'
on_the_way ln -s other deep
lifted slink +deep/er/none 'a link on the way that leads elsewhere' sh -c 'ln -s new link && mv -T link deep'
on_the_way touch deep
lifted slink +deep/er/none 'a file on the way that makes room for a directory' sh -c 'rm deep && mv new deep'
on_the_way ln -s other deep
began slink 'import time; open("ready","w").close(); time.sleep(0.5); print(open("deep/file").read())'
bare sh -c 'ln -s other link && mv -T link deep'; ended; output fine 'a link that is made anew leads where it did'; output 'protected again' '... which is said'
repository; began sgit "PATH = '.git/config'$poll"
mv "$work" "$work.away"; as_user touch "$work.away/.git/x"; sleep 0.1; mv "$work.away" "$work"
git_at config core.y 2; ended; output 'now closed' 'after the workspace was away: closed again'; output 'protected again' '... which is said'
fresh; echo TREASURE >"$work/secret"; echo new >"$work/new"; own "$work"
began sprot 'import time; open("ready","w").close(); time.sleep(0.6); print(open("secret").read())'
bare mv new secret; ended; no_output new 'a hidden file that is replaced'; output 'Permission denied' '... is hidden again'
fresh; echo TREASURE >"$work/secret"; echo old >"$work/.mcp.json"; own "$work"
began sprot 'import time; open("ready","w").close(); time.sleep(0.6); print(open("secret").read())'
bare mv .mcp.json secret; sleep 0.2; bare sh -c 'echo new >>secret'; ended; no_output new 'a mask that came along with another file'; output 'Permission denied' '... is not taken for its own'
repository
began sprot 'import time; open("ready","w").close(); time.sleep(1.8)'
bare timeout 0.8 sh -c 'while :; do rm -f .envrc; sleep 0.002; done'; sleep 0.2; ok 'a placeholder that is removed before it is masked comes again' test -e "$work/.envrc"
ok '... and no descriptor stays open for each' test "$(ls "/proc/$session/fd" | wc -l)" -lt 35; ended
repository
(cd "$work" && as_user bash -mc "'$sbx_exec' '$dir/sgit.sbx' -- sh -c '(sleep 0.7; echo EVIL >>.git/config; sleep 0.3; echo over >over) & touch ready; kill -STOP \$\$; sleep 9' & until [ -e over ]; do sleep 0.1; done; kill -KILL \$!" >"$dir/host" 2>&1 </dev/null) &
for _ in $(seq 40); do [ -e "$work/ready" ] && break; sleep 0.05; done; sleep 0.2
git_at config core.y 4; wait $!; out=$(cat "$dir/host" "$work/.git/config")
output 'protected again' 'while the program has stopped, and sbx-exec with it'; no_output EVIL '... what it has started cannot write'
repository
began sgit 'import time; open("ready","w").close(); time.sleep(0.6)'
bare rm -rf .git/config; sleep 0.1; ok 'a file that is gone is stood in for' test -e "$work/.git/config"
ended; output 'protected again' '... and said'
repository
began sgit 'import os, time; open("ready","w").close(); [os.close(os.open("f%d" % i, os.O_CREAT)) or os.rename("f%d" % i, "g") for i in range(10000)]; print("done")'
for i in 1 2 3 4 5; do git_at config core.y $i; sleep 0.02; done; ended; output done 'with many other changes in the directory'
fresh
began sgit 'import time; open("ready","w").close(); time.sleep(0.4)'; bare sh -c 'mkdir a; touch b; mv b c; rm c'; ended
no_output 'protected' 'what is not protected is not spoken of'
repository; began sgit 'import time; open("ready","w").close(); time.sleep(0.5)'; bare rm -rf .git; as_user sh -c "ln -s / $work/.git" 2>/dev/null; ended
case $status in 0) output 'protected' 'a .git that is removed' ;; *) status 125 'a .git that leads elsewhere ends the session'; output 'session ended' '... which is said' ;; esac
policy sloop <<'END'
fs { deny write $workspace/.github/hooks }
END
fresh; as_user mkdir "$home/new"
began sloop 'import os, time; open("ready","w").close(); end = time.time() + 4
while time.time() < end:
    try: os.symlink(os.path.relpath(os.environ["HOME"] + "/e2e/new"), ".github")
    except OSError: pass'
for _ in $(seq 100); do rm -rf "$work/.github"; kill -0 "$session" 2>/dev/null || break; sleep 0.02; done; ended
status 125 'a link that the program puts in the way when the host removes the name: ended'
output 'could not be protected again: ' '... which is said'; output "$work/.github" '... with the name'; output 'look at what' '... and what to do'
equal 1 "$(grep -c 'session ended' <<<"$out")" '... in one line, after those of the times before'

case_ 'two sessions with different policies'
# The wider one: what it does to the names that the other masks.
attack='
import os
open("ready2", "w").close()
def attempt(what, call):
    try: call(); print("did", what)
    except OSError as e: print("not", what)
attempt("rmdir", lambda: os.rmdir(".mcp.json"))
attempt("rename", lambda: (os.rename(".git/config", "x"), os.rename("x", ".git/config")))
attempt("move", lambda: (os.rename(".git", "y"), os.rename("y", ".git")))
open("evil", "w").write("evil")
attempt("replace", lambda: os.rename("evil", ".git/config"))
attempt("write", lambda: open(".git/config", "a").write("#"))
attempt("secret", lambda: os.rename("secret", "z"))'
repository; echo s >"$work/secret"; mkdir "$work/.mcp.json"; own "$work"
sbx plain python3 -c "$attack"
for what in rmdir rename write secret; do output "did $what" "control: alone it can $what"; done
repository; echo s >"$work/secret"; own "$work"
began sprot 'import time; open("ready","w").close(); time.sleep(1.2)'
sbx_with -v plain python3 -c "$attack"; attacked=$out
ended
out=$attacked
for what in rmdir rename move replace write secret; do output "not $what" "the one that comes later cannot $what"; done
output 'held for another session' '... and -v says why'
repository; echo s >"$work/secret"; own "$work"
sbx_with '--backend landlock' sland true; no_output 'cannot hold' 'on landlock, alone, nothing is said'
began sprot 'import time; open("ready","w").close(); time.sleep(1.2)'
sbx_with '--backend landlock' sland python3 -c "$attack"; attacked=$out
sbx_with '-q --backend landlock' sland true; no_output 'cannot hold' '... nor under -q'
ended
out=$attacked; output 'did secret' 'on landlock it can'; output 'landlock cannot hold what session-' '... which one line says'
output "$work/" '... with a name'
repository; echo s >"$work/secret"; own "$work"
began plain "import time; open('ready','w').close(); time.sleep(0.7)$attack"; wide=$session; cp "$dir/session.out" "$dir/wide.out"; rm "$work/ready"
(cd "$work" && as_user "$sbx_exec" "$dir/sprot.sbx" -- python3 -c "
import time
open('ready','w').close(); time.sleep(1); seen = 0
for path in '.git/config', '.mcp.json/x', 'secret':
    try: open(path, 'a'); seen += 1; print('open', path)
    except OSError: pass
print('closed' if not seen else '')") >"$dir/strict.out" 2>&1
wait "$wide"; out=$(cat "$dir/strict.out")
output closed 'the one that was there first is undone'; output 'protected again' '... and that is said'
equal '' "$(cd "$work" && ls -d .mcp.json .envrc 2>/dev/null)" 'nothing is left'
equal 0 "$(records)" '... and no record'

case_ 'the last line'
repository; sbx sgit true; equal '' "$out" 'nothing, where nothing happened'
repository; echo 1 >"$work/.mcp.json"; own "$work"; git_at add .mcp.json; git_at commit -qm 1; git_at branch other; echo 2 >"$work/.mcp.json"; git_at commit -qam 2
sbx sprot git checkout -q other; output 'differ from HEAD: .mcp.json' 'a tracked file that git could not change'
git_at checkout -q -f master; git_at update-index --skip-worktree .mcp.json
sbx sprot git checkout -q other; output 'differ from HEAD: .mcp.json' '... nor where a flag hides it from git'
# Names and contents alone: no filter is run, and whatever git would run is not there (tests/escape/git-closing-*).
committed() { # FORMAT COMMAND...: a repository in which that was done and committed, and then a commit inside
	fresh; git_at init -q --object-format="$1"; as_user sh -c "cd $work; echo 1 >.mcp.json; mkdir tasks; $2"; git_at add -A; git_at commit -qm 1; as_user sh -c "cd $work; ${3:-true}"
	sbx shead git -c user.email=a@b -c user.name=n commit -qm z --allow-empty; status 0 "a commit inside: $2"
}
policy shead <<'EOF'
import std/git
fs { deny write $workspace/.mcp.json $workspace/tasks }
EOF
for format in sha1 sha256; do
	committed $format 'echo 1 >tasks/a; head -c 100000 /dev/zero >tasks/big; ln -s a tasks/link; : >tasks/empty; printf "1\r\n" >tasks/dos; printf "%055d" 1 >tasks/55'; equal '' "$out" "$format: all as in HEAD"
	for change in 'echo 2 >tasks/a' 'rm tasks/a' 'rm tasks/link; ln -s b tasks/link' 'rm tasks/link; echo -n a >tasks/link' 'rm tasks/a; ln -s empty tasks/a' 'echo >>tasks/big' 'mv tasks/a b; mkdir tasks/a'; do
		committed $format 'echo 1 >tasks/a; head -c 100000 /dev/zero >tasks/big; ln -s a tasks/link; : >tasks/empty' "$change"; output 'differ from HEAD: tasks' "... $change"; no_output mcp '... and nothing else'
	done
done
committed sha1 'printf "1\n" >tasks/dos' 'printf "1\r\n" >tasks/dos'; equal '' "$out" 'ends of lines as git may have written them'
committed sha1 'mkdir sub; echo 1 >sub/x' 'cd sub; echo 2 >../.mcp.json'; output 'differ from HEAD: .mcp.json' 'after all that, one name'
fresh; as_user mkdir -p "$work/main/sub"; top=$work; work=$work/main
git_at init -q; as_user sh -c "echo 1 >$work/sub/.mcp.json; echo 1 >$work/.mcp.json"; git_at add -A; git_at commit -qm 1; git_at worktree add -q ../linked 2>/dev/null
for work in "$top/main/sub" "$top/linked"; do
	as_user sh -c "echo 2 >$work/.mcp.json"; sbx shead env GIT_DISCOVERY_ACROSS_FILESYSTEM=1 git -c user.email=a@b -c user.name=n commit -qm z --allow-empty
	output 'differ from HEAD: .mcp.json' "below the top, and in a linked worktree: ${work#"$top"}"
done
repository; sbx_with -q sgit sh -c true; equal '' "$out" '-q: nothing'
repository; began sprot 'import time; open("ready","w").close(); time.sleep(0.3)'; bare sh -c 'echo x >n; mv n .envrc'; ended
output 'changed while it ran: .envrc' 'a file that the host made'; status 0 'the status is the program'"'"'s'
fresh; mkdir -p "$work/tasks/deep"; echo 1 >"$work/tasks/deep/a"; echo 1 >"$work/.envrc"; own "$work"
sbx_with '--backend landlock' sland true; no_output changed 'landlock: nothing'
sbx_with '--backend landlock' sland sh -c 'echo 1 >.envrc'; no_output changed '... the same content'
rm -rf "$work/.mcp.json"; sbx_with '--backend landlock' sland sh -c 'mkdir .mcp.json; echo 2 >.mcp.json/a; chmod +t .mcp.json'
output 'changed while it ran: .mcp.json (the host runs these)' '... also what is made to look like a placeholder'; rm -rf "$work/.mcp.json"
sbx_with '--backend landlock' sland sh -c 'echo 2 >tasks/deep/a; touch -d 2001-01-01 tasks/deep/a; echo 3 >.mcp.json; exit 9'
output 'changed while it ran: .mcp.json, tasks (the host runs these)' '... content, new files, in directories'; status 9 '... the status stays'
# Each name has bounds of its own; past them times tell, which nobody can set.
land() { sbx_with '--backend landlock' sland sh -c "$1"; }
deep() { printf 'd/%.0s' $(seq "$1"); } # LEVELS
fresh; as_user sh -c "mkdir $work/tasks; cd $work/tasks; seq 3000 | xargs touch"
land true; no_output compared 'a directory of 3,000 names: nothing is left out'
land 'echo 2 >.envrc'; output 'ran: .envrc (' '... what stands beside it is compared'
land 'echo 2 >tasks/2; : >tasks/2; touch -d 2001-01-01 tasks/2'; output 'ran: tasks (' '... and what is in it'
fresh; as_user sh -c "mkdir $work/tasks; truncate -s 20M $work/tasks/big"
land true; no_output tasks 'a big file: nothing'
land 'echo 1 | dd of=tasks/big bs=1 seek=9 conv=notrunc status=none; touch -d 2001-01-01 tasks/big'; output 'ran: tasks (' '... changed'
fresh; as_user mkdir -p "$work/tasks/$(deep 40)"
land "echo 1 >tasks/$(deep 40)x"; output 'ran: tasks (' '40 levels down'
fresh; as_user mkdir -p "$work/tasks/$(deep 300)" "$work/tasks/e"
land "echo 1 >tasks/$(deep 300)x; echo 2 >.mcp.json"; output 'not compared in full (too many names in it, or too deep): tasks' '300 levels down: said'; output 'ran: .mcp.json (' '... and hides nothing else'
land 'echo 1 >tasks/e/x'; output 'ran: tasks (' '... nor what stands beside it'
# The sticky bit makes a placeholder only of what is empty.
fresh; land 'echo evil >.envrc; chmod +t .envrc; mkdir tasks; chmod +t tasks'; output 'ran: .envrc (' 'a file that looks like a placeholder'
land 'echo worse >.envrc; echo x >tasks/x'; output 'ran: .envrc, tasks (' '... also one from before'
# A link is compared as what it is, too.
links() { fresh; as_user sh -c "cd $work; echo a >real; ln -s real .envrc; ln -s nope .mcp.json; mkdir o o2; ln -s o tasks"; }
for backend in landlock $([ "$(firejail_obstacle)" ] || echo firejail); do
	links; sbx_with "--backend $backend" sland true; no_output changed "$backend: links: nothing"
	sbx_with "--backend $backend" sland sh -c 'rm .envrc; echo evil >.envrc'; output 'ran: .envrc (' "$backend: a link becomes a file"; no_output outside '... by whom is not said'
	links; sbx_with "--backend $backend" sland sh -c 'rm .mcp.json; echo evil >.mcp.json'; output 'ran: .mcp.json (' '... one that led nowhere'
	sbx_with "--backend $backend" sland sh -c 'ln -sfn o2 tasks'; output 'ran: tasks (' '... one that leads elsewhere'
done

case_ 'the first process is stopped or killed'
for backend in landlock $([ "$(firejail_obstacle)" ] || echo firejail); do
	fresh
	sbx_with "--backend $backend" sland sh -c 'kill -9 $PPID; sleep 4719'; status 137 "$backend: killed from inside"
	output 'its first process was killed' '... which is said'; no_output outside '... and not by whom'; equal 0 "$(asleep 4719)" '... nobody runs on'
	run_in "$work" timeout -k 1 20 "$sbx_exec" --backend $backend "$dir/sland.sbx" -- sh -c 'kill -STOP $PPID; exit 7'; status 7 "$backend: stopped: it goes on once the program has ended"
done
# It may end between two of them: then the program's own status is right, and shows nothing.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	run_in "$work" timeout -k 1 20 "$sbx_exec" --backend landlock "$dir/sland.sbx" -- sh -c 'for i in 1 2 3; do (while kill -STOP $PPID; do :; done) & done; sleep 0.2; exit 7'
	[ "$status" = 7 ] || break
done
if [ "$status" = 7 ]; then
	skip 'stopped again and again: this machine is too busy to do it'
else
	status 137 'stopped again and again: the session is ended'; output 'first process was stopped' '... which is said'
fi

case_ 'records that cannot be opened'
policy sone <<'END'
fs { deny write $workspace/one }
END
fresh; touch "$work/one"; own "$work"; as_user mkdir -p "$sessions"
sbx sone true; status 0 'control'; equal '' "$out" '... without a word'
chmod 0 "${sessions%/*}"; sbx sone true; chmod 700 "${sessions%/*}"
status 0 'nothing needs them'; output 'what other sandboxes protect here is not known' '... but that is said'

case_ 'the records of the killed'
fresh; as_user mkdir -p "$sessions"
put="import struct,sys; open(sys.argv[1],'wb').write(struct.pack('<QQII',0,0,len(sys.argv[2]),2**32-1)+sys.argv[2].encode()+b'\\0')"
as_user python3 -c "$put" "$sessions/session-1-1" "$work/mine"; bare mkdir mine
sbx sgit true; ok 'a directory that the user made meanwhile stays' test -d "$work/mine"; equal 0 "$(records)" '... the record goes'
as_user python3 -c "$put" "$sessions/session-1-1" "$work/ours"; bare mkdir ours; chmod +t "$work/ours"
sbx sgit true; not 'what was ours does not' test -e "$work/ours"
as_user touch "$sessions/stray"; sbx sgit true; output 'stray is no record' 'a stray file is named'; rm "$sessions/stray"
as_user mkfifo "$sessions/session-2-2"; sbx sgit true; output 'session-2-2 is no record' 'also one that has the name'; rm "$sessions/session-2-2"
sbx sgit true; equal '' "$out" '... and then no more'

fresh; began sreads 'import fcntl, os, time
place = os.environ["HOME"] + "/.local/state/sbx/sessions/"
for name in os.listdir(place):
    try: fcntl.flock(os.open(place + name, os.O_RDONLY), fcntl.LOCK_EX)
    except OSError as e: print(e)
open("ready", "w").close(); time.sleep(1)'
fresh; run_in "$work" timeout 0.9 "$sbx_exec" "$dir/sprot.sbx" -- true; status 0 'who may read them cannot hold them against others'; ended

case_ 'many at once'
repository
for i in $(seq "${SESSIONS:-50}"); do
	name=$(set -- sgit sprot plain; shift $((i % 3)); echo "$1")
	(cd "$work" && as_user "$sbx_exec" -q "$dir/$name.sbx" -- sh -c "echo $i >out.$i" >"$dir/many.$i" 2>&1 </dev/null || echo "$i $name $? $(cat "$dir/many.$i")" >>"$dir/failed") &
done
wait
not "${SESSIONS:-50} sandboxes in one workspace" test -s "$dir/failed"
[ ! -s "$dir/failed" ] || head -n 5 "$dir/failed"
equal "${SESSIONS:-50}" "$(find "$work" -name 'out.*' | wc -l)" '... each did its work'
rm -f "$work"/out.*; equal '' "$(git_at status --short --ignored)" '... and nothing is left'
equal '' "$(cd "$work" && ls -d .mcp.json .vscode .envrc secret .git/commondir 2>/dev/null)" '... of placeholders either'
equal 0 "$(records)" '... and no record'

case_ 'killed at any time'
# By each backend in turn, after 0 to 20 ms.
cat >"$dir/kills.py" <<'END'
import os, random, signal, subprocess, sys, time
count, sbx, bwrap, landlock = int(sys.argv[1]), *sys.argv[2:5]
def survivors():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat("/proc/" + pid).st_uid != os.getuid() or int(pid) == os.getpid(): continue
            status = open(f"/proc/{pid}/status").read()
            name = open(f"/proc/{pid}/cmdline").read().replace("\0", " ")
        except OSError: continue
        if "State:\tZ" in status or not ("4718" in name or "sbx" in name or "bwrap" in name): continue
        if "kills.py" in name: continue
        confined = "Seccomp:\t2" in status and "NoNewPrivs:\t1" in status
        found.append(f"survivor {pid} {'confined' if confined else 'UNCONFINED'} {name}")
    return found
for i in range(count):
    backend, blob = (("bwrap", bwrap), ("landlock", landlock))[i % 2]
    p = subprocess.Popen([sbx, "-q", "--backend", backend, blob, "--", "sleep", "4718"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(random.random() * 0.02)
    p.kill()
    p.wait()
end = time.time() + 10
while (left := survivors()) and time.time() < end:
    time.sleep(0.05)
print(*left, f"survivors {len(left)}", sep="\n")
END
chmod 644 "$dir/kills.py"
repository
run_in "$work" python3 "$dir/kills.py" "${KILLS:-60}" "$sbx_exec" "$dir/sprot.sbx" "$dir/sland.sbx"
no_output UNCONFINED "after ${KILLS:-60} kills nothing runs unconfined"; output 'survivors 0' '... nothing at all'
left=$(records)
sbx plain true; status 0 "one more session, of another policy ($left records were left)"
equal 0 "$(records)" '... clears the records'
equal '' "$(git_at status --short --ignored)" 'git sees nothing'
equal '' "$(cd "$work" && ls -d .mcp.json .vscode .envrc secret .git/commondir .git/config.worktree 2>/dev/null)" 'no placeholder is left'

case_ 'SOCK-01 a tmp that is mounted again stays a place for sockets'
policy stmp <<'END'
fs { tmp $workspace/run }
END
fresh; mkdir "$work/run"; own "$work"
began stmp 'import os, socket, time
def reached():
    try: os.unlink("run/s")
    except OSError: pass
    a = socket.socket(socket.AF_UNIX); a.bind("run/s"); a.listen()
    with socket.socket(socket.AF_UNIX) as b:
        try: b.connect("run/s")
        except OSError as error: return error.strerror
    return "reached"
print("first", reached())
device = os.stat("run").st_dev
open("ready", "w").close()
end = time.time() + 5
while time.time() < end:
    try: now = os.stat("run").st_dev
    except OSError: now = device
    if now not in (device, os.stat(".").st_dev): break
    time.sleep(0.01)
time.sleep(0.1)
print("then", reached(), now != device)'
as_user sh -c "cd $work && mv run old && mkdir run"; ended
output 'first reached' 'before'; output 'then reached True' '... and after the host has replaced what it lay on'
