# Paths: masks, links, names, what is absent.

case_ 'PATH-01 a parent renamed away'
policy masks <<'EOF'
fs {
    deny write $workspace/.git/hooks
    deny write $workspace/.git/config  placeholder file
    deny       $workspace/secret
}
EOF
attack='mv .git .gm; mkdir -p .git/hooks; echo EVIL >.git/hooks/pre-commit; echo EVIL >.git/config'
fresh
mkdir -p "$work/.git/hooks" && echo good >"$work/.git/config" && own "$work"
bare sh -c "$attack"
ok 'control: it works outside' grep -q EVIL "$work/.git/hooks/pre-commit"
rm -rf "$work/.git" "$work/.gm"
mkdir -p "$work/.git/hooks" && echo good >"$work/.git/config" && own "$work"
sbx masks sh -c "$attack"
output 'Device or resource busy' 'the parent cannot be renamed'
not 'no hook appears' test -e "$work/.git/hooks/pre-commit"
equal good "$(cat "$work/.git/config")" 'the configuration is as it was'
sbx masks sh -c 'echo x >.git/x && mv .git/x .git/hooks/pre-commit; ln .git/x .git/hooks/a; ln -s x .git/hooks/b
	truncate -s 0 .git/config; rm -f .git/config; rmdir .git/hooks; echo ok >.git/index && echo wrote'
output wrote 'what is not denied is writable'
equal '' "$(ls "$work/.git/hooks")" 'PATH-03 nothing gets in by rename, link or symlink'
equal good "$(cat "$work/.git/config")" '... nor by truncation or removal'
sbx masks sh -c 'unshare -Urm sh -c "umount .git/hooks; umount .git"; umount .git/hooks; echo x >.git/hooks/h'
not 'a namespace inside does not lift a mask' test -e "$work/.git/hooks/h"

case_ 'MISS-01 absent at launch'
fresh
sbx masks sh -c 'mkdir -p .git/hooks; echo x >.git/hooks/h; echo x >.git/config; echo x >secret; cat secret; ls -A'
not 'no hook is made' test -e "$work/.git/hooks/h"
equal '' "$(ls -A "$work")" 'what stood in their place is gone at the end'
(cd "$work" && as_user "$sbx_exec" "$dir/masks.sbx" -- sh -c 'sleep 2; cat secret/key; echo "status $?"' >"$dir/later" 2>&1) &
sleep 1
as_user sh -c "echo HOSTKEY >$work/secret/key"
wait $!
out=$(cat "$dir/later"); no_output HOSTKEY 'what the host puts there later is not readable'
output 'status 1' '... the read fails'
rm -rf "$work/secret"

case_ 'placeholders'
fresh
(cd "$work" && as_user "$sbx_exec" "$dir/masks.sbx" -- sleep 30) 2>/dev/null &
launcher=$!
sleep 0.7
ok 'there while the session runs' test -d "$work/secret"
equal '' "$(cat "$work/.git/config")" 'of the kind and text that the rule says'
(cd "$work" && as_user "$sbx_exec" "$dir/masks.sbx" -- true)
ok 'another session that ends leaves them to the first' test -d "$work/secret"
real=$(pgrep -u "$TESTUSER" -f "^$sbx_exec $dir/masks.sbx -- sleep 30" | head -n 1)
kill -9 "$real"; wait "$launcher" 2>/dev/null
sleep 0.3
not 'a killed launcher takes its tree along' pgrep -u "$TESTUSER" -f '^sleep 30$'
ok 'and leaves them behind' test -d "$work/secret"
(cd "$work" && as_user "$sbx_exec" "$dir/masks.sbx" -- true)
equal '' "$(ls -A "$work")" 'the next session to end removes them'
(cd "$work" && as_user "$sbx_exec" "$dir/masks.sbx" -- sh -c 'echo mine >.git/index')
ok 'a parent in which something was made stays' test -f "$work/.git/index"
equal 'index' "$(ls -A "$work/.git")" '... without what stood there'
rm -rf "$work/.git"

