# What a program inside leaves behind for the next session, and what a caller
# hands on without thinking.

policy hrepo <<'END'
import std/git
END
policy hclosed <<'END'
import std/git
fs { deny $workspace/private }
END
git_at() { as_user git -C "$work" "$@"; }
# A commit in a new repository.
repository() { fresh; git_at init -q .; git_at config user.email a@b; git_at config user.name n; git_at commit -qm x --allow-empty; }

case_ 'core.hooksPath chosen inside'
mkdir -p "$home/vault"; echo TREASURE >"$home/vault/key"; own "$home"
for way in "git config core.hooksPath $home/vault" "printf '[core]hooksPath=\"$home/vault\"\n' >>.git/config" \
	"printf '[CORE] HooksPath = \\\\\\n$home/vault # x\n' >>.git/config" \
	"rm -rf .git/hooks; ln -s $home/vault .git/hooks" "git config core.hooksPath $home/vault/key"; do
	fresh
	sbx hrepo sh -c "git init -q . && $way"
	output 'a repository was made' 'the session that makes a repository says so'
	sbx hrepo cat "$home/vault/key"
	status 1 "nothing outside is opened by: $way"; no_output TREASURE '... not readable'
done
sbx_with -v hrepo true; output 'outside the workspace' '... and -v says where the hooks are'
equal "$(printf 'a\nb')" "$(cd "$work" && as_user sh -c "mkdir private; echo a; echo b")" 'a closed directory'
rm -rf "$work/private"
fresh; mkdir -p "$work/private/sub"; echo TREASURE >"$work/private/sub/key"; own "$work"
git_at init -q .; git_at config core.hooksPath private/sub
sbx hclosed cat private/sub/key; no_output TREASURE 'nor what is closed in the workspace'
repository; git_at config core.hooksPath hk; mkdir "$work/real"; ln -s real "$work/hk"; own "$work"
sbx hrepo true; status 125 'a link on the way could be turned'; output "$work/hk" '... is named'

case_ 'core.hooksPath, wherever it stands'
hook='mkdir -p "$1"; echo evil >"$1/pre-commit"'
repository; git_at config core.hooksPath .husky; mkdir "$work/.husky"; own "$work"
sbx hrepo sh -c "$hook" sh .husky; not 'from .git/config' test -e "$work/.husky/pre-commit"
repository; printf '; \0\n[core]hooksPath=.husky\n' >>"$work/.git/config"; mkdir "$work/.husky"; own "$work"
sbx hrepo sh -c "$hook" sh .husky; not 'behind a NUL in a comment' test -e "$work/.husky/pre-commit"
for file in "$TESTHOME/.gitconfig" "$TESTHOME/.config/git/config"; do
	repository; mkdir "$work/gh"; own "$work"
	as_user sh -c "mkdir -p ~/.config/git; [ ! -e $file ] && printf '[core]\n\thooksPath = gh\n' >$file && : >$dir/ours" 2>/dev/null
	[ -e "$file" ] || printf '[core]\n\thooksPath = gh\n' >"$file"
	sbx hrepo sh -c "$hook" sh gh
	rm -f "$file"
	not "from $(basename "$(dirname "$file")")/$(basename "$file")" test -e "$work/gh/pre-commit"
done
repository; head -c 1100000 /dev/zero | tr '\0' '#' >>"$work/.git/config"; own "$work"
sbx hrepo true; status 125 'a configuration too large to read is refused'; output .git/config '... and named'
repository; printf '[include]\n\tpath = x\n' >>"$work/.git/config"
sbx hrepo true; status 0 'one that includes others is not'; output 'includes other files' '... it is said'

