/*
 * stub/broker_probe.c - could a broker run here?
 *
 * A launch asks what can be asked for nothing; what remains, another listener,
 * stops it when the filter is attached.  --check tries: a child attaches a filter
 * with a listener, and we fetch that descriptor and read the child's memory, as
 * the broker will do with those that call it.
 */
#include "stub/broker.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stub/backend.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/sys.h"

/* The child says how it went: the listener's number, or -errno; then it waits to
 * be told to end. */
static _Noreturn void be_probed(int reports, int orders)
{
	const struct plan plan = { .broker = true };
	int listener = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -1 : broker_attach(&plan);
	int report = listener < 0 ? -errno : listener;
	char byte;

	if (write(reports, &report, sizeof(report)) == sizeof(report) && read(orders, &byte, 1) > 0)
		_exit(1);
	_exit(0);
}

static int look_into(pid_t child, int fd)
{
	char here, there;
	struct iovec to = { &here, 1 }, from = { &there, 1 };
	int pidfd = (int)syscall(SYS_pidfd_open, child, 0), fetched, error = 0;

	if (pidfd < 0)
		return errno;
	fetched = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (fetched < 0 || process_vm_readv(child, &to, 1, &from, 1, 0) != 1)
		error = errno;
	if (fetched >= 0)
		close(fetched);
	close(pidfd);
	return error;
}

static int try_it(void)
{
	int reports[2], orders[2], report = -ECHILD, error;
	pid_t child;

	if (pipe2(reports, O_CLOEXEC))
		return errno;
	if (pipe2(orders, O_CLOEXEC)) {
		error = errno;
		close(reports[0]);
		close(reports[1]);
		return error;
	}
	child = sys_fork();
	if (child == 0) {
		close(orders[1]);
		be_probed(reports[1], orders[0]);
	}
	close(reports[1]);
	close(orders[0]);
	if (child > 0 && read(reports[0], &report, sizeof(report)) != sizeof(report))
		report = -ECHILD;
	error = report < 0 ? -report : look_into(child, report);
	close(reports[0]);
	close(orders[1]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return error;
}

/* Yama at 2: for those with CAP_SYS_PTRACE; at 3: for nobody. */
static int ask(void)
{
	long scope = backend_setting("/proc/sys/kernel/yama/ptrace_scope");

	if (scope > 2 || (scope == 2 && getuid()))
		return EPERM;
	return look_into(getpid(), STDIN_FILENO);
}

static const char *reason(int error)
{
	switch (error) {
	case 0:
		return NULL;
	case EBUSY:
		return "another program already answers for what is started here: "
		       "start sbx-exec outside it";
	case ENOSYS:
	case EINVAL:
		return "this kernel cannot hand descriptors over: update it to Linux 5.6";
	case EPERM:
	case EACCES:
		return "a process here may not look into its own children: set "
		       "kernel.yama.ptrace_scope to 0 or 1, or let the container use "
		       "pidfd_getfd and process_vm_readv";
	case EMFILE:
		return "too few files may be open: raise the limit, `ulimit -n`";
	default:
		return out_string("a trial failed: %s: start again", out_error(error));
	}
}

const char *broker_obstacle(const struct launch *launch)
{
	static bool tried;
	static const char *known;

	if (!tried)
		known = reason(launch->options.check ? try_it() : ask());
	tried = true;
	return known;
}
