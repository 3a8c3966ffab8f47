# `require { proof }`: sbx-exec starts what was proven here, and nothing else.

policy required <<'EOF'
param ANY string = "none"
require { proof 30d }
fs { deny $workspace/secret }
EOF
rig=std/rig-alone policy alone <<'EOF'
require { proof 1d }
process { share signals attributes compat "they are not what is asked here" }
EOF
proofs=$TESTHOME/.local/share/sbx/proofs
digest=$("$sbxc" dump "$dir/required.sbx" | sed -n 's/.*\<\([0-9a-f]\{64\}\)\>.*/\1/p' | head -n 1)
proof=$proofs/$digest.bwrap
start() { run_in "$work" "$sbx_exec" -q --backend "$@" "$dir/required.sbx" -- echo it ran; }
starts() { start "${2:-bwrap}"; status 0 "$1"; output 'it ran' '... it starts'; }
refused() { # TEXT WHAT [BACKEND]
	start "${3:-bwrap}"
	status 125 "$2"
	output "the policy wants a proof (required.pol:7), and it $1: sbxc prove --backend ${3:-bwrap} --record FILE --by NAME $dir/required.sbx" '... says so, and what to do'
}
change() { sed -i "$1" "$proof"; } # the proof, as its owner could
fresh
rm -rf "$proofs"

case_ 'require proof: before'
refused 'is missing for the policy as it is now' 'without a proof'
run_in "$work" "$sbx_exec" --check "$dir/required.sbx"
status 125 '--check'; output 'no   bwrap: the policy wants a proof (required.pol:7), and it is missing' '... says so'
prove_ --backend bwrap "$dir/required.sbx"
status 0 'it can be proven'; not '... and without --record nothing is kept' test -e "$proofs"

case_ 'require proof: proven'
prove_ --backend bwrap --record "$dir/kept/required" --by x "$dir/required.sbx"
status 0 'proven'
starts 'and then'
run_in "$work" "$sbx_exec" --check --backend bwrap "$dir/required.sbx"
status 0 '--check'; output 'yes  bwrap: started' '... says so'
equal "$(stat -c '%U %a %h' "$proof")" "$TESTUSER 644 1" 'the proof is the user'"'"'s'
good=$(cat "$proof")
restore() { rm -rf "$proof"; printf '%s\n' "$good" >"$proof"; own "$proof"; }

case_ 'require proof: something is other'
for line in format policy values kernel landlock launcher backend; do
	change "s/^$line ./&x/"; refused "differs in its $line" "another $line"; restore
done
run_in "$work" "$sbx_exec" -q --backend bwrap -D ANY=other "$dir/required.sbx" -- true
status 125 'another -D'; output "differs in its values: sbxc prove --backend bwrap --record FILE --by NAME -D ANY=other $dir" '... and the remedy has it'
cp "$sbx_exec" "$dir/other-launcher" && echo >>"$dir/other-launcher"
run_in "$work" "$dir/other-launcher" --backend bwrap "$dir/required.sbx" -- true
status 125 'another launcher'; output 'differs in its launcher' '... says so'
unshared "$sbx_exec" --backend bwrap --workspace "$work" "$dir/required.sbx" -- true
status 125 "another program at bubblewrap's place"; output 'differs in its backend' '... says so'
starts 'as it was proven'
sed 's/secret/secrets/' "$dir/required.pol" >"$dir/changed.pol"
ok 'the policy changes' "$sbxc" "$dir/changed.pol" -o "$dir/changed.sbx"
run_in "$work" "$sbx_exec" --backend bwrap "$dir/changed.sbx" -- true
status 125 'another policy'; output 'is missing for the policy as it is now' '... says so'
digest=$("$sbxc" dump "$dir/changed.sbx" | sed -n 's/.*\<\([0-9a-f]\{64\}\)\>.*/\1/p' | head -n 1)
cp "$proof" "$proofs/$digest.bwrap" && own "$proofs"
run_in "$work" "$sbx_exec" --backend bwrap "$dir/changed.sbx" -- true
status 125 '... and a proof of the old one by its name'; output 'differs in its policy' '... says so'

