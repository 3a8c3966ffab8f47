# On a real terminal: injection, job control, what is left behind.
case_ 'terminal'
policy term <<'EOF'
fs { tmp /tmp }
env { pass TERM }
EOF
fresh
cp tests/e2e/terminal.py "$dir/" && chmod 644 "$dir/terminal.py"
out=$(cd "$work" && as_user python3 "$dir/terminal.py" "$sbx_exec" "$dir/term.sbx" "$dir/bin/e2e-inject" 2>&1)
while IFS= read -r line; do
	case $line in
	'ok '*) pass "${line#ok }" ;;
	'FAIL '*) fail "${line#FAIL }" "" ;;
	*) echo "        | $line" ;;
	esac
done <<<"$out"
[[ $out == *'ok last'* ]] || fail 'the terminal tests did not finish' "$out"
