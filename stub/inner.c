/*
 * stub/inner.c - process 1 of the sandbox.
 *
 * It finds itself where the backend has put it, and trusts nothing of that:
 * it closes what it was not asked to keep, lays the masks, drops every
 * capability, tries that all of it holds, enters the Landlock domain and only
 * then reports ready.  The program is its child.  Process 1 itself is not
 * dumpable and carries the program's filter, so nothing inside can make it do
 * anything; it reaps, and ends with the program.
 */
#include "stub/inner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stub/broker.h"
#include "stub/landlock.h"
#include "stub/out.h"
#include "stub/protocol.h"
#include "stub/proxy.h"
#include "stub/sys.h"

/* The outer stage cannot be told.  Where it is gone, nobody wants to know. */
static _Noreturn void give_up(void)
{
	if (errno != EPIPE)
		note("the sandbox cannot tell the launcher how it goes on: %s", out_error(errno));
	_exit(EXIT_REFUSED);
}

void inner_send(const struct inner *inner, unsigned kind, int value, const char *text)
{
	struct message message = { .kind = kind, .value = value };
	size_t length = strlen(text);
	ssize_t sent;

	if (length >= MESSAGE_TEXT)
		length = MESSAGE_TEXT - 1;
	memcpy(message.text, text, length);
	do
		sent = write(inner->socket, &message, sizeof(message) - MESSAGE_TEXT + length + 1);
	while (sent < 0 && errno == EINTR);
	if (sent < 0 && kind != MESSAGE_NOTE)
		give_up();
}

void inner_send_fd(const struct inner *inner, unsigned kind, int fd, const char *text)
{
	struct message message = { .kind = kind };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	size_t length = out_text(message.text, MESSAGE_TEXT, "%s", text);
	struct iovec part = { &message, sizeof(message) - MESSAGE_TEXT + length + 1 };
	struct msghdr head = { .msg_iov = &part,
			       .msg_iovlen = 1,
			       .msg_control = control,
			       .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&head);
	ssize_t sent;

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	do
		sent = sendmsg(inner->socket, &head, 0);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		give_up();
}

void inner_fail_text(const struct inner *inner, const char *text)
{
	if (inner->socket < 0)
		refuse("%s", text);
	inner_send(inner, MESSAGE_FAILED, 0, text);
	_exit(EXIT_REFUSED);
}

/* ---- descriptors ------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	return *(const long *)a < *(const long *)b ? -1 : *(const long *)a > *(const long *)b;
}

/* Only standard streams, the socket, and what the plan names stay open. */
static void close_others(const struct inner *inner)
{
	const struct plan *plan = &inner->plan;
	size_t count = 0;
	long *keep = mem_get((plan->masks.count + plan->pass_fds.count + 1) * sizeof(*keep));
	unsigned next = 3;

	keep[count++] = inner->socket;
	for (size_t i = 0; i < plan->masks.count; i++)
		if (plan->masks.items[i].copy_fd >= 3)
			keep[count++] = plan->masks.items[i].copy_fd;
	for (size_t i = 0; i < plan->pass_fds.count; i++)
		if (plan->pass_fds.items[i] >= 3)
			keep[count++] = plan->pass_fds.items[i];
	mem_sort(keep, count, sizeof(*keep), by_number);
	for (size_t i = 0; i < count; i++) {
		if ((unsigned)keep[i] > next && sys_close_range(next, (unsigned)keep[i] - 1, 0))
			inner_fail(inner,
				   "cannot close descriptors: %s: kernel 5.9 or newer is needed",
				   out_error(errno));
		next = (unsigned)keep[i] + 1;
	}
	if (sys_close_range(next, ~0u, 0))
		inner_fail(inner, "cannot close descriptors: %s: kernel 5.9 or newer is needed",
			   out_error(errno));
	fcntl(inner->socket, F_SETFD, FD_CLOEXEC);
	for (size_t i = 0; i < plan->masks.count; i++)
		if (plan->masks.items[i].copy_fd >= 3)
			fcntl(plan->masks.items[i].copy_fd, F_SETFD, FD_CLOEXEC);
}