case_ 'a .git that leads elsewhere'
# The whole of $src would be the common directory.
src=$home/src; work=$src/worktrees/proj; mkdir -p "$work"; echo keep >"$src/victim"; own "$home"
plant='mkdir fake; echo "gitdir: fake" >.git; echo "$PWD/.git" >fake/gitdir; echo ../../.. >fake/commondir'
sbx hrepo sh -c "$plant"; ok 'planted' test -f "$work/.git"
sbx hrepo sh -c 'echo evil >../../victim'; status 125 'a directory around the workspace is no repository'
equal keep "$(cat "$src/victim")" '... and was not written'
sed -i 's,fake,.,' "$work/.git"; echo ../.. >"$work/commondir"; echo "$work/.git" >"$work/gitdir"; own "$work"
sbx hrepo sh -c 'echo evil >../../victim'; status 125 'nor where it has the right shape'
mkdir "$src/objects" "$src/refs"; touch "$src/HEAD" "$src/config"; own "$src"
sbx hrepo sh -c 'echo evil >../../victim'; status 125 '... and the right names in it'
equal keep "$(cat "$src/victim")" '... still as it was'
repository; as_user git init -q "$home/other"; mv "$work/.git" "$home/moved.git"; ln -s "$home/moved.git" "$work/.git"
sbx hrepo true; status 125 'a symbolic link is refused'; output 'symbolic link' '... as such'
fresh; as_user git init -q "$work/super"; as_user git -C "$work/super" -c protocol.file.allow=always \
	-c user.name=n -c user.email=a@b commit -qm x --allow-empty
as_user git clone -q "$work/super" "$work/lib"; as_user git -C "$work/super" -c protocol.file.allow=always submodule add -q "$work/lib" libs/foo 2>/dev/null
top=$work; work=$top/super/libs/foo
sbx hrepo sh -c 'git -c user.name=n -c user.email=a@b commit -qm y --allow-empty && echo done'; output 'done' 'a submodule works'
echo ../../x >"$top/super/.git/modules/libs/foo/commondir"; own "$top"
sbx hrepo true; status 125 '... unless its repository points on'
work=$top/super/.git; sbx hrepo true; status 125 'a workspace inside .git is refused'

case_ 'a snapshot and what cannot be read'
policy hsnap <<'END'
fs { deny $workspace/**/*.key snapshot }
END
fresh; mkdir -p "$work/sub/deep"; echo TREASURE >"$work/sub/a.key"; echo TREASURE >"$work/sub/deep/b.key"; own "$work"
sbx hsnap cat sub/a.key; no_output TREASURE 'a match is closed'
for mode in 0 400 100; do
	chmod $mode "$work/sub"
	sbx hsnap sh -c 'chmod 700 sub; cat sub/a.key sub/deep/b.key'
	no_output TREASURE "mode $mode does not take it out of the snapshot"
	status 125 '... it stops the launch'; output chmod '... with the remedy'
done
chmod 700 "$work/sub"
mkdir -m 700 "$work/roots"
sbx hsnap true; status 0 'what another owns and keeps closed is left alone'
rmdir "$work/roots"
bare python3 -c '
import os
for i in range(20):
	os.mkdir("n" * 250); os.chdir("n" * 250)
open("a.key", "w").write("TREASURE")'
sbx hsnap true; status 125 'a path too long to be compared stops the launch'
rm -rf "$work"

case_ 'a closed file as a standard stream'
policy hstream <<'END'
fs { deny $workspace/secret; deny write $workspace/config }
process { pass fd 7 }
END
fresh; echo old >"$work/secret"; echo old >"$work/config"; echo in >"$work/open"; own "$work"
for file in config secret; do
	out=$(cd "$work" && as_user sh -c "exec 7</dev/null; exec $sbx_exec $dir/hstream.sbx -- sh -c 'echo evil >/proc/self/fd/0'" 2>&1 <"$work/$file"); status=$?
	status 125 "$file as standard input"; output 'cat FILE |' '... names the remedy'
	equal old "$(cat "$work/$file")" '... and is as it was'
done
out=$(cd "$work" && as_user sh -c "exec $sbx_exec $dir/hstream.sbx -- sh -c 'echo evil >/proc/self/fd/7'" 2>&1 </dev/null 7<"$work/config"); status=$?
status 125 'the same by pass fd'
out=$(cd "$work" && as_user sh -c "exec $sbx_exec $dir/hstream.sbx -- cat" 2>&1 7</dev/null <"$work/open"); output in 'what is open inside may be handed on'
echo mine >"$home/log"; own "$home"
out=$(cd "$work" && as_user sh -c "exec $sbx_exec $dir/hstream.sbx -- cat" 2>&1 7</dev/null <"$home/log"); output mine '... and what lies outside'

