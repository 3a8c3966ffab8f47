# Sockets of the host's: none is reached but those that the policy names, whatever
# way there is to it; what the session makes for itself works.

run=/run/sbx-e2e-$$
mkdir -p "$run/munge" "$run/user"
cat >"$dir/listen.py" <<'EOS'
import os, socket, sys, threading
name, log, *places = sys.argv[1:]
log, kept = open(log, "a", buffering=1), []
def accept(s):
    while True:
        c, _ = s.accept()
        log.write(name + "\n")
        try: c.sendall(name.encode())
        except OSError: pass
        c.close()
def receive(s):
    while True:
        s.recv(9)
        log.write(name + "\n")
for place in places:
    kind, _, where = place.rpartition(":")
    if kind == "tcp":
        s = socket.create_server(("127.0.0.1", int(where)))
    else:
        s = socket.socket(socket.AF_UNIX, {"seq": socket.SOCK_SEQPACKET, "dgram": socket.SOCK_DGRAM}.get(kind, socket.SOCK_STREAM))
        s.bind("\0" + where[1:] if where[0] == "@" else where)
    kept.append(s)
    if kind != "dgram": s.listen(0 if kind == "full" else 256)
    if kind != "full": threading.Thread(target=receive if kind == "dgram" else accept, args=(s,), daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
EOS
: >"$run/log"
chown -R "$TESTUSER" "$run"
port=$((20000 + $$ % 10000))
while (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done # somebody listens there
listeners=
listen() { # NAME PLACE...: waits until it listens
	local ready
	exec {ready}< <(exec setpriv --reuid "$TESTUID" --regid "$TESTUID" --clear-groups \
		/usr/bin/python3 "$dir/listen.py" "$1" "$run/log" "${@:2}")
	listeners+=" $!"
	read -r <&"$ready"
}
# How often HOST was reached, once all that was sent has been counted.
hits() {
	local now last=-1

	while now=$(grep -c HOST "$run/log"); [ "$now" != "$last" ]; do
		last=$now
		sleep 0.03
	done
	echo "$now"
}

fresh
sockets=$work
cp "$dir/bin/e2e-connect" "$dir/bin/e2e-race" "$dir/listen.py" "$work/"; chmod 755 "$work"/*
listen HOST "$run/munge/munge.socket.2" "$run/docker.sock" "$run/user/bus" "seq:$run/packets" "dgram:$run/log.sock" \
	"@sbx-e2e-$$" "tcp:$port" "$work/daemon.sock"
listen NAMED "$run/named" "@sbx-e2e-$$-named"
listen FULL "full:$run/full"

policy socket <<POL
fs { read $run; read /etc/ssl optional; tmp /tmp best-effort }
net { allow unix $run/named $run/full compat "what the tests are allowed" }
process { share processes attributes compat "landlock" }
POL
policy sharing <<POL
fs { read $run; read /etc/ssl optional; tmp /tmp best-effort }
net { mode host compat "to share it"; allow unix $run/named compat "t"; allow abstract sbx-e2e-$$-named compat "t" }
process { share processes attributes compat "landlock" }
POL
policy shut <<POL
fs { read $run; tmp /tmp best-effort }
process { share processes attributes compat "landlock" }
syscalls { default ENOSYS; deny connect }
POL

# Each way to a socket of the host's: first bare, where it must get through.
attack() { # WHAT WORKS-BARE PROBE...
	local what=$1 works=$2 before
	shift 2
	run_in "$sockets" ./e2e-connect "$@"
	output "$works" "control: $what"
	before=$(hits)
	run_in "$sockets" "$sbx_exec" -q --backend "$backend" "$dir/socket.sbx" -- ./e2e-connect "$@"
	equal "$before" "$(hits)" "$what reaches nobody"
}

node=$(as_user sh -c 'command -v node') || skip 'what node does: nodejs is not installed'
for backend in bwrap firejail landlock; do
	run_in "$sockets" "$sbx_exec" -q --backend "$backend" "$dir/socket.sbx" -- true
	case_ "SOCK on $backend"
	if [ "$status" != 0 ]; then
		skip "$(head -n 1 <<<"$out")"
		continue
	fi
	inside() { run_in "$sockets" "$sbx_exec" -q --backend "$backend" "$dir/socket.sbx" -- "$@"; }
	shared() { run_in "$sockets" "$sbx_exec" -q --backend "$backend" "$dir/sharing.sbx" -- "$@"; }

	case_ "SOCK-01 on $backend: paths"
	attack 'munge' 'ok HOST' stream "$run/munge/munge.socket.2"; output EACCES '... and is told so'
	attack 'docker' 'ok HOST' stream "$run/docker.sock"; output EACCES '.'
	attack 'a listener in the workspace' 'ok HOST' stream daemon.sock; output EACCES '.'
	attack '... by its whole name' 'ok HOST' stream "$sockets/daemon.sock"
	ln -sfn "$run/docker.sock" "$sockets/link"; ln -sfn "$run" "$sockets/dir"; own "$sockets"
	attack 'a link' 'ok HOST' stream link; output EACCES '.'
	attack 'a link on the way' 'ok HOST' stream dir/docker.sock; output EACCES '.'
	attack 'a relative path' 'ok HOST' stream "../../../..$run/docker.sock"; output EACCES '.'
	attack '/proc/self/root' 'ok HOST' stream "/proc/self/root$run/docker.sock"
	attack '/proc/self/cwd' 'ok HOST' stream /proc/self/cwd/daemon.sock
	attack 'a directory too deep for a name' 'ok HOST' deep "$run/docker.sock"; output 'absolute=EACCES' '.'
	output 'bind=ok' '... where one can still bind'
	attack 'a connect that does not block' 'ok HOST' nonblock "$run/docker.sock"; output EACCES '.'
	attack 'a packet socket' 'ok HOST' seqpacket "$run/packets"; output EACCES '.'
	attack 'an orphan of another session' 'ok HOST' setsid "$run/docker.sock"; output EACCES '.'
	attack 'a ring' 'ring=ok' ring "$run/docker.sock"; output ENOSYS '... there is none'
	cat >"$sockets/thread.py" <<-'EOS'
	import socket, sys, threading
	def attempt():
	    try: socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print("reached")
	    except OSError as e: print(e.strerror)
	t = threading.Thread(target=attempt); t.start(); t.join()
	EOS
	inside python3 thread.py "$run/docker.sock"; output 'Permission denied' 'a thread'
	inside python3 thread.py "$run/named"; output reached '... which may connect to what is named'
	(sleep 0.3; exec setpriv --reuid "$TESTUID" --regid "$TESTUID" --clear-groups timeout 3 \
		/usr/bin/python3 "$dir/listen.py" HOST "$run/log" "$sockets/late-$backend.sock" >/dev/null) &
	inside sh -c "while ! [ -e late-$backend.sock ]; do sleep 0.05; done; sleep 0.2; ./e2e-connect stream late-$backend.sock"
	output EACCES 'one that was made during the session'

	cat >"$sockets/move.py" <<-'EOS'
	import os, socket, sys
	where, at = sys.argv[1:]
	os.chdir(at)
	for name, act in ("rename", os.rename), ("link", os.link), ("carry", lambda a, b: os.rename(os.path.dirname(a), b)):
	    try:
	        act(where, "moved-" + name)
	        socket.socket(socket.AF_UNIX).connect("moved-" + name + ("/s" if name == "carry" else "")); print(name, "reached")
	    except OSError as e: print(name, e.strerror)
	    if os.path.exists("moved-" + name): os.rename("moved-" + name, os.path.dirname(where) if name == "carry" else where)
	os.mkdir("a"); os.mkdir("b"); open("a/f", "w").close(); os.rename("a/f", "b/f"); os.rename("b", "a/b")
	print("moves")
	EOS
	mkdir -p "$sockets/host" "$home/moved"; own "$sockets/host" "$home/moved"; rm -f "$sockets/host/s"
	[ "$backend" = bwrap ] && listen HOST "$sockets/host/h"
	ln -f "$sockets/host/h" "$sockets/host/s"
	cp -r "$sockets/move.py" "$dir/"
	run_in "$sockets" python3 move.py "$sockets/host/s" "$home/moved"; output 'rename reached' 'control: a socket can be moved'
	output 'carry reached' '... with its directory'
	rm -rf "$home/moved"; ln -f "$sockets/host/h" "$sockets/host/s"
	inside sh -c "exec python3 move.py $sockets/host/s \"\${TMPDIR:-/tmp}\""
	no_output reached 'one that is moved to where the session makes its own'
	[ "$backend" != landlock ] || output moves '... though inside it all can be moved'

	case_ "SOCK-01 on $backend: datagrams"
	attack 'sendto' 'dgram=ok' dgram "$run/log.sock"; output 'dgram=EACCES' '.'; output 'wide=EACCES' '... at the width that the kernel reads'
	attack 'a raw one' 'raw=ok' raw "$run/log.sock"; output 'raw=EACCES' '.'
	attack 'a pair' 'pair=ok' pair "$run/log.sock"; output 'pair=EACCES' '.'
	run_in "$sockets" ./e2e-connect send "$run/docker.sock"; bare_out=$out
	inside ./e2e-connect send "$run/docker.sock"; equal "$bare_out" "$out" 'a stream takes no address when it sends, here as there'

	case_ "SOCK-01 on $backend: what is no address"
	run_in "$sockets" ./e2e-connect addresses "$run/docker.sock"; bare_out=$out
	inside ./e2e-connect addresses "$run/docker.sock"; equal "$bare_out" "$out" 'the same errors'
	shared ./e2e-connect unspec "$run/named"; output 'unspec-inet=ok' 'a socket of the network is disconnected'
	output 'inet-on-unix=EINVAL' 'the family is the socket'"'"'s, not what the address says'

	case_ "SOCK-01 on $backend: what changes meanwhile"
	for what in address name descriptor; do
		before=$(hits)
		inside sh -c "cd \"\${TMPDIR:-/tmp}\" 2>/dev/null; exec $sockets/e2e-race $what $run/named $run/docker.sock 20000"
		output 'host=0' "$what, 20,000 times"
		equal "$before" "$(hits)" '... and nobody was reached'
	done
	inside timeout 10 ./e2e-race flags "$run/full" "$run/full" 50; output 'host=0' 'whether it blocks'

	case_ "SOCK-01 on $backend: what waits"
	run_in "$sockets" ./e2e-connect alarm "$run/full"; bare_out=$out
	output signalled=EINTR 'control: a signal interrupts a connect'
	inside ./e2e-connect alarm "$run/full"; equal "$bare_out" "$out" '... inside as well, and a time limit holds'
	inside sh -c "./e2e-connect hang $run/full & sleep 0.3; date +%s%N; ./e2e-connect stream $run/named; date +%s%N; kill \$!"
	output 'ok NAMED' 'another connects meanwhile'
	not '... and does not wait' test $(($(sed -n 3p <<<"$out") - $(sed -n 1p <<<"$out"))) -gt 500000000
	cat >"$sockets/hang.py" <<-'EOS'
	import errno, os, signal, socket, sys, time
	signal.signal(signal.SIGCHLD, signal.SIG_DFL)
	children = []
	for i in range(70):
	    pid = os.fork()
	    if not pid:
	        try: socket.socket(socket.AF_UNIX).connect(sys.argv[1])
	        except OSError as e: os._exit(1 if e.errno == errno.EAGAIN else 2)
	        os._exit(0)
	    children.append(pid)
	time.sleep(0.6)
	gone = sum(os.waitpid(pid, os.WNOHANG)[1] == 256 for pid in children)
	print("refused=%d" % gone, flush=True)
	for pid in children:
	    try: os.kill(pid, 9)
	    except OSError: pass
	time.sleep(0.6)
	try: socket.socket(socket.AF_UNIX).connect(sys.argv[2]); print("then")
	except OSError as e: print(e)
	EOS
	inside python3 hang.py "$run/full" "$run/named"
	output 'refused=6' '64 may wait, the others are told to come again'; output then '... and all goes on'
	not 'no worker is left' pgrep -f "$dir/socket.sbx"

	cat >"$sockets/queued.py" <<-'EOS'
	import ctypes, errno, os, signal, socket, sys
	libc, info = ctypes.CDLL(None), (ctypes.c_int * 32)(40, 0, -1)
	signal.pthread_sigmask(signal.SIG_BLOCK, [40])
	while libc.syscall({"x86_64": 129, "aarch64": 138}[os.uname().machine], os.getpid(), 40, info) == 0: pass
	try: socket.socket(socket.AF_UNIX).connect(sys.argv[1])
	except OSError as e: print(errno.errorcode[e.errno])
	EOS
	inside timeout -s KILL 5 python3 queued.py "$run/full"
	output EAGAIN 'nor does one wait for ever where the queue of signals is full'

	case_ "SOCK-01 on $backend: nothing leaks"
	(cd "$sockets" && as_user "$sbx_exec" -q --backend "$backend" "$dir/socket.sbx" -- sh -c \
		"./e2e-connect many $run/named 50; sleep 0.7; ./e2e-connect many $run/named 5000; ./e2e-connect many $run/docker.sock 5000; echo done >many; sleep 1" >/dev/null 2>&1) &
	sleep 0.5
	supervisor=$(pgrep -o -f "^$sbx_exec.*$dir/socket.sbx")
	first=$(ls "/proc/$supervisor/fd" | wc -l)
	while kill -0 $! 2>/dev/null && ! [ -e "$sockets/many" ]; do sleep 0.1; done
	equal "$first" "$(ls "/proc/$supervisor/fd" 2>/dev/null | wc -l)" 'after 10,000 connects the same descriptors are open'
	wait $!; rm -f "$sockets/many"

	case_ "SOCK-01 on $backend: what is allowed"
	inside ./e2e-connect stream "$run/named"; output 'ok NAMED' 'a socket that the policy names'
	inside ./e2e-connect closed "$run/named"
	if [ "$backend" != bwrap ]; then # only there has the launcher rights over the program
		output EACCES 'a program that is closed to others is refused'
		run_in "$sockets" "$sbx_exec" --backend "$backend" "$dir/socket.sbx" -- ./e2e-connect closed "$run/named"
		output 'closed to others' '... and that is said'
	else
		output 'ok NAMED' 'also from a program that is closed to others'
	fi
	run_in "$sockets" "$sbx_exec" -v --backend "$backend" "$dir/socket.sbx" -- ./e2e-connect many "$run/docker.sock" 500
	output "connect refused: $run/docker.sock" '-v says what was refused'
	ok '... not without end' test "$(grep -c 'connect refused' <<<"$out")" -le 8
	run_in "$sockets" "$sbx_exec" -q --backend "$backend" "$dir/shut.sbx" -- ./e2e-connect stream "$run/named"
	output 'EPERM' 'where the filter refuses connect there is no broker'
	run_in "$sockets" "$sbx_exec" -q --backend "$backend" "$dir/shut.sbx" -- ./e2e-connect dgram "$run/log.sock"
	output 'dgram=EACCES' '... and no datagram all the same'

	run_in "$sockets" "$dir/bin/e2e-listened" "$sbx_exec" --backend "$backend" "$dir/socket.sbx" -- echo ran
	status 125 'under another listener it does not start'
	if [ "$backend" = firejail ]; then output 'no_new_privs' '... and says why'; else output 'already answers' '... and says why'; fi
	run_in "$sockets" "$dir/bin/e2e-without" 438 "$sbx_exec" --backend "$backend" "$dir/socket.sbx" -- echo ran
	status 125 'nor on a kernel without pidfd_getfd'
	if [ "$backend" = firejail ]; then output 'no_new_privs' '... and says why'; else output 'Linux 5.6' '... and says why'; fi

	case_ "SOCK on $backend: made inside"
	home_of='cd "${TMPDIR:-/tmp}" || exit 9;'
	inside sh -c "$home_of python3 $sockets/listen.py INSIDE seen \$PWD/one seq:\$PWD/two >/dev/null & cd \"\${TMPDIR:-/tmp}\"; sleep 0.6
		for how in 'stream one' 'nonblock one' 'seqpacket two'; do $sockets/e2e-connect \$how; done; ln -s one three; $sockets/e2e-connect stream \$PWD/../\${PWD##*/}/three; kill \$!"
	equal 4 "$(grep -c 'ok INSIDE' <<<"$out")" 'sockets in the private directory'
	inside sh -c "$home_of ssh-agent sh -c 'ssh-add -l'"; output 'no identities' 'SOCK-04 an agent of its own'
	inside python3 -c 'import multiprocessing as m
if __name__ == "__main__":
    d = m.Manager().dict(); d[1] = "shared"; print(d)'
	output shared 'processes of python'
	if [ "$node" ]; then inside node -e 'const net = require("net"), at = (process.env.TMPDIR || "/tmp") + "/n";
		const s = net.createServer(c => c.end("NODE")).listen(at, () => net.connect(at).on("data", d => { console.log("" + d); s.close() }))'
	output NODE 'node, which does not block'; fi

	case_ "SOCK-05 on $backend: abstract"
	attack 'an abstract socket' 'ok HOST' abstract "sbx-e2e-$$"
	before=$(hits)
	shared ./e2e-connect abstract "sbx-e2e-$$"; output EACCES 'on the shared network too'
	equal "$before" "$(hits)" '.'
	shared ./e2e-connect abstract "sbx-e2e-$$-named"; output 'ok NAMED' 'but one that is named'
	if [ "$backend" != landlock ]; then
		inside sh -c "python3 listen.py INSIDE /tmp/seen @inside >/dev/null & sleep 0.6; ./e2e-connect abstract inside; kill \$!"
		output 'ok INSIDE' 'one of its own, in a network of its own'
	fi

	case_ "NET on $backend: connect"
	attack 'TCP' 'ok HOST' tcp "$port"
	shared ./e2e-connect tcp "$port"; output 'ok HOST' 'mode host: TCP'
	shared ./e2e-connect tcp "$port" nonblock; output 'ok HOST' '... that does not block'
	if [ "$node" ]; then
		shared node -e "require('net').connect($port, '127.0.0.1').on('data', d => console.log('' + d))"; output HOST '... of node'
	fi
	# No room for it until the listener has accepted two: the SYN is sent again.
	cat >"$sockets/slow.py" <<-'EOS'
	import socket, threading, time
	s = socket.create_server(("127.0.0.1", 0), backlog=0)
	waiting = [socket.create_connection(s.getsockname()) for i in range(1)]
	def accept():
	    time.sleep(0.7)
	    for i in range(2): s.accept()[0].sendall(b"SLOW")
	threading.Thread(target=accept, daemon=True).start()
	print(socket.create_connection(s.getsockname()).recv(9))
	EOS
	shared timeout 10 python3 slow.py; output SLOW 'one that takes its time'

	case_ "FD-03 on $backend: inherited sockets"
	cat >"$dir/inherit.py" <<-'EOS'
	import os, socket, sys
	kind = sys.argv[1]
	s = {"dgram": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), "stream": lambda: socket.socket(socket.AF_UNIX),
	     "inet": lambda: socket.socket(), "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
	     "pair": lambda: socket.socketpair()[0], "packets": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]}[kind]()
	os.dup2(s.fileno(), 0)
	os.execv(sys.argv[2], sys.argv[2:])
	EOS
	run_in "$sockets" python3 "$dir/inherit.py" dgram ./e2e-connect inherited "$run/log.sock" 0; output inherited=ok 'control: one that was inherited sends to any path'
	for kind in dgram packets stream inet udp; do
		run_in "$sockets" python3 "$dir/inherit.py" $kind "$sbx_exec" --backend "$backend" "$dir/socket.sbx" -- echo ran
		status 125 "standard input is a socket: $kind"; no_output ran '.'
	done
	run_in "$sockets" python3 "$dir/inherit.py" pair "$sbx_exec" -q --backend "$backend" "$dir/socket.sbx" -- echo ran
	status 0 'one that is connected for good is handed on'
done

# shellcheck disable=SC2086
kill $listeners 2>/dev/null
rm -rf "$run"