static void take_stream(const char *number, int stream)
{
	const char *rest;
	int fd = (int)out_read_number(number, &rest);

	if (fd != stream && dup2(fd, stream) != stream)
		_exit(EXIT_REFUSED);
}

static void load(char **argv, struct inner *inner)
{
	const char *rest;
	int plan_fd = argv[2] ? (int)out_read_number(argv[2], &rest) : -1;
	struct stat st;
	void *data;

	if (plan_fd < 0 || !argv[3] || !argv[4])
		refuse("%s is not for use by hand", INNER_WORD);
	inner->socket = (int)out_read_number(argv[3], &rest);
	if (fcntl(plan_fd, F_GET_SEALS) < 0 || fstat(plan_fd, &st) || st.st_size <= 0)
		refuse("%s is not for use by hand", INNER_WORD);
	data = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, plan_fd, 0);
	if (data == MAP_FAILED || !plan_unpack(data, (size_t)st.st_size, &inner->plan))
		refuse("%s is not for use by hand", INNER_WORD);
	take_stream(argv[4], STDERR_FILENO);
	if (argv[5] && argv[6]) {
		take_stream(argv[5], STDIN_FILENO);
		take_stream(argv[6], STDOUT_FILENO);
	}
	close_others(inner);
}

/* ---- privileges -------------------------------------------------------------- */

const char *privileges_drop(void)
{
	struct uapi_cap_header header = { UAPI_CAP_VERSION_3, 0 };
	struct uapi_cap_data none[2] = { { 0, 0, 0 }, { 0, 0, 0 } }, now[2];

	/* Each is asked for again: what is around us may say yes and do nothing. */
	memset(now, 0xff, sizeof(now));
	errno = 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return out_string("no_new_privs: %s", out_error(errno));
	/* Whoever has none cannot take any out of the bounding set, nor gain one. */
	if (syscall(SYS_capget, &header, now) || memcmp(now, none, sizeof(now))) {
		int left = 0;

		/* Who may not take one out of the set, as in a container, cannot use it either. */
		for (unsigned long cap = 0; cap < 64; cap++)
			if (!prctl(PR_CAPBSET_DROP, cap))
				left |= prctl(PR_CAPBSET_READ, cap) == 1;
		prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
		syscall(SYS_capset, &header, none);
		memset(now, 0xff, sizeof(now));
		if (left || syscall(SYS_capget, &header, now) || memcmp(now, none, sizeof(now)))
			return "capabilities could not be dropped";
	}
	return NULL;
}

static void drop_privileges(const struct inner *inner)
{
	const char *why = privileges_drop();

	if (why)
		inner_fail(inner, "%s", why);
	errno = 0;
	if (prctl(PR_SET_DUMPABLE, 0) || prctl(PR_GET_DUMPABLE))
		inner_fail(inner, "process 1 could not be closed to others: %s", out_error(errno));
}

static void enter_directory(const struct inner *inner)
{
	const struct plan *plan = &inner->plan;
	struct stat st;

	if (chdir(plan->cwd) || stat(".", &st))
		inner_fail(inner, "the working directory %s cannot be entered inside: %s",
			   plan->cwd, out_error(errno));
	if (plan->cwd_ino && (st.st_ino != plan->cwd_ino || st.st_dev != plan->cwd_dev))
		inner_fail(inner, "the working directory %s is another one inside: start again",
			   plan->cwd);
}

static void wait_for_outer(const struct inner *inner)
{
	ssize_t got;
	char go;

	do
		got = read(inner->socket, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno != ECONNRESET)
		inner_fail(inner, "the launcher cannot be heard: %s", out_error(errno));
	if (got != 1) /* it is gone */
		_exit(EXIT_REFUSED);
}