case_ 'sessions that were told different things'
policy hmask <<'END'
fs { deny $workspace/secret; deny write $workspace/.git/hooks }
END
fresh; mkdir -m 700 "$home/run"; own "$home"
(cd "$work" && as_user env XDG_RUNTIME_DIR="$home/run" "$sbx_exec" "$dir/hmask.sbx" -- sleep 1.5) 2>/dev/null &
first=$!
sleep 0.5; ok 'the first holds the name' test -d "$work/secret"
sbx hmask true; ok 'another does not take it away' test -d "$work/secret"
wait $first; not '... the last one does' test -e "$work/secret"
equal '' "$(ls -A "$home/run")" 'the environment chose nothing'
out=$(cd "$work" && as_user env XDG_RUNTIME_DIR="$home/run" "$sbx_exec" --dry-run "$dir/hmask.sbx" -- true 2>&1); no_output "runtime = $home" '... nor $runtime'

case_ 'a workspace that goes away'
fresh
sessions=$TESTHOME/.local/state/sbx/sessions
(cd "$work" && as_user "$sbx_exec" "$dir/hmask.sbx" -- sleep 1) 2>/dev/null &
first=$!
sleep 0.5; mv "$work" "$work.moved"; wait $first
equal '' "$(ls -A "$work.moved")" 'moved: cleaned up where it is now'
fresh
(cd "$work" && as_user "$sbx_exec" "$dir/hmask.sbx" -- sleep 1) 2>"$dir/said" &
first=$!
sleep 0.5; chown root "$work"; wait $first
ok "another user's by now: they stay" test -d "$work/secret"
equal 1 "$(ls "$sessions" | grep -c ^session-)" '... and so does the record'
out=$(cat "$dir/said"); output "cannot be removed" '... it is said'; output "$work/secret" '... of what'
chown "$TESTUSER" "$work"
sbx hmask true; equal '' "$(ls -A "$work")" 'the next session removes them'
equal 0 "$(ls "$sessions" | grep -c ^session-)" '... and the record'

case_ 'directories that the program closes'
closing='chmod 0555 . .git; chmod 0 .git/info'
policy hclosing <<'END'
fs { deny $workspace/secret; deny write $workspace/.git/hooks; deny write $workspace/.git/info/attributes placeholder file }
END
fresh; mkdir -p "$work/.git/info"; own "$work"
sbx hclosing sh -c "$closing"; no_output 'cannot be removed' 'are no hindrance'
equal '555 555 0' "$(cd "$work" && echo $(stat -c %a . .git .git/info))" '... and stay closed'
equal '.git .git/info' "$(cd "$work" && echo $(find . -mindepth 1 | sed 's,^./,,' | sort))" '... with nothing of ours in them'
fresh; mkdir -p "$work/.git/info"; own "$work"
(cd "$work" && as_user "$sbx_exec" "$dir/hclosing.sbx" -- sh -c "$closing; sleep 30") 2>/dev/null &
first=$!
sleep 0.7; kill -9 "$(pgrep -u "$TESTUSER" -f "^$sbx_exec $dir/hclosing.sbx" | head -n 1)"; wait $first 2>/dev/null
ok 'of a killed session: they stay' test -d "$work/secret"
closed=$work; fresh
sbx hclosing true
equal '555 555 0' "$(cd "$closed" && echo $(stat -c %a . .git .git/info))" 'the next one, elsewhere, leaves them closed'
equal '.git .git/info' "$(cd "$closed" && echo $(find . -mindepth 1 | sed 's,^./,,' | sort))" '... and removes what was ours'
equal 0 "$(ls "$sessions" | grep -c ^session-)" '... with the record'

case_ 'modes that the program or the caller chose'
policy hmodes <<'END'
fs { deny $workspace/secret; deny write $workspace/.git/hooks; deny write $workspace/.git/config placeholder file; write ~/e2e/modes/a create }
END
show='umask; stat -c "%a %n" .git/hooks .git/config'
# A default ACL that gives nobody anything.
acl='import os, struct, sys
for path in sys.argv[1:]:
    os.setxattr(path, "system.posix_acl_default", struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, 0, 0xffffffff) for tag in (1, 4, 32)))'
