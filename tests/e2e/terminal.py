# The launcher under a pseudo-terminal, driven as a person would.
# usage: terminal.py SBX-EXEC BLOB INJECT BACKEND
import fcntl, os, pty, re, select, signal, struct, subprocess, sys, termios, time

sbx, blob, inject, backend = sys.argv[1:5]
namespaces = backend != "landlock"
work = os.getcwd()
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):  # in the background, or by nohup, we ignore them
    signal.signal(number, signal.SIG_DFL)
os.system(f"cp {inject} {work}/inject")


class Shell:
    """bash -i on a terminal of its own."""

    def __init__(self):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["PS1"] = "outer> "
            os.environ["TERM"] = "dumb"
            os.execv("/bin/bash", ["bash", "--norc", "--noprofile", "-i"])
        self.text = ""
        self.wait("outer> ")

    def read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if ready:
            try:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                return False
        return bool(ready)

    def wait(self, pattern, seconds=10):
        end = time.time() + seconds
        while time.time() < end:
            found = re.search(pattern, self.text)
            if found:
                seen, self.text = self.text[: found.end()], self.text[found.end() :]
                return seen
            self.read(0.2)
        return None

    def type(self, text):
        os.write(self.fd, text.encode())

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def check(what, good, shell=None):
    print(("ok " if good else "FAIL ") + f"{backend}: {what}", flush=True)
    if not good and shell:
        print("screen: " + repr(shell.text[-400:]), flush=True)


launch = [sbx, "-q", "--backend", backend, blob, "--"]
run = " ".join(launch) + " "

s = Shell()
s.type("./inject; echo end-$((1+1))\n")
seen = s.wait("end-2") or ""
check("TTY-01 control: TIOCSTI is live without the sandbox", "sti=DONE" in seen, s)
s.wait("outer> ", 2); s.wait("outer> ", 1)
s.type(run + "./inject; echo end-$((1+1))\n")
seen = s.wait("end-2\r") or ""
for word in ("sti", "sti-wide", "linux", "linux-wide"):
    check(f"TTY-01 {word} is refused", f"{word}=EPERM" in seen, s)
check("TTY-01 other ioctls work", "winsize=DONE" in seen, s)
s.close()

s = Shell()
s.type(run + "bash --norc --noprofile -i; echo status=$?\n")
time.sleep(1)
s.type("PS1='inner> '\n")
check("TTY-02 bash -i has a prompt", s.wait("inner> ") is not None, s)
s.wait("inner> ", 1)
s.type("tty; echo t-$((1+1))\n")
check("TTY-02 no complaint about job control", "job control" not in (s.wait("t-2\r") or "job control"), s)
s.type("sleep 100\n")
time.sleep(0.5)
s.type("\x1a")
check("TTY-02 ^Z stops a job inside", s.wait("Stopped") is not None, s)
s.type("fg\n")
time.sleep(0.5)
s.type("\x03")
time.sleep(0.3)
s.type("echo rc=$?\n")
check("TTY-02 fg and ^C end it", s.wait("rc=130") is not None, s)
s.resize(33, 91)
s.type("stty size\n")
check("TTY-02 a resize is seen", s.wait("33 91") is not None, s)
s.type("exit 7\n")
check("TTY-04 the status comes out", s.wait("status=7") is not None, s)
s.wait("outer> ")
s.type("read x; echo got=$x\n")
time.sleep(0.3)
s.type("word\n")
check("TTY-03 the outer shell can read", s.wait("got=word") is not None, s)
s.close()

s = Shell()
s.type(run + "bash --norc -ic 'exit 0'; read x; echo got=$x status=$?\n")
time.sleep(1.5)
s.type("word\n")
seen = s.wait("got=word status=0\r") or ""
check("TTY-03 after bash -ic the terminal is ours", "got=word" in seen, s)
check("TTY-03 without a word on standard error", "bash:" not in seen.split("status=$?", 1)[-1] and "sbx-exec" not in seen.split("status=$?", 1)[-1], s)
s.close()

s = Shell()
s.type(run + "sleep 100; echo status=$?\n")
time.sleep(1)
s.type("\x1a")
check("^Z stops the whole launch", s.wait("Stopped") is not None, s)
s.type("echo back-$((40+2))\n")
check("the outer shell has the keyboard", s.wait("back-42\r") is not None, s)
s.type("fg\n")
time.sleep(0.7)
s.type("\x03")
time.sleep(0.5)
s.type("echo status=$?\n")
check("fg and ^C end it with 130", s.wait("status=130\r") is not None, s)
s.type("jobs; echo none-$((1+1))\n")
check("no job is left", "sbx" not in (s.wait("none-2\r") or "sbx").split("none-$", 1)[-1], s)
s.close()

s = Shell()
s.type(run + "sh -c 'trap \"echo trapped; sleep 1; echo finished; exit 9\" INT; while :; do sleep 0.1; done'; echo status=$?\n")
time.sleep(1)
s.type("\x03")
check("^C reaches the program, whose trap runs to its end", s.wait("finished") is not None, s)
check("... with its status", s.wait("status=9\r") is not None, s)
s.close()

