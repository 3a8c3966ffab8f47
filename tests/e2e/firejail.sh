# The backend firejail: what it would pass over, its life and end, and the cases
# of process.sh once more.
firejail_cases() {
local name byte launcher inner where
fire() { local policy=$1; shift; run_in "$work" "$sbx_exec" --backend firejail "$dir/$policy.sbx" -- "$@"; }
# Processes of the user's whose program is firejail's.
firejails() { pgrep -u "$TESTUSER" -x firejail | wc -l; }
traces() { find /run/firejail -mindepth 2 -type f ! -path '*/lib/*' ! -path '*/mnt/*' | wc -l; }
gone() { # WHAT: within two seconds
	for _ in $(seq 40); do [ "$(firejails)" = 0 ] && ! pgrep -u "$TESTUSER" -f '^sleep 4[0-9]$' >/dev/null && break; sleep 0.05; done
	equal 0 "$(firejails)" "$1: firejail ends"
	not '... and the program' pgrep -u "$TESTUSER" -f '^sleep 4[0-9]$'
	equal "$before" "$(traces)" '... and nothing is left in /run/firejail'
}

case_ 'firejail: where it cannot work'
fresh
out=$(cd "$work" && "$sbx_exec" --backend firejail "$dir/plain.sbx" -- true 2>&1); status=$?
status 125 'as root'; output 'use --backend bwrap' '... the remedy'
run_in "$work" setpriv --no-new-privs "$sbx_exec" --backend firejail "$dir/plain.sbx" -- true
status 125 'under no_new_privs'; output 'no set-uid program works' '... the reason'
# Where it sees no kernel thread it takes itself to be in a sandbox already.
inside() { out=$(cd "$work" && unshare -pf --mount-proc setpriv --reuid "$TESTUID" --regid "$TESTUID" --clear-groups env -i HOME="$TESTHOME" PATH=/usr/bin:/bin "$@" 2>&1 </dev/null); status=$?; }
inside firejail --quiet --noprofile --net=none sh -c 'touch bare; ls /sys/class/net'; status 0 'control: in a process namespace firejail runs the command bare'
ok '... writes' test -e "$work/bare"; rm -f "$work/bare"
inside "$sbx_exec" --backend firejail "$dir/plain.sbx" -- touch bare; status 125 'that stops the launch'
output 'firejail made no ' '... which says what is missing'; not '... and nothing runs' test -e "$work/bare"

case_ 'firejail: masks'
policy fmasks <<'END'
fs {
    deny write $workspace/.git/hooks
    deny write $workspace/.git/config  placeholder file
    deny       $workspace/secret
    deny exec  $workspace/noexec
}
END
attack='mv .git .gm; mkdir -p .git/hooks; echo EVIL >.git/hooks/pre-commit; echo EVIL >.git/config'
make_repository() { rm -rf "$work/.git" "$work/.gm"; mkdir -p "$work/.git/hooks" "$work/noexec"; cp /bin/true "$work/noexec/"; echo good >"$work/.git/config"; own "$work"; }
fresh; make_repository
bare sh -c "$attack"; ok 'control: PATH-01 works outside' grep -q EVIL "$work/.git/hooks/pre-commit"
make_repository
before=$(traces)
fire fmasks sh -c "$attack"; output 'Device or resource busy' 'PATH-01 the parent cannot be renamed'
equal '' "$(ls "$work/.git/hooks")" '... no hook appears'; equal good "$(cat "$work/.git/config")" '... the configuration stays'
fire fmasks sh -c 'echo x >.git/x && mv .git/x .git/hooks/a; ln .git/x .git/hooks/b; ln -s x .git/hooks/c; truncate -s 0 .git/config; rm -f .git/config
	chmod 777 .git/config; touch -d 2001-01-01 .git/hooks; echo fine >.git/index && cat .git/index; ./noexec/true; echo "exec $?"'
output fine 'PATH-03 beside the masks it is writable'; output 'exec 126' 'deny exec holds'
equal '' "$(ls "$work/.git/hooks")" '... nothing gets in'; equal good "$(cat "$work/.git/config")" '... nor out'
equal 644 "$(stat -c %a "$work/.git/config")" '... modes stay'; not '... times too' test "$work/.git/hooks" -ot /usr
rm -rf "$work"/{.git,noexec}
fire fmasks sh -c 'mkdir -p .git/hooks/x secret/x; echo x >.git/config; echo x >secret; ls secret; ls -A'
output 'secret' 'MISS-01 absent names are held'; output 'Permission denied' 'FILE-05 what is hidden takes no write'
equal '' "$(ls -A "$work")" '... and gone at the end'
(cd "$work" && as_user "$sbx_exec" --backend firejail "$dir/fmasks.sbx" -- sh -c 'sleep 1; cat secret/key; echo "status $?"' >"$dir/later" 2>&1) &
sleep 0.6; as_user sh -c "echo HOSTKEY >$work/secret/key"; wait $!
out=$(cat "$dir/later"); no_output HOSTKEY 'what the host puts there later is not readable'; output 'status 1' '... the read fails'
rm -rf "$work/secret"

case_ 'firejail: what lies outside the grants'
echo mine >"$home/theirs"; own "$home"
bare sh -c "chmod 600 $home/theirs && touch -d 2001-01-01 $home/theirs"; equal 600 "$(stat -c %a "$home/theirs")" 'control: its mode can be changed'
policy fread <<'END'
fs { read ~/e2e/shown; tmp /tmp; tmp /dev/shm }
END
as_user mkdir -p "$home/shown"; as_user sh -c "echo shown >$home/shown/f"
fire fread sh -c "cat $home/shown/f; cat $home/theirs; chmod 777 $home/theirs $home/shown/f; touch $home/shown/f; truncate -s 0 $home/shown/f; setfattr -n user.x -v 1 $home/theirs; ls $home /opt /srv"
output shown 'what is granted is readable'; no_output mine 'the rest of the home is not'
equal 600 "$(stat -c %a "$home/theirs")" '... nor can its mode be changed'; equal shown "$(cat "$home/shown/f")" 'and what is to be read is not cut short'
fire fread sh -c 'ls -A /tmp /dev/shm; for d in /tmp /var/tmp /dev/shm /run/lock /dev/mqueue "/run/user/$(id -u)"; do echo x >"$d/sbx-e2e-'$$'-mark" && echo "wrote $d"; done; stat -c "%t:%T" /dev/*'
output 'wrote /tmp' 'SYS-01 /tmp'; output 'wrote /dev/shm' '... and /dev/shm are writable'; no_output 'wrote /var' '... others not'
equal '' "$(ls -d {/tmp,/var/tmp,/dev/shm,/run/lock,/run/user/$TESTUID}/sbx-e2e-$$-mark 2>/dev/null)" '... and the host sees no mark'
policy felse <<'END'
fs { tmp $workspace/t best-effort; copy $workspace/c best-effort }
END
fresh; mkdir "$work/t"; echo HOST >"$work/t/f"; echo HOST >"$work/c"; own "$work"
fire felse sh -c 'cat t/f c; echo x >t/f; echo x >c; echo on'
output on 'best-effort: a copy and a tmp elsewhere are not made'; no_output HOST$'\n' '... but closed, not open'
equal HOST "$(cat "$work/t/f")$(sed d "$work/c")" '... nothing is written'; equal HOST "$(cat "$work/c")" '... nowhere'
policy fcopy <<'END'
fs { copy $workspace/c }
END
fire fcopy true; status 125 'without best-effort they stop the launch'
policy flink <<'END'
fs { deny write $workspace/link }
END
ln -s c "$work/link"; own "$work"
fire flink true; status 125 'so does a deny of a link'; output 'never the link' '... says so'
mkdir "$work/others"; chmod 777 "$work/others"
run_in "$work/others" "$sbx_exec" --backend firejail "$dir/plain.sbx" -- true; status 125 "a workspace of another user's"; output "the user's own" '... says so'

case_ 'firejail: a grant through a link elsewhere'
policy flinked <<END
fs { read /run/sbx-e2e-$$/link/f }
END
fresh; mkdir -p /run/sbx-e2e-$$ "$home/linked"; echo LINKED >"$home/linked/f"; own "$home"; ln -s "$home/linked" /run/sbx-e2e-$$/link
fire flinked cat /run/sbx-e2e-$$/link/f "$home/linked/f"; equal "$(printf 'LINKED\nLINKED')" "$out" 'by both names'
rm -r /run/sbx-e2e-$$

case_ 'GLOB-04 on firejail'
policy fdeny <<'END'
fs { deny $workspace/deny }
END
where=$dir/odd; mkdir "$where"
each() { # NAME: a workspace of that name, and a neighbour that a misreading would hide
	mkdir -p "$where/$1/deny" "$where/xy"; echo SECRET >"$where/$1/deny/f"; own "$where"
	out=$(cd "$where/$1" && as_user "$sbx_exec" --backend firejail "$dir/fdeny.sbx" -- sh -c 'pwd; cat deny/f; echo x >g && echo wrote' 2>&1 </dev/null); status=$?
}
mkdir -p "$where/x#y"; own "$where"
run_in "$where" firejail --quiet --profile=/dev/fd/9 true 9<<<'' # warm
printf 'quiet\nkeep-config-pulse\nkeep-var-tmp\nblacklist %s/x#y\n' "$where" >"$dir/hash.profile"; mkdir -p "$where/x"; own "$where"
run_in "$where" firejail --quiet --profile="$dir/hash.profile" sh -c 'ls x#y && ! ls x'; status 0 'control: of x#y firejail hides x, without a word'
for byte in 01 09 0a 0d 1b 21 22 23 25 26 2a 2c 3b 3c 3e 3f 5b 5c 5d 5e 7b 7d 7f; do
	name=x$(printf "\\x$byte.")y; each "${name/./}"; status 125 "byte $byte is refused"; output '--backend bwrap' '... with the remedy'
done
for name in 'a  b' 'end ' 'a..b' '${HOME}'; do each "$name"; status 125 "'$name' is refused"; done
for name in 'a b' ' lead' '~x' '$HOME' "it's" 'a(b)' 'a=b|c`d@e+f' -rf a:b 日本 $'bad\xff'; do
	each "$name"; output wrote "$(printf %q "$name") works"; no_output SECRET '... its mask, too'
done
rm -rf "$where"

case_ 'NEST-04 what the user or the policy plants'
as_user mkdir -p "$TESTHOME/.config/firejail"
for name in globals firejail default sbx-exec sbx disable-common; do
	printf 'blacklist %s\nnoblacklist %s\nnoblacklist /**\nignore blacklist\nignore read-only\nignore nonewprivs\nignore caps.drop\nignore net\nignore private-dev\nread-write /\n' "$home/shown" "$work" |
		as_user tee "$TESTHOME/.config/firejail/$name.local" "$TESTHOME/.config/firejail/$name.profile" >/dev/null
done
fresh; mkdir "$work/secret"; echo SECRET >"$work/secret/f"; own "$work"
run_in "$work" firejail --quiet cat "$home/shown/f"; output 'Permission denied' 'control: firejail itself reads them'
fire fmasks sh -c 'cat secret/f; grep -e NoNewPrivs -e CapBnd -e Seccomp: /proc/self/status; ls /sys/class/net; echo x >/usr/x'
no_output SECRET 'masks hold all the same'; output 'NoNewPrivs:	1' '... no_new_privs'; output 'CapBnd:	0000000000000000' '... capabilities'; output 'Seccomp:	2' '... the filter'
fire fread cat "$home/shown/f"; output shown '... and nothing planted is added'
rm -rf "$TESTHOME/.config/firejail"
(cd "$work" && as_user env SEKRET=leak-me "$sbx_exec" --backend firejail "$dir/fmasks.sbx" -- sleep 41) 2>/dev/null &
sleep 0.5
inner=$(pgrep -u "$TESTUSER" -x firejail | head -n 1)
out=$(tr '\0' ' ' <"/proc/$inner/cmdline"); output '--profile=/proc/self/fd/' 'the profile is no file that could be exchanged'
no_output sleep '... and the command is in no argument'; no_output "$work" '... nor a path'

case_ 'firejail: the end of a session'
kill -9 "$(pgrep -u "$TESTUSER" -f "^$sbx_exec .* sleep 41" | head -n 1)"; wait $! 2>/dev/null
gone 'the launcher is killed'
fire plain sh -c 'setsid sh -c "sleep 1; echo late >late" >/dev/null 2>&1 & setsid sleep 42 & exit 3'
status 3 'the status comes out'; gone 'orphans are left'; sleep 0.8; not '... which do nothing more' test -e "$work/late"
fire plain sh -c 'trap "" TERM HUP INT; setsid sleep 43 & kill -9 $PPID; kill -9 -1; sleep 44'
status 137 'the inner stage is killed from inside'; gone 'it is killed'
policy ftime <<'END'
limits { wall-time 1s; memory 1G; file-size 1M; open-files 64 }
END
fire ftime sh -c 'trap "" TERM INT HUP; setsid sleep 45 & sleep 46'; status 124 'the time is over'; gone 'the time is over'
fire ftime sh -c 'kill -9 $PPID; sleep 47'; not 'no way around the time' test "$status" = 0; gone '... by killing what keeps it'
(cd "$work" && as_user timeout -s TERM 0.5 "$sbx_exec" --backend firejail "$dir/plain.sbx" -- sh -c 'trap "echo term; exit 5" TERM; while :; do sleep 0.05; done' >"$dir/later" 2>&1)
out=$(cat "$dir/later"); output term 'SIGTERM is handed on'; gone 'after a signal'
for name in 'exit 3=3' 'kill -TERM $$=143' 'kill -SEGV $$=139' '/nonexistent=127' '/etc/passwd=126'; do
	fire plain sh -c "${name%=*}"; status "${name#*=}" "TTY-04 ${name%=*}"
done
fire plain nonexistent; status 127 '... and a command that is not there'
fire ftime sh -c 'ulimit -n; ulimit -d'; output 64 'limits hold'; output 1048576 '... for each process'

case_ 'many names to protect'
policy fmany <<'END'
fs { deny write $workspace/**/config snapshot }
END
fresh; (cd "$work" && seq 420 | xargs mkdir && for i in *; do : >"$i/config"; done); own "$work"
begun=$(date +%s); fire fmany true; status 125 'would take firejail too long'; output '--backend bwrap' '... is said, with the remedy'
ok '... at once' test $(($(date +%s) - begun)) -lt 4
sbx fmany true; status 0 'and are no matter elsewhere'

case_ 'FD-01 descriptors past firejail'
echo KEY >"$home/key"; own "$home"
out=$(cd "$work" && as_user sh -c "exec 7<$home/key; cat <&7" 2>&1); output KEY 'control: it is inherited'
out=$(cd "$work" && as_user sh -c "exec 7<$home/key; exec $sbx_exec --backend firejail $dir/plain.sbx -- sh -c 'cat <&7; ls /proc/self/fd'" 2>&1 </dev/null)
no_output KEY '7 is closed'; equal '0 1 2 3' "$(grep -o '^[0-9]*$' <<<"$out" | tr '\n' ' ' | sed 's/ $//')" '... only 0 1 2, and the one of ls'
out=$(cd "$work" && echo keep | as_user "$sbx_exec" --backend firejail "$dir/plain.sbx" -- sh -c 'read a; echo "got $a"; exec cat' 2>&1); output 'got keep' 'standard input passes by firejail'

# The launcher behind a program that adds the option: all that process.sh has.
BACKEND=firejail
real=$sbx_exec sbx_exec=$dir/bin/e2e-firejail
. tests/e2e/process.sh
sbx_exec=$real
unset BACKEND
}
if [ -z "$(firejail_obstacle)" ]; then
	firejail_cases
else
	case_ firejail; skip "$(firejail_obstacle)"
fi