/* ---- waiting ------------------------------------------------------------------- */

/* Who started us is outside the domain, so a signal that may not reach it reaches
 * nobody outside.  Asked, not concluded: the next one is for everybody. */
static bool signals_stay_inside(const struct inner *inner)
{
	return inner->plan.landlock_scoped & UAPI_LANDLOCK_SCOPE_SIGNAL && kill(getppid(), 0) &&
	       errno == EPERM;
}

/*
 * As process 1 we take all with us.  Under firejail process 1 is firejail's, which
 * waits for every process.  In a domain that signals do not leave, one reaches all
 * that is in it, and at once: who looks for them one by one is too late for a process
 * that has always ended already and left another (closing_end.c).
 */
static _Noreturn void end(const struct inner *inner)
{
	if (inner->plan.backend == SBX_FIREJAIL ||
	    (inner->plan.backend == SBX_LANDLOCK && signals_stay_inside(inner)))
		kill(-1, SIGKILL);
	_exit(0);
}

static void end_all(int signal)
{
	(void)signal;
	kill(-1, SIGKILL);
	_exit(EXIT_REFUSED);
}

/*
 * Firejail lives on when the outer stage is killed, and with it the sandbox.  So
 * the end of the socket is a signal, of a number that no policy speaks of.
 */
static void end_with_outer(const struct inner *inner)
{
	struct pollfd socket = { inner->socket, 0, 0 };
	sigset_t over;

	if (inner->plan.backend != SBX_FIREJAIL)
		return;
	sigemptyset(&over);
	sigaddset(&over, SIGRTMAX);
	sigprocmask(SIG_UNBLOCK, &over, NULL);
	signal(SIGRTMAX, end_all);
	if (fcntl(inner->socket, F_SETOWN, getpid()) || fcntl(inner->socket, F_SETSIG, SIGRTMAX) ||
	    fcntl(inner->socket, F_SETFL, O_ASYNC))
		inner_fail(inner, "the end of the launcher could not be watched: %s",
			   out_error(errno));
	if (poll(&socket, 1, 0) && socket.revents & POLLHUP)
		_exit(EXIT_REFUSED);
}

/* Only calls that prepare.c asked the policy about: the filter is attached. */
static _Noreturn void wait_for(const struct inner *inner, pid_t program)
{
	struct message message = { 0 };
	const size_t size = sizeof(message) - MESSAGE_TEXT + 1;
	int status;

	for (;;) {
		pid_t pid = wait4(-1, &status, WUNTRACED, NULL);

		if (pid < 0 && errno != EINTR)
			_exit(EXIT_REFUSED);
		if (pid != program)
			continue;
		if (WIFSTOPPED(status)) {
			message.kind = MESSAGE_STOPPED;
			message.value = WSTOPSIG(status);
		} else if (WIFSIGNALED(status)) {
			message.kind = MESSAGE_SIGNALLED;
			message.value = WTERMSIG(status);
		} else {
			message.kind = MESSAGE_EXITED;
			message.value = WEXITSTATUS(status);
		}
		if (write(inner->socket, &message, size) < 0 || !WIFSTOPPED(status))
			end(inner);
	}
}

/* ---- the stages of the stage ------------------------------------------------- */

/* A change of credentials forgets it, so it is said more than once. */
static void die_with_parent(const struct inner *inner)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		inner_fail(inner, "the sandbox cannot be tied to the launcher: %s",
			   out_error(errno));
}

/* Nobody but what runs here reaches it, and the proxy, outside, serves it. */
static void offer_proxy(const struct inner *inner)
{
	int socket = proxy_socket(SBX_PROXY_PORT);

	if (socket < 0)
		inner_fail(inner, "127.0.0.1:%u, the proxy's place, cannot be had inside: %s",
			   SBX_PROXY_PORT, out_error(errno));
	inner_send_fd(inner, MESSAGE_PROXY, socket, "");
	close(socket);
}