s = Shell()
s.type(run + "cat & sleep 1; echo go-$((1+1))\n")
s.wait("go-2\r")
time.sleep(0.5)
s.type("fg\n")
time.sleep(0.5)
s.type("echoed\n")
check("started in the background, fg gives it the terminal", s.wait("echoed\r\n(.*\r\n)?echoed") is not None, s)
s.type("\x04")
time.sleep(0.5)
s.type("echo after-$((1+1))\n")
check("and the shell has it afterwards", s.wait("after-2\r") is not None, s)
s.close()

s = Shell()
s.type("echo piped | " + run + "cat | cat; echo status=$?\n")
check("in a pipeline", s.wait("piped\r\n") is not None, s)
s.wait("outer> ")
s.type(run + "sleep 50 | cat; echo status=$?\n")
time.sleep(1)
s.type("\x1a")
check("^Z stops a pipeline", s.wait("Stopped") is not None, s)
s.type("fg\n")
time.sleep(0.5)
s.type("\x03")
time.sleep(0.5)
s.type("echo after-$((1+1))\n")
check("fg and ^C end it", s.wait("after-2\r") is not None, s)
s.close()

s = Shell()
s.type("stty -g >before; " + run + "stty raw -echo; stty -g >after; cmp before after && echo same-$((1+1))\n")
check("TTY-03 terminal modes are put back", s.wait("same-2\r") is not None, s)
s.type(run + "python3 -c 'import fcntl, termios; fcntl.ioctl(0, termios.TIOCEXCL); termios.tcflow(0, termios.TCOOFF)'; echo open-$((1+1)) >/dev/tty\n")
check("TTY-03 so is what no modes tell: it can be opened, and goes on", s.wait("open-2\r") is not None, s)
if namespaces:  # else the policy would have to share the user's other terminals
    s.type(run + "python3 -c 'import os; print(os.openpty())'; echo status=$?\n")
    check("TTY-06 openpty works", s.wait("status=0\r") is not None, s)
    s.type(run + "script -qc true /dev/null; echo status=$?\n")
    check("TTY-06 script too", s.wait("status=0\r") is not None, s)
s.close()

s = Shell()
s.type(run + "sleep 1\n")
time.sleep(0.6)
s.type("echo ahead-$((1+1))\n")
check("what is typed ahead of the end of a plain program is kept", s.wait("ahead-2\r") is not None, s)
answers = "python3 -c 'import sys,termios,tty,os,time; %s; sys.stdout.write(\"\\033[c\"); sys.stdout.flush(); time.sleep(1); %s'"
for what, before, after in (("left raw", "tty.setraw(0)", "0"), ("killed", "0", "os.kill(os.getpid(), 9)")):
    s.type(run + answers % (before, after) + "; echo end-$((1+1))\n")
    s.wait("\033\\[c")
    s.type("\033[?62;c echo INJECTED\n")
    s.wait("end-2\r")
    s.type("echo then-$((1+1))\n")
    seen = s.wait("then-2\r") or "INJECTED\r"
    check(f"an answer to a program that was {what} does not reach the shell", "INJECTED\r\n" not in seen.replace("echo INJECTED", ""), s)
s.close()

s = Shell()
s.type(run + "bash --norc --noprofile -ic 'kill -9 $$'; echo status=$?\n")
check("TTY-03 after a shell that was killed, status 137", s.wait("status=137\r") is not None, s)
s.type("read x; echo got=$x\n")
time.sleep(0.3)
s.type("word\n")
check("... the terminal is the outer shell's", s.wait("got=word\r") is not None, s)
s.type("for i in 1 2 3; do " + run + "sleep 20; done; echo loop-$((1+1))\n")
time.sleep(1)
s.type("\x03")
time.sleep(0.5)
s.type("echo out-$((1+1))\n")
check("^C ends a loop of launches", s.wait("out-2\r", 5) is not None, s)
s.close()

# A terminal that is closed.
s = Shell()
s.type(run + "sh -c 'trap \"\" HUP; echo $$ >pid; echo on-$((1+1)); while :; do sleep 0.1; done'\n")
check("a program that ignores SIGHUP runs", s.wait("on-2\r") is not None, s)
children = open(f"/proc/{s.pid}/task/{s.pid}/children").read().split()
os.close(s.fd)
end = time.time() + 9
while time.time() < end and any(os.path.exists(f"/proc/{p}") for p in children):
    time.sleep(0.1)
check("... and ends some seconds after its terminal was closed", children and time.time() < end)
os.waitpid(s.pid, 0)

# Signals from outside, and no terminal at all.
p = subprocess.Popen(launch + ["sh", "-c", "trap 'echo term; exit 5' TERM; while :; do sleep 0.05; done"],
                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
time.sleep(0.8)
p.terminate()
check("SIGTERM is handed on to the program", p.communicate()[0] == b"term\n" and p.returncode == 5)
p = subprocess.Popen(launch + ["sleep", "100"], stdin=subprocess.DEVNULL, start_new_session=True)
time.sleep(0.8)
p.send_signal(signal.SIGINT)
p.wait(10)
check("SIGINT by kill(1) too", p.returncode in (130, -2))
check("last", True)
