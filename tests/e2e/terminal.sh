# On a real terminal: injection, job control, what is left behind; by each backend.
case_ 'terminal'
policy term <<'EOF'
fs { tmp /tmp }
env { pass TERM }
EOF
# Landlock holds no private /tmp, and shows all of /proc.
rig=std/rig-without-proc policy lterm <<'EOF'
env { pass TERM }
process { share attributes compat "t" }
EOF
cp tests/e2e/terminal.py "$dir/" && chmod 644 "$dir/terminal.py"
on_terminal() { # BACKEND POLICY: most of it is waiting, so all at once
	fresh
	sbx_with "-q --backend $1" "$2" true
	if [ "$status" = 0 ]; then
		(cd "$work" && as_user python3 "$dir/terminal.py" "$sbx_exec" "$dir/$2.sbx" "$dir/bin/e2e-inject" "$1") >"$dir/terminal-$1" 2>&1 &
	else
		skip "$1: ${out##*sbx-exec: }"
	fi
}
on_terminal bwrap term
on_terminal landlock lterm
on_terminal firejail term
wait
for file in "$dir"/terminal-*; do
	while IFS= read -r line; do
		case $line in
		'ok '*) pass "${line#ok }" ;;
		'FAIL '*) fail "${line#FAIL }" "" ;;
		*) echo "        | $line" ;;
		esac
	done <"$file"
	grep -q '^ok .*: last' "$file" || fail "${file##*-}: the terminal tests did not finish" "$(cat "$file")"
done