fresh; mkdir "$work/.git"; own "$work"
bare python3 -c "$acl" .git; bare sh -c 'mkdir .git/made && stat -c %a .git/made; rmdir .git/made'
if [ "$out" = 0 ]; then
	rmdir "$work/.git"; mkdir -p "$work/.git" "$home/modes"; own "$work" "$home"
	sbx hmodes python3 -c "$acl" . .git; as_user python3 -c "$acl" "$home/modes"; rmdir "$home/modes/a"
	sbx hmodes sh -c "$show"; output "1755 .git/hooks
1644 .git/config" 'a default ACL makes no less of what stands there'
	equal .git "$(cd "$work" && echo $(find . -mindepth 1 | sed 's,^./,,'))" '... which goes'
	equal 700 "$(stat -c %a "$home/modes/a")" '... nor of what is made for good'
	rm -rf "$home/modes"
else
	skip 'no default ACLs here'
fi
for umask in 0077 0400 0777; do
	fresh; mkdir -p "$work/.git" "$home/modes"; own "$work" "$home"
	out=$(cd "$work" && as_user sh -c "umask $umask; exec $sbx_exec $dir/hmodes.sbx -- sh -c '$show'" 2>&1)
	equal "$umask
1755 .git/hooks
1644 .git/config" "$out" "umask $umask is the program's, not ours"
	equal .git "$(cd "$work" && echo $(find . -mindepth 1 | sed 's,^./,,'))" '... and all goes'
	rm -rf "$home/modes"
done
fresh; : >"$sessions/session-1-1"; chmod 0 "$sessions/session-1-1"; own "$sessions"
sbx hmask true; equal '' "$out" 'a record of any mode is one'
not '... and goes' test -e "$sessions/session-1-1"

case_ "another user's directory"
fresh; mkdir -m 755 "$work/.git"
sbx hmask sh -c 'mkdir .git/hooks; mv .git g; ls -A'; status 0 'needs no placeholder'
ok '... and cannot be moved away' test -d "$work/.git"
not '... nothing is made in it' test -e "$work/.git/hooks"
rmdir "$work/.git"; chown root "$work"; chmod 755 "$work"
sbx hmask true; status 0 'nor does a whole workspace of his'

case_ 'what blocks a launch names its remedy'
policy hdeny <<'END'
fs { deny write $workspace/.github/workflows $workspace/.husky/_ }
END
fresh; mkdir -m 0 "$work/.github"; own "$work"
sbx hdeny true; status 125 'a closed directory'; output 'chmod u+rwx' '... can be opened'; no_output optional '... a deny cannot be optional'
rmdir "$work/.github"; ln -s .husky "$work/.husky"; own "$work"
sbx hdeny true; status 125 'a link to itself'; output 'remove the link' '... can be removed'; no_output optional '... no other advice'
repository; chmod 0 "$work/.git"
sbx hrepo true; status 125 '.git of mode 0'; output chmod '... can be opened'
chmod 700 "$work/.git"

case_ 'a caller that ignores its children'
fresh
out=$(cd "$work" && as_user sh -c "trap '' CHLD; exec $sbx_exec $dir/plain.sbx -- sh -c 'true; (exit 3); echo \$?'" 2>&1 </dev/null); status=$?
status 0 'starts and ends as ever'; output 3 '... inside too'

case_ 'a bare repository made inside'
fresh
sbx plain git init -q --bare .; output 'a repository was made' 'is said too'
sbx plain true; no_output 'was made' '... once'
fresh
sbx_with -q plain git init -q .; no_output 'was made' '-q says nothing'

case_ 'a bare repository as workspace'
fresh; git_at init -q --bare .
run_in "$work" sh -c 'printf "[alias]\n\tzz = !touch ran\n" >>config && git zz && test -e ran'; status 0 'control: git runs what its configuration says'
sbx hrepo sh -c 'echo x >hooks/post-receive'; status 125 'is refused'; output 'a clone of it' '... with the remedy'
not '... and nothing was written' test -e "$work/hooks/post-receive"