/* What bubblewrap or firejail made: looked at, masked, looked at again. */
static void settle_in_namespaces(const struct inner *inner)
{
	die_with_parent(inner);
	if (inner->plan.backend == SBX_BWRAP && getpid() != 1)
		inner_fail(inner, "the sandbox has no process namespace of its own");
	verify_namespaces(inner);
	verify_mounts(inner);
	if (inner->plan.backend == SBX_FIREJAIL) {
		firejail_verify_mounts(inner);
		firejail_verify_masks(inner);
	}
	wait_for_outer(inner); /* what masks lie on may still be missing */
	if (inner->plan.backend == SBX_BWRAP &&
	    (inner->plan.masks.count || nodes_are_ours(inner))) {
		masks_apply(inner);
		nodes_reopen(inner);
	}
	drop_privileges(inner);
	die_with_parent(inner);
	verify_masks(inner);
	if (inner->plan.proxy)
		offer_proxy(inner);
}

static void settle_here(const struct inner *inner)
{
	if (inner->socket >= 0) {
		die_with_parent(inner);
		wait_for_outer(inner);
	}
	drop_privileges(inner);
	if (inner->socket >= 0)
		die_with_parent(inner);
}

/* Under firejail process 1 is not ours, and only the outer stage can end it. */
static void send_ready(const struct inner *inner)
{
	int first;

	if (inner->plan.backend != SBX_FIREJAIL) {
		inner_send(inner, MESSAGE_READY, 0, "");
		return;
	}
	first = (int)syscall(SYS_pidfd_open, 1, 0);
	if (first < 0)
		inner_fail(inner, "process 1 cannot be held: %s", out_error(errno));
	inner_send_fd(inner, MESSAGE_READY, first, "");
	close(first);
}

/* The listener goes out before the filter that may forbid to send it, and with it
 * what only a look from here can tell. */
static void attach_broker(const struct inner *inner)
{
	char devices[MESSAGE_TEXT];
	int listener = broker_attach(&inner->plan);

	if (listener < 0)
		inner_fail(inner, "the connect broker: %s",
			   errno == EBUSY ? "another program already answers for the "
					    "system calls made here: start outside it"
					  : out_error(errno));
	broker_list_devices(&inner->plan, devices, sizeof(devices));
	inner_send_fd(inner, MESSAGE_LISTENER, listener, devices);
	close(listener);
	wait_for_outer(inner);
}

static _Noreturn void confine_and_run(struct inner *inner)
{
	const char *failed;
	pid_t program;

	enter_directory(inner);
	failed = landlock_enter(&inner->plan);
	if (failed)
		inner_fail(inner, "%s", failed);
	if (inner->socket < 0) {
		program_prepare(inner);
		program_run(inner);
	}
	send_ready(inner);
	wait_for_outer(inner);
	program_prepare(inner);
	if (inner->plan.broker)
		attach_broker(inner);
	end_with_outer(inner);
	/* Attached once: the program inherits it. */
	if (inner->plan.filter_init)
		failed = program_filter(&inner->plan);
	if (failed)
		inner_fail(inner, "the filter was refused: %s", failed);
	program = sys_fork();
	if (program < 0)
		inner_fail(inner, "the program's process cannot be made: %s", out_error(errno));
	if (program == 0)
		program_run(inner);
	if (inner->plan.own_group)
		setpgid(program, program);
	wait_for(inner, program);
}

void inner_main(char **argv)
{
	struct inner *inner = mem_get(sizeof(*inner));

	load(argv, inner);
	settle_in_namespaces(inner);
	confine_and_run(inner);
}

void inner_run_here(const struct plan *plan, int socket)
{
	struct inner *inner = mem_get(sizeof(*inner));

	inner->plan = *plan;
	inner->socket = socket;
	if (socket >= 0)
		close_others(inner);
	settle_here(inner);
	confine_and_run(inner);
}