case_ 'three sessions in one workspace'
session() { # NAME: one that runs until $dir/end.NAME exists, then writes
	rm -f "$dir/end.$1" "$dir/said.$1"
	(cd "$work" && as_user "$sbx_exec" "$dir/masks.sbx" -- sh -c 'echo up >up.$0; while [ ! -e stop.$0 ]; do sleep 0.05; done; \
		rm -f stop.$0 up.$0; mkdir -p .git/hooks secret/x; echo EVIL >.git/hooks/h; echo EVIL >.git/config; echo EVIL >secret/k; echo over' "$1" >"$dir/said.$1" 2>&1) &
	eval "pid_$1=$!"
	for _ in $(seq 100); do [ -e "$work/up.$1" ] && return; sleep 0.05; done
	fail "session $1 does not start" "$(cat "$dir/said.$1")"
}
finish() { # NAME
	as_user touch "$work/stop.$1"
	eval "wait \$pid_$1"
	equal over "$(tail -n 1 "$dir/said.$1")" "$order: session $1 runs to its end"
	not "$order: ... and wrote nothing" grep -rqs EVIL "$work/.git/hooks" "$work/.git/config" "$work/secret"
}
there() { ok "$order: what the others rely on stands" test -d "$work/secret" -a -d "$work/.git/hooks" -a -f "$work/.git/config"; }
for order in 'a b c' 'c b a' 'b a c' 'b c a'; do
	fresh
	session a; session b; session c
	last=${order##* }
	for name in $order; do finish "$name"; [ "$name" = "$last" ] || there; done
	equal '' "$(ls -A "$work")" "$order: the last one clears up"
done
order='a killed'
fresh
session a; session b
kill -9 "$(pgrep -u "$TESTUSER" -f "^$sbx_exec $dir/masks.sbx -- .* a\$" | head -n 1)"; wait "$pid_a" 2>/dev/null
session c
there; finish b; there; finish c
rm -f "$work"/up.*
equal '' "$(ls -A "$work")" "$order: the last one clears up after it too"

case_ 'MISS-03 no parent'
policy noparent <<'EOF'
fs { deny ~/.aws; deny write $workspace/.claude/agents; deny write /home/.mcp.json; deny /no/such/place/at/all }
EOF
fresh
sbx noparent sh -c 'mkdir -p .claude/agents; echo x >.claude/agents/a; echo "status $?"; echo x >.claude/ok && echo other'
status 0 'the sandbox starts'
output 'other' 'beside it is writable'
not 'the absent parent: still no agent is made' test -e "$work/.claude/agents/a"
sbx_with -v noparent true
case_ 'MISS-04 optional and required'
policy optional <<'EOF'
fs { read /app/software optional; device /dev/nvidia0 optional }
EOF
sbx_with -v optional true; status 0 'optional ones are skipped'; output '/app/software' '... with a note under -v'
sbx optional true; no_output '/app/software' '... and silently without'
policy required <<'EOF'
fs { read /opt/no/such/ca.pem }
EOF
sbx required true; status 125 'a required one stops the launch'
output 'required.pol:' '... names the line'
policy create <<'EOF'
fs { write ~/e2e/deep/er create }
EOF
sbx create sh -c 'echo x >$HOME/e2e/deep/er/f'; status 0 'create makes the directory'
equal 700 "$(stat -c %a "$home/deep")" '... closed to others'
ok '... and it is the real one' test -f "$home/deep/er/f"

case_ 'PATH-04 a link above the name'
policy linked <<'EOF'
fs { write ~/e2e/.claude ~/e2e/dotfiles; deny ~/e2e/.claude/creds }
EOF
fresh
mkdir -p "$home/dotfiles/claude" && echo TOKEN >"$home/dotfiles/claude/creds"
ln -s dotfiles/claude "$home/.claude" && own "$home"
bare cat "$home/.claude/creds" "$home/dotfiles/claude/creds"; output "TOKEN
TOKEN" 'control: both spellings are readable'
for path in .claude/creds dotfiles/claude/creds ./.claude/../.claude//creds; do
	sbx linked cat "$home/$path"; no_output TOKEN "$path is not readable"
done
sbx linked sh -c "echo x >$home/.claude/new && cat $home/dotfiles/claude/new"; output x 'both spellings work'

case_ 'PATH-06 a planted link'
policy seed <<'EOF'
fs { copy $workspace/.cache/authorized_keys }
EOF
fresh
mkdir -p "$home/.ssh" && echo KEY >"$home/.ssh/authorized_keys"
ln -s "$home/.ssh" "$work/.cache"; own "$work" "$home"
sbx seed true; status 125 'the launch is refused'
output "$work/.cache is a symbolic link to" '... naming the link'
equal KEY "$(cat "$home/.ssh/authorized_keys")" '... and nothing is written'
fresh
ln -s "$home/.ssh" "$work/docs"; own "$work"
sbx plain cat docs/authorized_keys; no_output KEY 'a link in the workspace opens nothing'

case_ 'PATH-07 links of the system'
policy compat <<'EOF'
fs { read /var/run optional; read /etc/localtime optional; read /etc/os-release optional; read /dev/shm optional }
EOF
fresh
sbx compat sh -c 'readlink /bin; test -e /lib64/ld-linux-x86-64.so.2 -o ! -e /lib64 && echo loader; test -L /etc/os-release && . /etc/os-release && echo "$ID"'
status 0 'links that root owns are made again inside'
output usr/bin '... with the same text'
output "$(. /etc/os-release && echo "$ID")" '... and lead where they lead outside'

case_ 'PATH-08 a mask on a link'
policy onlink <<'EOF'
fs { deny write $workspace/.bashrc; deny write $workspace/.git; deny write $workspace/tasks/1.out }
EOF
fresh
mkdir -p "$home/store" "$home/elsewhere/.git" "$work/tasks"
echo rc >"$home/store/bashrc"
ln -s "$home/store/bashrc" "$work/.bashrc"
ln -s "$home/elsewhere/.git" "$work/.git"
ln -s "$home/.claude-none/y" "$work/tasks/1.out"
own "$work" "$home"
sbx onlink sh -c 'rm -f .bashrc; ln -sf /etc/passwd .bashrc; mv .git g; rm -f tasks/1.out; mv tasks t; echo x >tasks/1.out; echo fine'
output fine 'the sandbox starts'
equal "$home/store/bashrc" "$(readlink "$work/.bashrc")" 'the link cannot be replaced'
equal "$home/elsewhere/.git" "$(readlink "$work/.git")" '... nor renamed'
ok '... nor removed where it dangles' test -L "$work/tasks/1.out"

case_ 'PATH-09 the home directory as workspace'
policy home <<'EOF'
fs { seal ~/.ssh }
EOF
for where in "$TESTHOME" "$(dirname "$TESTHOME")" /; do
	run_in "$where" "$sbx_exec" "$dir/home.sbx" -- sh -c 'echo ran'
	status 125 "started in $where"; no_output ran '... does not run'
done
ln -sfn "$TESTHOME" "$dir/to-home"
run_in "$dir/to-home" "$sbx_exec" "$dir/home.sbx" -- true; status 125 'through a link to it'
run_in "$TESTHOME" env HOME=/var/tmp "$sbx_exec" "$dir/home.sbx" -- true; status 125 'with HOME set elsewhere'
run_in /var/tmp "$sbx_exec" --workspace "$TESTHOME" "$dir/home.sbx" -- true; status 125 'by --workspace'

case_ 'precedence on the kernel'
policy nested <<'EOF'
fs {
    deny       $workspace/a
    read       $workspace/a/b
    write      $workspace/a/b/c
    deny write $workspace/r
    write      $workspace/r/w
    deny exec  $workspace/noexec
    tmp        $workspace/scratch
    copy       $workspace/conf
}
EOF
fresh
mkdir -p "$work"/a/b/c "$work"/r/w "$work"/noexec "$work"/scratch "$work"/conf
for d in a a/b a/b/c r r/w; do echo "in-$d" >"$work/$d/f"; done
echo host >"$work/conf/f"; cp /bin/true "$work/noexec/true"; own "$work"
sbx nested cat a/f; no_output in-a 'a denied tree is not readable'
sbx nested ls a; status 2 '... nor listable'
sbx nested cat a/b/f; output in-a/b 'a grant below it is'
sbx nested sh -c 'echo x >a/b/f'; status 2 '... to read only'
sbx nested sh -c 'echo x >a/b/c/f && cat a/b/c/f'; output x 'and a grant to write below that'
equal x "$(cat "$work/a/b/c/f")" '... is the real thing'
sbx nested sh -c 'echo x >r/f'; status 2 'read-only below the workspace'
sbx nested sh -c 'echo x >r/w/f'; status 0 '... writable again below'
sbx nested ./noexec/true; status 126 'deny exec'
sbx nested sh -c 'cp noexec/true t && ./t'; status 0 '... which is by place, not by content'
sbx nested sh -c 'echo x >scratch/f && cat scratch/f'; output x 'a tmpfs in the workspace'
equal '' "$(ls "$work/scratch")" '... is not the host its directory'
sbx nested sh -c 'echo inside >conf/f; cat conf/f; echo more >conf/g && mv conf/g conf/f'; status 0 'a copy is writable, by rename too'
equal host "$(cat "$work/conf/f")" '... and private'
sbx nested sh -c 'mv a z; mv r z; mv conf z; rm -rf a/b; rmdir scratch'; not 'none can be moved away' test -e "$work/z"

case_ 'the real files in a copy'
policy incopy <<'EOF'
fs {
    exec  ~/e2e/tools
    copy  ~/e2e/c ~/e2e/tools/c
    write ~/e2e/c/w
    read  ~/e2e/c/r
    write ~/e2e/c/r/w
    deny  ~/e2e/tools/c/shut
    write ~/e2e/tools/c/shut/w
    tmp   ~/e2e/c/t
    deny exec ~/e2e/tools/c/noexec ~/e2e/tools/d
    copy  ~/e2e/tools/d
}
EOF
fresh
mkdir -p "$home"/c/{w,r/w,t} "$home"/tools/{c/shut/w,c/noexec,d}
for d in c c/w c/r c/r/w c/t tools/c tools/c/shut tools/c/shut/w; do echo host >"$home/$d/f"; done
for d in c c/noexec d; do cp /bin/true "$home/tools/$d/true"; done; own "$home"
sbx incopy sh -c 'for d in c c/w c/r/w tools/c/shut/w; do echo "in $d" >"$0/$d/f" && cat "$0/$d/f" || exit; done; cat "$0/c/r/f"' "$home"
status 0 'a grant beneath it, or beneath what is closed in it, is opened'
equal 'host in c/w in c/r/w in tools/c/shut/w' "$(cat "$home"/{c,c/w,c/r/w,tools/c/shut/w}/f | paste -sd ' ')" \
	'... as the host has it, and nothing else'
sbx incopy sh -c 'echo x >"$0/c/r/f"' "$home"; status 2 'what is opened for reading is not written, though the copy is'
equal host "$(cat "$home/c/r/f")" '... nor on the host'
sbx incopy ls "$home/c/t"; equal '' "$out" 'a tmp in a copy begins empty'
sbx incopy "$home/tools/c/true"; status 0 'a copy in a tree of programs has programs'
sbx incopy "$home/tools/c/noexec/true"; status 126 '... but none where execution is denied'
sbx incopy "$home/tools/d/true"; status 126 '... and a copy that is denied it has none'
rm -rf "$home/c" "$home/tools"

case_ 'a copy that is not written, and a name in one below a file'
policy closedcopy <<'EOF'
fs {
    copy ~/e2e/c ~/e2e/one ~/e2e/d
    deny write ~/e2e/c ~/e2e/one
    deny ~/e2e/c/absent ~/e2e/d/file/sub ~/e2e/d/file/sub2/x
    write ~/e2e/c/w
    tmp $workspace/t
    deny write $workspace/t
}
EOF
fresh
mkdir -p "$home"/{c/w,d} "$work/t"
for file in c/f c/w/f one d/file; do echo host >"$home/$file"; done
own "$home" "$work"
sbx closedcopy sh -c 'cat "$0"/c/f "$0"/one' "$home"; status 0 'a copy with `deny write` is read'
for what in c/f c/new one; do
	sbx closedcopy sh -c 'echo x >"$0"' "$home/$what"; status 2 "... and not written: $what"; output 'Read-only file system' '... as the rest that is read-only'
done
sbx closedcopy ls "$home/c/absent"; output 'Permission denied' '... what is denied and absent is held in it'
sbx closedcopy sh -c 'echo in >"$0/c/w/f"' "$home"; status 0 '... and what is granted in it is the real one'
equal in "$(cat "$home/c/w/f")" '... on the host'
sbx closedcopy sh -c 'echo x >t/f'; status 2 'a tmp with `deny write` stays empty'; output 'Read-only file system' '... too'
sbx closedcopy sh -c 'cd "$0/d"; echo inside >file && cat file; rm file; mv file x; mkdir file; echo x >file/sub' "$home"
output inside 'a file in a copy where a denied name would need a directory is written'
output "rm: cannot remove 'file': Device or resource busy" '... and stays'; output "mv: cannot move 'file'" '... where it is'
equal host "$(cat "$home/d/file")" '... the copy of it'
rm -rf "$home/c" "$home/d" "$home/one"

case_ 'a name in a copy that no mask was planned for'
policy unplanned <<'EOF'
fs { copy ~/e2e/c; seal ~/**/key snapshot; deny write ~/**/fixed snapshot }
EOF
cp "$sbx_without_pattern" "$dir/without-pattern" && chmod 755 "$dir/without-pattern"
for name in key fixed; do
	mkdir -p "$home/c/a"; echo host >"$home/c/a/$name"; own "$home"
	sbx unplanned true; status 0 "it starts: $name"
	run_in "$work" "$dir/without-pattern" --backend bwrap "$dir/unplanned.sbx" -- cat "$home/c/a/$name"
	status 125 '... but not where the launcher forgets what a pattern matches'
	output "$home/c/a/$name is open in a private copy, but must not be: start again" '... since it tries'
	rm -rf "$home/c"
done

case_ 'GLOB-01 and GLOB-03 patterns'
policy glob <<'EOF'
fs { deny $workspace/**/.env snapshot; deny $workspace/data/* snapshot; read $workspace/examples/.env }
EOF
fresh
mkdir -p "$work/a/b" "$work/data" "$work/examples"
for d in . a a/b examples; do echo SECRET >"$work/$d/.env"; done
(cd "$work/data" && seq -f 'f%g' 3000 | xargs touch); echo SECRET >"$work/data/f7"
own "$work"
sbx glob cat .env a/.env a/b/.env; no_output SECRET 'what matches at the start is closed'
sbx glob cat examples/.env; output SECRET 'a literal exception is open'
sbx glob cat data/f7; no_output SECRET '3,000 matches launch, and are closed'
(cd "$work/data" && seq -f 'g%g' 17000 | xargs touch); own "$work"
sbx glob cat data/f7; no_output SECRET '20,000 too'; output 'Permission denied' '... by permission'
rm -rf "$work/data"; mkdir "$work/data"; own "$work"

case_ 'GLOB-04 odd names'
python3 - "$dir" <<'EOF'
import os, sys
d = sys.argv[1]
names = [b"a b", b"a[1]", b"a*b", b"-rf", b"a,b", b"a:b", b'a"b', "日本".encode(), "é".encode(), "e\u0301".encode(),
	 b"n" * 255, b"bad\xff", b"$HOME", b"tab\there", b"back\\slash", b"nl\nx"]
w = d + "/odd"
os.mkdir(w)
for n in names:
    for m in (n, n + b"x" if len(n) < 255 else n[:-1]):
        p = os.path.join(w.encode(), m)
        os.makedirs(p, exist_ok=True)
        open(p + b"/f", "w").write("content")
        os.makedirs(p + b"/deny", exist_ok=True)
EOF
own "$dir/odd"
policy inside <<'EOF'
fs { deny $workspace/deny }
EOF
for name in "$dir"/odd/*; do
	[ -d "$name" ] || continue
	out=$(cd "$name" && as_user "$sbx_exec" "$dir/inside.sbx" -- sh -c 'cat f && echo x >g && ls .. && mkdir deny/x' 2>&1 </dev/null)
	shown=$(printf %q "$(basename "$name" | cut -c1-20)")
	[[ $out == content* ]] && [ -f "$name/g" ] && pass "workspace $shown" || fail "workspace $shown" "$out"
	[ -e "$name/deny/x" ] && fail "mask in $shown" "$out"
done
rm -rf "$dir/odd"

case_ 'hostile text in messages'
fresh
evil=$(printf 'a\033[31mred\nnl')
mkdir "$work/$evil"; own "$work"
out=$(cd "$work/$evil" && as_user "$sbx_exec" "$dir/required.sbx" true 2>&1)
no_output "$(printf '\033')" 'no escape sequence in an error'
out=$(cd "$work/$evil" && as_user "$sbx_exec" --dry-run "$dir/plain.sbx" true 2>&1)
no_output "$(printf '\033')" '... nor in a plan'; output '\x1b[31mred\x0anl' '... but its bytes, escaped'

case_ 'hard links of sealed files'
policy sealed <<'EOF'
fs { seal ~/e2e/keys }
EOF
fresh
rm -rf "$home/project" "$home/keys"; mkdir -p "$home/keys" "$home/project"; echo KEY >"$home/keys/k"; ln "$home/keys/k" "$home/project/k"; own "$home"
run_in "$home/project" "$sbx_exec" "$dir/sealed.sbx" -- cat k; status 125 'a second name of a sealed file stops the launch'
no_output KEY '... before it is read'; output "$home/keys/k" '... names it'
rm "$home/project/k"
run_in "$home/project" "$sbx_exec" "$dir/sealed.sbx" -- true; status 0 'without it, it starts'

case_ 'hard links on what is mounted below a grant'
policy mounted <<'EOF'
fs { deny write $workspace/sub/config; seal ~/e2e/keys }
EOF
in_mounts() { # SCRIPT: as the user, where $work/sub and ~/e2e/keys are file systems
	out=$(cd "$work" && unshare -m --propagation private sh -c '
		mount -t tmpfs t sub; mkdir sub/a sub/keys; mount --bind sub/keys "$1"; chmod -R a+rwX sub
		uid=$2; script=$3; shift 3
		chown -R "$uid" sub; exec setpriv --reuid "$uid" --regid "$uid" --init-groups \
			env -i HOME="$0" PATH=/usr/bin:/bin sh -c "$script" "$@"' \
		"$TESTHOME" "$home/keys" "$TESTUID" "$@" 2>&1 </dev/null)
	status=$?
}
fresh; mkdir -p "$work/sub" "$home/keys"; own "$work" "$home"
in_mounts 'echo old >sub/config; ln sub/config sub/a/x; "$0" "$1" -- true' "$sbx_exec" "$dir/mounted.sbx"
status 125 'the device of no grant'; output 'sub/config is protected but has 2 names' '... and the file is named'
in_mounts 'echo KEY >sub/keys/k; ln sub/keys/k sub/a/x; "$0" "$1" -- cat sub/a/x' "$sbx_exec" "$dir/mounted.sbx"
status 125 'mounted below one, and outside'; no_output KEY '... so it is not read'

case_ 'a link out of a protected directory'
fresh
mkdir -p "$work/.git/hooks" "$work/scripts"; echo x >"$work/scripts/check"; ln -s ../../scripts/check "$work/.git/hooks/commit-msg"; own "$work"
sbx masks true; output 'hooks/commit-msg leads to' 'is said'; output 'deny that' '... with the remedy'
rm "$work/.git/hooks/commit-msg"; ln -s /etc/hostname "$work/.git/hooks/commit-msg"
sbx masks true; no_output 'leads to' '... where the program could write there'

case_ 'how much is looked at for hard links'
fresh
mkdir -p "$work/.git/hooks"; (cd "$work/.git/hooks" && seq 20000 | xargs touch); own "$work"
sbx masks echo ran; output ran '20000 names'; no_output 'looked at' '... all of them'
(cd "$work/.git/hooks" && seq 20001 52000 | xargs touch)
sbx masks echo ran; output ran 'too many'; output 'not all that is protected was looked at' '... it is said'
sbx_with -q masks echo ran; equal ran "$out" '... but by -q'
rm -r "$work/.git"; mkdir -p "$work/.git/hooks/$(seq -s / 70)"; own "$work"
sbx masks echo ran; output ran 'too deep'; output 'not all that is protected was looked at' '... it is said'
rm -r "$work/.git"; mkdir -p "$work/.git/hooks"; mkdir -m 700 "$work/.git/hooks/roots"; chown "$TESTUSER" "$work/.git" "$work/.git/hooks"
sbx masks true; status 0 "another's closed directory is left alone"
rm -rf "$work"

case_ 'exceptions of a seal'
policy except <<'EOF'
fs { read ~/e2e; seal ~/e2e/sealed except ~/e2e/sealed/known ~/e2e/sealed/sub/dir ~/e2e/sealed/absent; seal ~/e2e/alone except ~/e2e/alone/known }
EOF
policy exceptonly <<'EOF'
fs { seal ~/e2e/sealed except ~/e2e/sealed/known }
EOF
mkdir -p "$home/sealed/sub/dir" "$home/alone"; own "$home"
for name in known key sub/key sub/dir/f; do echo "IS-$name" >"$home/sealed/$name"; done; own "$home"
fresh
sbx except sh -c "cat $home/sealed/known $home/sealed/sub/dir/f"; output IS-known 'what is excepted is readable'; output IS-sub/dir/f '... a directory too'
sbx except sh -c "cat $home/sealed/key $home/sealed/sub/key; ls $home/sealed; echo x >$home/sealed/known; cat $home/sealed/absent"
no_output IS- 'the rest of what is sealed is not'; no_output key$'\n' '... nor listed'
equal IS-known "$(cat "$home/sealed/known")" '... and the exception not writable, since nothing grants it'
sbx exceptonly cat "$home/sealed/known"; no_output IS- 'an exception grants nothing by itself'

case_ 'sockets are not files'
policy sock <<'EOF'
fs { read ~/e2e/s }
EOF
rm -f "$home/s"; as_user python3 -c "import socket; s=socket.socket(socket.AF_UNIX); s.bind('$home/s')"
sbx sock true; status 125 'read of a socket is refused'; output 'net { allow unix' '... says how to open one'
rm -f "$home/s"
