# Sourced by tests/agents/run: the screen of `claude` and of `bash -i` under
# tmux, as a person would see them.

tmux_run() { as_user tmux -S "$dir/api/tmux" "$@"; }
screen() { tmux_run capture-pane -p -t t; }
wait_for() { # TEXT [SECONDS]: until the screen shows it
	local tries
	for ((tries = 0; tries < ${2:-20} * 10; tries++)); do
		if screen 2>/dev/null | grep -qF -- "$1"; then return 0; fi
		sleep 0.1
	done
	echo "        no '$1' on the screen:"
	screen | sed 's/^/        | /'
	return 1
}
keys() { tmux_run send-keys -t t "$@"; }
start_shell() { # an ordinary shell, in the workspace, on a terminal of its own
	tmux_run -f /dev/null new-session -d -s t -x 100 -y 30 \
		"cd $work && PS1='outer> ' exec bash --norc --noprofile -i"
	wait_for 'outer>'
}
end_shell() { tmux_run kill-session -t t 2>/dev/null || true; }

interactive_tests() {
	if ! command -v tmux >/dev/null; then
		echo '  skip  the interactive tests: tmux is not installed'
		skipped=$((skipped + 1))
		return
	fi
	interactive_claude
	interactive_bash
	tmux_run kill-server 2>/dev/null || true
}

interactive_claude() {
	echo "interactive claude, on $backend"
	start_shell
	keys "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1" \
		" $sbx_exec -q --backend $backend -D program=$dir $blob -- $dir/claude" Enter
	check 'it asks whether to use the key, and shows the placeholder' wait_for 'Do you want to use this API key' 60
	keys Up Enter
	check 'claude draws its screen' wait_for 'Claude Code v' 60
	tmux_run resize-window -t t -x 70 -y 24
	sleep 2
	check 'a resize reaches it: its rules fit the new width' fits_width 70
	keys 'MOCK-SAY: typed answer' Enter
	check 'it answers what is typed' wait_for 'typed answer' 30
	keys C-z
	check 'Ctrl-Z gives the outer shell back' wait_for 'outer>' 15
	keys 'echo back-in-$((40 + 2))' Enter
	check 'the outer shell reads the keyboard' wait_for 'back-in-42'
	keys 'fg' Enter
	sleep 2
	keys 'MOCK-SAY: after fg' Enter
	check 'fg brings claude back' wait_for 'after fg' 30
	keys '/exit' Enter
	sleep 1
	keys Enter
	wait_for 'claude --resume' 20
	keys 'echo status=$?' Enter
	check 'it ends, with status 0' wait_for 'status=0' 20
	keys clear Enter 'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1' \
		" $sbx_exec -q --backend $backend -D program=$dir $blob -- $dir/claude" Enter
	check 'another session does not ask again' wait_for 'Claude Code v' 60
	end_shell
}

fits_width() { # COLUMNS: no line is longer, and a rule is drawn over all of them
	screen | python3 -c 'import sys
lines = [line.rstrip("\n") for line in sys.stdin]
sys.exit(max(map(len, lines)) > int(sys.argv[1]) or "─" * int(sys.argv[1]) not in lines)' "$1"
}

interactive_bash() {
	echo "interactive bash, on $backend"
	as_user env -C "$work" "$sbxc" examples/shell.pol 2>/dev/null
	start_shell
	keys "$sbx_exec -q --backend $backend $TESTHOME/.local/share/sbx/shell.sbx -- bash --norc --noprofile -i; echo status=\$?" Enter
	sleep 1
	keys "PS1='inner> '" Enter
	check 'bash -i has a prompt' wait_for 'inner>'
	check 'no complaint about job control' no_complaint
	keys 'sleep 100' Enter
	sleep 1
	keys C-z
	check 'Ctrl-Z stops a job inside' wait_for 'Stopped'
	keys 'fg' Enter
	sleep 0.5
	keys C-c
	sleep 0.5
	keys 'echo rc=$?' Enter
	check 'fg and Ctrl-C end it' wait_for 'rc=130'
	tmux_run resize-window -t t -x 91 -y 33
	sleep 0.5
	keys 'stty size' Enter
	check 'a resize is seen' wait_for '33 91'
	keys 'exit 7' Enter
	check 'the exit status comes out' wait_for 'status=7'
	keys 'read line; echo got-$line' Enter
	sleep 0.3
	keys 'xyz' Enter
	check 'the outer shell can read afterwards' wait_for 'got-xyz'
	keys 'jobs -l; pgrep -c -u $(id -u) sbx-exec; echo counted' Enter
	wait_for counted
	end_shell
}

no_complaint() { ! screen | grep -qiE 'job control|cannot set terminal'; }
