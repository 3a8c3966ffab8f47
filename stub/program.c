/*
 * stub/program.c - the last steps before the program runs.
 *
 * Its process group and terminal, its limits, its signals as the caller had
 * them, the filter, the exec.  Exit statuses as env(1)'s: 127 not found, 126
 * found but not executable.
 */
#include "stub/inner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "blob/bpf.h"
#include "stub/broker.h"
#include "stub/landlock.h"
#include "stub/protocol.h"
#include "stub/sys.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* NULL, or why not.  @refused: a call to see it by, since something around us may
 * answer in the kernel's place. */
static const char *attach(const void *filter, uint32_t count, uint32_t refused)
{
	struct uapi_sock_fprog program = { (unsigned short)count, filter };

#ifdef SBX_TEST_WITHOUT_SECCOMP
	return NULL;
#endif
	if (count && syscall(SYS_seccomp, UAPI_SECCOMP_SET_MODE_FILTER, 0, &program))
		return out_error(errno);
	if (count && refused &&
	    (syscall(refused, -1, 0, 0, 0, 0) != -1 || errno == EBADF || errno == ESRCH))
		return out_error(0);
	return NULL;
}

/* Who may choose his processors takes back what `cpus` left him without. */
static const char *keep_cpus(const struct plan *plan)
{
	static const struct uapi_sock_filter filter[] = {
		{ SBX_BPF_LOAD, 0, 0, SBX_DATA_NR },
		{ SBX_BPF_JEQ, 0, 1, SYS_sched_setaffinity },
		{ SBX_BPF_RET, 0, 0, SBX_RET_ERRNO | EPERM },
		{ SBX_BPF_RET, 0, 0, SBX_RET_ALLOW },
	};

	return attach(filter, plan->cpus ? sizeof(filter) / sizeof(*filter) : 0,
		      SYS_sched_setaffinity);
}

/* The policy's last: it may forbid to attach any more. */
const char *program_filter(const struct plan *plan)
{
	const char *why;

	if (plan->no_datagrams && !plan->broker && broker_attach(plan) < 0)
		return out_error(errno);
	why = keep_cpus(plan);
	if (!why)
		why = attach(plan->shared_filter, plan->shared_filter_count, plan->shared_refused);
	return why ? why : attach(plan->filter, plan->filter_count, plan->refused);
}

static void join_terminal(const struct plan *plan)
{
	sigset_t ttou, before;

	if (!plan->own_group)
		return;
	setpgid(0, 0);
	if (!plan->foreground)
		return;
	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	sigprocmask(SIG_BLOCK, &ttou, &before);
	tcsetpgrp(STDIN_FILENO, getpid());
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void set_cpus(const struct inner *inner, unsigned wanted)
{
	cpu_set_t now, chosen;
	unsigned count = 0;

	CPU_ZERO(&now);
	CPU_ZERO(&chosen);
	if (!wanted)
		return;
	sched_getaffinity(0, sizeof(now), &now);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE && count < wanted; cpu++)
		if (CPU_ISSET(cpu, &now)) {
			CPU_SET(cpu, &chosen);
			count++;
		}
	errno = 0;
	if (sched_setaffinity(0, sizeof(chosen), &chosen) ||
	    sched_getaffinity(0, sizeof(now), &now) || (unsigned)CPU_COUNT(&now) > wanted)
		inner_fail(inner, "the limit to %u cpus was refused: %s", wanted, out_error(errno));
}

static void set_limits(const struct inner *inner)
{
	const struct plan *plan = &inner->plan;

	set_cpus(inner, plan->cpus);
	for (size_t i = 0; i < plan->limits.count; i++) {
		const struct plan_limit *limit = &plan->limits.items[i];
		struct rlimit value = { limit->soft, limit->hard }, now = { ~limit->soft, 0 };

		errno = 0;
		if (sys_prlimit(limit->resource, &value, NULL) ||
		    sys_prlimit(limit->resource, NULL, &now) || now.rlim_max != limit->hard ||
		    now.rlim_cur != limit->soft)
			inner_fail(inner, "a limit (resource %d to %llu) was refused: %s",
				   limit->resource, (unsigned long long)limit->hard,
				   out_error(errno));
	}
}

/* As the caller had them; our own ignoring of SIGINT is not the program's.  Until
 * it starts they are blocked, and for the process that waits for it always: where
 * that is not the first of a process namespace, Ctrl-C must not end it. */
