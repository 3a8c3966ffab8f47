/*
 * tests/faults/trace.c - runs a launch, and makes one of its system calls fail.
 *
 *	faults-trace [-u UID] [-t SECONDS] -l LAUNCHER -o REPORT
 *		[-x STAGE:ORDINAL:CALL:N:VALUE[+]] -- COMMAND...
 *
 * A tracer of our own, since what has to fail is "the third openat of the inner
 * stage": which stage a process is in shows only in who made it and what it
 * executed, and strace counts by process alone.  It must be root to trace a
 * set-uid program (firejail) without taking that from it.
 *
 * CALL is a number.  The call is not made; VALUE is what it returns: -errno, or 0,
 * a success that is none.  With + every such call from the Nth on.  Without -x the
 * report lists all calls: "STAGE ORDINAL CALL N DETAIL PROCESS".  It ends with what
 * became of the launch: "hit", "started", "hung", "left PROCESSES", "status N".
 *
 *	outer     sbx-exec as it was called
 *	child     a process of its making; on the landlock backend the inner stage
 *	backend   bubblewrap, firejail and what they start
 *	inner     sbx-exec, started by these
 *	program   a child of the inner stage, until it executes the program
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/ptrace.h>

enum stage { NEW, OUTER, CHILD, BACKEND, INNER, PROGRAM, STARTED, STAGES };
static const char stage_names[STAGES][8] = { "new",   "outer",   "child",  "backend",
					     "inner", "program", "started" };
#define CALLS     512
#define PROCESSES 256

struct process {
	pid_t pid;
	enum stage stage;
	unsigned ordinal;
	bool failing; /* in the call that is to fail */
	bool known;   /* who made it; until then it is held where it stopped first */
	bool held;
	uint16_t count[CALLS];
};

static struct process processes[PROCESSES];
static unsigned ordinals[STAGES];
static pid_t first;
static bool over; /* its end is known; who is left is let go */
static FILE *report;
static struct stat launcher;
static struct {
	enum stage stage;
	unsigned ordinal, call, n;
	unsigned long long detail; /* of the first: the others are its like */
	long value;
	bool on, persists, hit;
} fault;
static volatile sig_atomic_t time_is_over;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static struct process *find(pid_t pid)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		if (processes[i].pid == pid)
			return &processes[i];
	for (unsigned i = 0; i < PROCESSES; i++)
		if (!processes[i].pid) {
			memset(&processes[i], 0, sizeof(processes[i]));
			processes[i].pid = pid;
			return &processes[i];
		}
	die("too many processes");
	return NULL;
}

static void enter_stage(struct process *p, enum stage stage)
{
	p->stage = stage;
	p->ordinal = ordinals[stage]++;
	memset(p->count, 0, sizeof(p->count));
}

static bool is_launcher(pid_t pid)
{
	char name[32];
	struct stat st;

	snprintf(name, sizeof(name), "/proc/%d/exe", pid);
	return !stat(name, &st) && st.st_ino == launcher.st_ino && st.st_dev == launcher.st_dev;
}

static void take_exec(struct process *p)
{
	bool ours = is_launcher(p->pid);

	switch (p->stage) {
	case NEW:
		if (ours)
			enter_stage(p, OUTER);
		break;
	case OUTER:
	case INNER:
	case PROGRAM:
		if (!ours) {
			enter_stage(p, STARTED);
			fprintf(report, "started\n");
		}
		break;
	case CHILD:
		enter_stage(p, BACKEND);
		break;
	case BACKEND:
		if (ours)
			enter_stage(p, INNER);
		break;
	default:
		break;
	}
}

static void go_on(const struct process *p, int signal);

static void take_child(const struct process *parent, pid_t pid)
{
	static const enum stage next[STAGES] = {
		[OUTER] = CHILD,   [CHILD] = PROGRAM,   [BACKEND] = BACKEND,
		[INNER] = PROGRAM, [PROGRAM] = PROGRAM, [STARTED] = STARTED,
	};
	struct process *child = find(pid);

	enter_stage(child, next[parent->stage]);
	child->known = true;
	if (child->held)
		go_on(child, 0);
	child->held = false;
}

/* What tells one such call from another: an option, a command, a request. */
static unsigned long long detail(const struct ptrace_syscall_info *info)
{
	switch (info->entry.nr) {
	case SYS_prctl:
	case SYS_seccomp:
		return info->entry.args[0];
	case SYS_fcntl:
	case SYS_ioctl:
	case SYS_prlimit64:
	case SYS_fsconfig:
		return info->entry.args[1];
	default:
		return 0;
	}
}

static void set_registers(pid_t pid, bool entry, long value)
{
	struct user_regs_struct regs;
	struct iovec part = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &part))
		return;
	if (entry)
		regs.orig_rax = (unsigned long)-1;
	else
		regs.rax = (unsigned long)value;
	ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &part);
}

