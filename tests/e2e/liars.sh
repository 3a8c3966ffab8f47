# A bubblewrap that makes something else than it was told, or says what is not so.

policy lied <<'END'
fs { tmp /tmp; tmp /dev/shm size 1M }
END
fresh
: >"$dir/args"; own "$dir/args"
lie() { # SCRIPT
	printf '#!/bin/bash\n%s\n' "$1" >"$fakes/bwrap"
	chmod 755 "$fakes/bwrap"
	run_in "$work" "$sbx_fake" --backend bwrap "$dir/lied.sbx" -- sh -c 'echo it ran'
}
edit() { # WHAT SED-SCRIPT REASON: the arguments that it is given, and hands on
	lie "sed -z '$2' </proc/self/fd/\$2 >$dir/args; eval \"exec \$2<$dir/args\"; exec /usr/bin/bwrap \"\$@\""
	status 125 "$1"
	no_output 'it ran' '... nothing runs'
	output "$3" '... found from inside'
}
say() { # WHAT PYTHON THEN REASON: to the launcher, in the place of the inner stage
	lie "while [[ \$1 != --sbx-inner ]]; do shift; done
python3 -c 'import os, struct, sys
def say(words): os.write(int(sys.argv[1]), words)
$2' \$3; $3"
	status 125 "$1"
	no_output 'it ran' '... nothing runs'
	output "$4" '... and why is said'
}

case_ 'DEGR-01 some of what was asked for, and not all'
lie 'exec /usr/bin/bwrap "$@"'
status 0 'control: one that changes nothing works'; output 'it ran' '... it runs'
each="--unshare-user\x00--unshare-pid\x00--unshare-net\x00--unshare-ipc\x00--unshare-uts"
for kind in net ipc uts; do
	edit "no $kind namespace" "s/^--unshare-all\$/${each/--unshare-$kind/--unshare-user}/" "no $kind namespace"
done
edit 'no process namespace' "s/^--unshare-all\$/${each/--unshare-pid/--unshare-user}/; s/^--as-pid-1\$/--die-with-parent/" 'process namespace'
edit 'the /tmp of the host' '/^--tmpfs$/{N;s,^--tmpfs\x00/tmp$,--bind\x00/tmp\x00/tmp,}' "no /tmp of the sandbox's own"
edit 'the processes of the host' 's/^--proc$/--bind\x00\/proc/' "no /proc of the sandbox's own"
edit 'the devices of the host' 's/^--dev$/--dev-bind\x00\/dev/' "no /dev of the sandbox's own"
edit 'a tmp without its size' 's/^--size$/--setenv\x00x/' 'not the size'
edit 'nothing where something must be' 's/^--ro-bind-fd$/--setenv/' 'not what it was'
edit 'something else there' 's/^--ro-bind-fd$/--setenv/; s/^--remount-ro$/--ro-bind\x00\/etc\x00\/usr\x00&/' 'not what it was'

case_ 'DEGR-01 words of its own'
say 'that it is ready, and it ends' 'say(struct.pack("Ii", 1, 0) + b"\0")' 'exit 0' 'ended before the program started'
say 'that it is ready, and it hangs' 'say(struct.pack("Ii", 1, 0) + b"\0")' 'exec sleep 60' 'did not start the program'
say 'that it failed' 'say(struct.pack("Ii", 2, 0) + b"\x1b]0;no\0")' 'exit 0' 'sbx-exec: \x1b]0;no'
say 'what is no message' 'for words in b"x", b"\xff" * 9, b"\xff" * 1600, struct.pack("Ii", 7, 0): say(words)' 'exit 1' 'sbx-exec: '
say 'a listener that is none' 'say(struct.pack("Ii", 8, 0) + b"\0")' 'exit 0' 'listener did not arrive'

case_ 'a signal during a start that takes long'
printf '#!/bin/sh\nexec sleep 20\n' >"$fakes/firejail"; chmod 4755 "$fakes/firejail"
begun=$(date +%s%N)
run_in "$work" sh -c "$sbx_fake -q --backend firejail $dir/plain.sbx -- true & sleep 0.3; kill \$!; wait \$!"
status 143 'ends it'; ok '... soon' test $((($(date +%s%N) - begun) / 1000000)) -lt 3500
rm -f "${fakes:?}"/*