static void set_signals(const struct plan *plan)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int number = 1; number < 64; number++)
		if (number != SIGKILL && number != SIGSTOP && number != 32 && number != 33)
			signal(number, plan->ignored >> number & 1 ? SIG_IGN : SIG_DFL);
}

static void unblock_signals(const struct plan *plan)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	for (int number = 1; number < 64; number++)
		if (plan->blocked >> number & 1)
			sigaddset(&blocked, number);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/* ---- exec ---------------------------------------------------------------------- */

static const char *search_path(const struct plan *plan)
{
	for (size_t i = 0; i < plan->environ.count; i++)
		if (!strncmp(plan->environ.items[i], "PATH=", 5))
			return plan->environ.items[i] + 5;
	return DEFAULT_PATH;
}

/* A file without #! that is executable is the shell's, as for execvp(3). */
static void try_exec(const char *path, char **argv, char **environment)
{
	char **shell_argv;
	size_t count = 0;

	execve(path, argv, environment);
	if (errno != ENOEXEC)
		return;
	while (argv[count])
		count++;
	shell_argv = mem_get((count + 2) * sizeof(*shell_argv));
	shell_argv[0] = mem_string("sh");
	shell_argv[1] = mem_string(path);
	for (size_t i = 1; i < count; i++)
		shell_argv[i + 1] = argv[i];
	execve("/bin/sh", shell_argv, environment);
	errno = ENOEXEC;
}

static _Noreturn void report(const char *name, const char *path, int error, bool found)
{
	struct stat st;
	const char *why = out_error(error);

	if (!stat(name, &st) && strchr(name, '/')) {
		found = true;
		if (S_ISDIR(st.st_mode))
			why = "a directory";
		else if (error == ENOENT)
			why = "its interpreter or loader is not there inside";
		else if (error == EACCES && (st.st_mode & 0111))
			why = "the policy does not let it be executed";
	}
	if (error == ENOENT && !found && !strchr(name, '/'))
		note("%s: not found inside (PATH=%s)", name, path);
	else
		note("%s: %s", name, error == ENOENT && !found ? "not found inside" : why);
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
}

static _Noreturn void exec_program(char **argv, char **environment, const char *path)
{
	const char *name = argv[0];
	char file[PATH_MAX];
	int error = ENOENT;
	bool found = false;

	if (!*name || strchr(name, '/')) {
		try_exec(name, argv, environment);
		report(name, path, errno, false);
	}
	for (const char *dir = path; *dir && strlen(name) < NAME_MAX + 1;) {
		size_t length = strcspn(dir, ":");

		if (length && *dir == '/' && length + strlen(name) + 2 < sizeof(file)) {
			memcpy(file, dir, length);
			file[length] = '/';
			strcpy(file + length + 1, name);
			try_exec(file, argv, environment);
			if (errno != ENOENT && errno != ENOTDIR) {
				error = errno;
				found = true;
			} else if (!access(file, F_OK)) {
				report(file, path, ENOENT, true);
			}
		}
		dir += length;
		dir += *dir == ':';
	}
	report(name, path, error, found);
}

void program_prepare(struct inner *inner)
{
	const struct plan *plan = &inner->plan;

	/* Before the limit on memory.  execve() takes the strings as not const. */
	inner->argv = mem_get((plan->argv.count + 1) * sizeof(char *));
	inner->environ = mem_get((plan->environ.count + 1) * sizeof(char *));
	memcpy(inner->argv, plan->argv.items, plan->argv.count * sizeof(char *));
	if (plan->environ.count)
		memcpy(inner->environ, plan->environ.items, plan->environ.count * sizeof(char *));
	umask(plan->umask);
	set_limits(inner);
	if (inner->socket >= 0) /* else nobody has changed them */
		set_signals(plan);
}

void program_run(const struct inner *inner)
{
	const struct plan *plan = &inner->plan;
	const char *why = NULL;

	join_terminal(plan);
	/* Without a process namespace nothing else ends it when we are killed. */
	if (plan->backend == SBX_LANDLOCK && inner->socket >= 0 && prctl(PR_SET_PDEATHSIG, SIGKILL))
		inner_fail(inner, "the program cannot be tied to its session: %s",
			   out_error(errno));
	if (inner->socket >= 0) {
		inner_send(inner, MESSAGE_STARTED, 0, "");
		unblock_signals(plan);
	}
	if (!plan->filter_init || inner->socket < 0)
		why = program_filter(plan);
	if (why)
		inner_fail(inner, "the filter was refused: %s", why);
	exec_program(inner->argv, inner->environ, search_path(plan));
}