case_ 'the records of sessions'
policy hstate <<'END'
fs { write ~/.local/state/sbx compat "too much" }
END
policy hspared <<'END'
fs { write ~/.local/state/sbx compat "almost"; deny write ~/.local/state/sbx/sessions }
END
policy hagent <<'END'
fs { write ~/.local/state/sbx/agent }
END
policy hprivate <<'END'
fs { tmp ~/.local size 1M }
END
as_user mkdir -p "$TESTHOME/.local/state/sbx/sessions"
fresh
record="import struct,sys; open(sys.argv[1]+'/session-1-1','wb').write(struct.pack('<QQII',0,0,len(sys.argv[2]),2**32-1)+sys.argv[2].encode()+b'\\0')"
mkdir -p "$home/victim"; own "$home"
for name in hstate hspared; do
	sbx $name python3 -c "$record" "$TESTHOME/.local/state/sbx/sessions" "$home/victim"; output 'Read-only' "$name: a policy that opens them does not"
	sbx $name true; ok '... and nothing outside is removed' test -d "$home/victim"
done
as_user mkdir -p "$TESTHOME/.local/state/sbx/agent" "$TESTHOME/.local/share"
sbx hagent sh -c 'echo x >~/.local/state/sbx/agent/x && echo wrote; mkdir ~/.local/state/sbx/other'
output wrote "beside them, what is an agent's own is his"; output 'Read-only' '... and nothing else'
run_in "$TESTHOME/.local/state/sbx/agent" "$sbx_exec" "$dir/plain.sbx" -- sh -c 'echo evil >x'; output 'Read-only' '... not even a workspace'
for place in state/sbx state/sbx/sessions share/sbx; do
	as_user mkdir -p "$TESTHOME/.local/$place"
	run_in "$TESTHOME/.local/$place" "$sbx_exec" "$dir/plain.sbx" -- sh -c 'echo evil >x.sbx'; output 'Read-only' "$place as workspace is read-only"
done
rmdir "$TESTHOME/.local/share/sbx"
run_in "$TESTHOME/.local/share" "$sbx_exec" "$dir/plain.sbx" -- sh -c 'mkdir -p sbx; echo evil >sbx/agent.sbx; cat sbx/agent.sbx'; no_output evil 'a place that is absent is not made'
not '... nor left' test -e "$TESTHOME/.local/share/sbx"
sbx hprivate sh -c 'mkdir -p ~/.local/state/sbx/sessions && echo fine'; output fine 'a private directory of that name is none of them'

case_ 'a descriptor to what only a copy stands for'
policy hcopied <<'END'
fs { copy $workspace/cfg; tmp $workspace/t size 1M }
END
fresh; mkdir "$work/t"; echo keep >"$work/cfg"; echo keep >"$work/t/f"; own "$work"
for file in cfg t/f; do
	run_in "$work" sh -c "sh -c 'echo evil >>/proc/self/fd/0' <$file"; equal evil "$(tail -n 1 "$work/$file")" "control: $file is written through it"
	echo keep >"$work/$file"
	run_in "$work" sh -c "$sbx_exec $dir/hcopied.sbx -- sh -c 'echo evil >>/proc/self/fd/0' <$file"
	status 125 "$file as standard input"; equal keep "$(cat "$work/$file")" '... and it is as it was'
done

case_ 'the wrong file'
printf 'language 1\n' >"$work/x.pol"; own "$work"
run_in "$work" "$sbx_exec" x.pol; status 125 'a source'; output 'sbxc' 'is to be compiled'; no_output again '... not again'
run_in "$work" "$sbx_exec" ./x.pol; no_output again '... by any name'; output sbxc '... sbxc is named'
as_user mkdir -p "$TESTHOME/.local/share/sbx"; cp "$dir/plain.sbx" "$TESTHOME/.local/share/sbx/e2e-plain.sbx"; own "$TESTHOME/.local/share/sbx/e2e-plain.sbx"
run_in "$work" "$sbx_exec" agents/e2e-plain; status 125 'a name with a directory'; output 'sbx-exec e2e-plain' '... is it that one?'
rm "$TESTHOME/.local/share/sbx/e2e-plain.sbx"
if [ -e /dev/full ]; then
	out=$(as_user sh -c "$sbx_exec --help >/dev/full" 2>&1); status=$?; status 125 'a help that nobody gets'
fi

case_ 'a launcher without a name'
fresh; cp "$sbx_exec" "$work/launcher"; own "$work"
run_in "$work" python3 -c "import os; f = os.open('launcher', os.O_RDONLY); os.unlink('launcher'); os.execve(f, ['sbx-exec', '$dir/plain.sbx', '--', 'true'], {})"
status 125 'stops'; output 'start again' '... with the remedy'
