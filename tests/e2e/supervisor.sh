# What the outer stage does while the program runs, and after it: nobody runs on,
# masks come back, sessions leave each other alone, and one line says what happened.

policy sgit <<'END'
import std/git
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
cat >"$dir/sland.pol" <<'END'
language 1
policy "sland"
command /bin/sh
import std/syscalls
workspace $cwd
fs {
    exec /usr
    exec /bin /sbin /lib /lib64 optional
    read /etc/ld.so.cache /etc/passwd /etc/group /etc/alternatives optional
    device /dev/null /dev/zero /dev/urandom /dev/tty
    deny write $workspace/.envrc $workspace/.mcp.json $workspace/tasks best-effort
}
env { set PATH "/usr/bin:/bin"; set HOME "$home" }
syscalls { default ENOSYS; allow @default @network-io; deny @privileged @keyring }
END
"$sbxc" "$dir/sland.pol" -o "$dir/sland.sbx" >"$dir/compile" 2>&1 || fail 'sland does not compile' "$(cat "$dir/compile")"
chmod 644 "$dir/sland.sbx"
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