static void take_call(struct process *p)
{
	struct ptrace_syscall_info info = { 0 };
	unsigned n;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, p->pid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && p->failing) {
		set_registers(p->pid, false, fault.value);
		p->failing = false;
	}
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr >= CALLS || p->stage == NEW)
		return;
	n = ++p->count[info.entry.nr];
	if (!fault.on) {
		fprintf(report, "%s %u %llu %u %llu %d\n", stage_names[p->stage], p->ordinal,
			(unsigned long long)info.entry.nr, n, detail(&info), p->pid);
		return;
	}
	if (p->stage == fault.stage && p->ordinal == fault.ordinal && info.entry.nr == fault.call &&
	    (n == fault.n || (fault.persists && fault.hit && detail(&info) == fault.detail))) {
		if (!fault.hit) {
			fault.detail = detail(&info);
			fprintf(report, "hit %llu\n", fault.detail);
		}
		fault.hit = p->failing = true;
		set_registers(p->pid, true, 0);
	}
}

/* Lets it go on; untraced once there is nothing more to see. */
static void go_on(const struct process *p, int signal)
{
	bool seen = over || p->stage == STARTED || (fault.hit && !fault.persists && !p->failing);

	ptrace(seen ? PTRACE_DETACH : PTRACE_SYSCALL, p->pid, 0, signal);
}

static void take_stop(pid_t pid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;
	struct process *p = find(pid);
	unsigned long child;

	if (signal == (SIGTRAP | 0x80)) {
		take_call(p);
		signal = 0;
	} else if (event == PTRACE_EVENT_EXEC) {
		take_exec(p);
		signal = 0;
	} else if (event == PTRACE_EVENT_STOP) {
		if (signal != SIGTRAP) { /* a job's: it stays so */
			ptrace(PTRACE_LISTEN, pid, 0, 0);
			return;
		}
		signal = 0;
		p->held = !p->known && pid != first;
		if (p->held)
			return;
	} else if (event) {
		if (!ptrace(PTRACE_GETEVENTMSG, pid, 0, &child))
			take_child(p, (pid_t)child);
		signal = 0;
	}
	go_on(p, signal);
}

static void on_alarm(int number)
{
	(void)number;
	time_is_over = 1;
}

static pid_t start(uid_t uid, char **command)
{
	int go[2];
	char byte;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		setsid();
		if (uid && (setgroups(0, NULL) || setgid(uid) || setuid(uid)))
			die("setuid");
		prctl(PR_SET_DUMPABLE, 1);
		if (read(go[0], &byte, 1) != 1)
			_exit(2);
		execv(command[0], command);
		die(command[0]);
	}
	if (ptrace(PTRACE_SEIZE, pid, 0,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		       PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL))
		die("ptrace");
	if (write(go[1], "g", 1) != 1)
		die("write");
	close(go[0]);
	close(go[1]);
	return pid;
}

/* Whoever lost his parent is ours, since we are the subreaper: and that is everybody
 * who is left.  True: there is somebody. */
static bool end_children(void)
{
	char name[64], text[4096];
	int fd;
	ssize_t size;
	bool any = false;

	snprintf(name, sizeof(name), "/proc/self/task/%d/children", getpid());
	fd = open(name, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = '\0';
	for (char *at = text, *end; *at; at = end) {
		long pid = strtol(at, &end, 10);

		if (end == at)
			break;
		kill((pid_t)pid, SIGKILL);
		any = true;
	}
	return any;
}

static void take_options(int argc, char **argv, uid_t *uid, unsigned *seconds)
{
	char stage[16], plus = 0;
	int option;

	while ((option = getopt(argc, argv, "+u:t:l:o:x:")) >= 0)
		switch (option) {
		case 'u':
			*uid = (uid_t)atoi(optarg);
			break;
		case 't':
			*seconds = (unsigned)atoi(optarg);
			break;
		case 'l':
			if (stat(optarg, &launcher))
				die(optarg);
			break;
		case 'o':
			report = fopen(optarg, "we");
			if (!report)
				die(optarg);
			break;
		case 'x':
			if (sscanf(optarg, "%15[^:]:%u:%u:%u:%ld%c", stage, &fault.ordinal,
				   &fault.call, &fault.n, &fault.value, &plus) < 5)
				die("-x");
			fault.persists = plus == '+';
			while (fault.stage < STAGES && strcmp(stage_names[fault.stage], stage))
				fault.stage++;
			fault.on = true;
			break;
		default:
			exit(2);
		}
}

int main(int argc, char **argv)
{
	const struct sigaction alarm_action = { .sa_handler = on_alarm };
	unsigned seconds = 20, left = 0;
	struct timespec pause = { 0, 2000000 };
	uid_t uid = 0;
	int status, end = -1;
	pid_t pid;

	take_options(argc, argv, &uid, &seconds);
	if (!report || optind >= argc)
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigaction(SIGALRM, &alarm_action, NULL);
	first = start(uid, argv + optind);
	alarm(seconds);
	while (end < 0) {
		pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && time_is_over) {
			fprintf(report, "hung\n");
			break;
		}
		if (pid < 0 && errno != EINTR)
			break;
		if (pid > 0 && WIFSTOPPED(status))
			take_stop(pid, status);
		else if (pid == first)
			end = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		else if (pid > 0)
			find(pid)->pid = 0;
	}
	over = true;
	/* The kernel needs a moment to end a process namespace. */
	for (unsigned i = 0; i < 500; i++) {
		while ((pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
			if (WIFSTOPPED(status))
				take_stop(pid, status);
		if (pid < 0 && errno == ECHILD)
			break;
		if (i > 100 || time_is_over)
			left += end_children();
		nanosleep(&pause, NULL);
	}
	if (left)
		fprintf(report, "left\n");
	fprintf(report, "status %d\n", end);
	return 0;
}