case_ 'require proof: age'
now=$(date +%s)
change "s/^time .*/time $((now - 30 * 86400 + 600))/"; touch -d '1 year ago' "$proof"
starts 'a little younger than 30 days, whatever the time of the file'; restore
change "s/^time .*/time $((now - 30 * 86400 - 5))/"; touch "$proof"
refused 'is too old' 'older than 30 days, whatever the time of the file'; restore
change "s/^time .*/time $((now + 3600))/"; refused 'is of a time to come' 'of tomorrow'; restore
for time in '' 12x -5 99999999999999999999999; do
	change "s/^time .*/time $time/"; refused 'has no time' "time \`$time\`"; restore
done
change '$d'; refused 'has no time' 'cut short'; restore
echo more >>"$proof"; refused 'has no time' 'with more at its end'; restore

case_ 'require proof: not to be trusted'
not_ours='is not a file of yours or root'"'"'s that nobody else can write'
chown nobody "$proof"; refused "$not_ours" "another user's"; restore
chmod g+w "$proof"; refused "$not_ours" 'writable by a group'; restore
ln "$proof" "$dir/second-name"; refused "$not_ours" 'with a second name'; rm "$dir/second-name"; restore
mv "$proof" "$dir/elsewhere" && ln -s "$dir/elsewhere" "$proof"; refused "$not_ours" 'a symbolic link'; restore
rm "$proof" && mkfifo "$proof" && own "$proof"; refused "$not_ours" 'a pipe, which is not waited for'; restore
rm "$proof" && mkdir "$proof" && own "$proof"; refused "$not_ours" 'a directory'; restore
chmod o+w "$proofs"; refused "$not_ours" 'in a directory that others can write'; chmod o-w "$proofs"
mv "$proofs" "$dir/proofs" && ln -s "$dir/proofs" "$proofs"; refused "$not_ours" 'in a directory by a link'
rm "$proofs" && mv "$dir/proofs" "$proofs"
chown root "$proof"; starts "root's"; restore

case_ 'require proof: from inside'
policy reaching <<'EOF'
fs { write ~/.local optional }
EOF
attack="(echo forged >$proofs/forged.bwrap) 2>/dev/null && echo made
(echo time 1 >>$proof) 2>/dev/null && echo changed
mv $proofs $proofs.old 2>/dev/null && mv $proofs.old $proofs && echo moved
ln -s /var/tmp $proofs/link 2>/dev/null && echo linked; echo end"
bare sh -c "$attack"
for what in made changed moved linked; do output "$what" "control: $what"; done
rm -f "$proofs/forged.bwrap" "$proofs/link"; restore
run_in "$work" "$sbx_exec" -q --backend bwrap "$dir/reaching.sbx" -- sh -c "echo >$TESTHOME/.local/beside && echo granted; $attack"
output granted 'where all around it is granted'
for what in made changed moved linked; do no_output "$what" "not $what"; done
rm -f "$TESTHOME/.local/beside"
for backend in "${here[@]}"; do
	run_in "$work" "$sbx_exec" -q --backend "$backend" "$dir/reaching.sbx" -- sh -c "$attack"
	output "$([ "$status" = 125 ] && echo 'sbx-exec: ' || echo end)" "$backend starts, or says why not"
	for what in made changed moved linked; do no_output "$what"$'\n' "... not $what"; done
done
starts 'and the proof is as it was'

case_ 'require proof: each backend'
alone() { run_in "$work" "$sbx_exec" -v "$@" "$dir/alone.sbx" -- echo it ran; }
prove_ --backend landlock --record "$dir/kept/required" --by x "$dir/alone.sbx"
status 0 'proven on landlock'
alone; status 0 'what is proven is taken'; output 'it ran' '... it starts'
output 'not bwrap: the policy wants a proof (alone.pol:6), and it is missing' '... in place of the first'
alone --backend bwrap; status 125 'the other is refused'
prove_ --backend bwrap --record "$dir/kept/required" --by x "$dir/alone.sbx"
status 0 'proven on bwrap'; alone --backend bwrap; status 0 '... it starts'

case_ 'require proof: a leak takes it away'
prove_ --launcher "$dir/sbx/build/sbx-exec-without-mask-unverified" --backend bwrap --record "$dir/kept/required" --by x "$dir/required.sbx"
status 1 'a leak'; refused 'is missing for the policy as it is now' '... and it has to be proven again'
prove_ --launcher "$dir/sbx/build/sbx-exec-without-seccomp" --backend bwrap --record "$dir/kept/required" --by x "$dir/alone.sbx"
alone --backend bwrap; status 125 '... of that backend'
alone --backend landlock; status 0 '... and of no other'
rm -rf "$proofs"
