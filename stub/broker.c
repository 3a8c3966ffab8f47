/*
 * stub/broker.c - connect(2), decided and made outside.
 *
 * One call after another: receive, fetch the socket and copy the address, ask
 * whether the caller is still that one, decide, connect, answer.  A timer ticks
 * meanwhile, whether or not the socket says it does not block (its flags are
 * shared with the caller, who may change them): what has to wait is handed on
 * to a worker, a process of its own, and nobody else waits for it.
 */
#include "stub/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "stub/broker_call.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/proc.h"
#include "stub/sys.h"

enum {
	TICK = 40, /* our signal; SIGALRM may be the caller's */
	SECOND_NS = 1000 * 1000 * 1000,
	SHORT_NS = SECOND_NS / 1000, /* a connect that takes longer is a worker's */
	LOOK_NS = SECOND_NS / 4,     /* a worker looks whether it is still wanted */
	GONE = -1,                   /* nobody waits for an answer any more */
	RESTART = 512,               /* ERESTARTSYS: what the kernel does after a signal, it does */
};

/* ---- the timer -------------------------------------------------------------------- */

static void interrupt(int number)
{
	(void)number;
}

/* Ticks until it is set to 0, since the first might come before we wait. */
static void set_timer(int timer, long ns)
{
	const struct itimerspec every = { { 0, ns }, { 0, ns } };

	syscall(SYS_timer_settime, timer, 0, &every, NULL);
}

static int make_timer(void)
{
	const struct sigaction action = { .sa_handler = interrupt }; /* no SA_RESTART */
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = TICK };
	sigset_t tick;
	int timer = -1;

	sigemptyset(&tick);
	sigaddset(&tick, TICK);
	sigaction(TICK, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &tick, NULL);
	if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer))
		return -1;
	return timer;
}

/* ---- the caller ------------------------------------------------------------------- */

/* Our own ticks interrupt these where somebody else is at the listener: a caller who
 * is not answered then would wait for ever. */
static int ask(int listener, unsigned long request, void *what)
{
	int result;

	do
		result = ioctl(listener, (int)request, what);
	while (result < 0 && errno == EINTR);
	return result;
}

/* 0: it still waits; GONE; or what it is told since that cannot be known. */
static int look_for(int listener, uint64_t id)
{
	if (!ask(listener, UAPI_NOTIF_ID_VALID, &id))
		return 0;
	return errno == ENOENT ? GONE : EACCES;
}

/* False: nobody can be answered. */
static bool answer(int listener, uint64_t id, int error)
{
	struct uapi_notif_answer message = { .id = id, .error = -error };

	return !ask(listener, UAPI_NOTIF_SEND, &message) || errno == ENOENT;
}

static int open_of(int caller, const char *what)
{
	char name[48];

	out_text(name, sizeof(name), "/proc/%d/%s", caller, what);
	return open(name, O_PATH | O_CLOEXEC);
}

static size_t read_status(int caller, char *text, size_t size)
{
	char name[48];

	out_text(name, sizeof(name), "/proc/%d/status", caller);
	return proc_read(name, text, size);
}

/* The thread itself, or on kernels before 6.9 its process. */
static int open_process(int caller)
{
	char status[2048];
	int fd = (int)syscall(SYS_pidfd_open, caller, UAPI_PIDFD_THREAD);

	if (fd < 0 && errno == EINVAL)
		fd = (int)syscall(SYS_pidfd_open, caller, 0);
	if (fd >= 0 || !read_status(caller, status, sizeof(status)))
		return fd;
	return (int)syscall(SYS_pidfd_open, (pid_t)proc_number(status, "\nTgid:", 10), 0);
}

static int fetch_socket(struct call *call, int number)
{
	socklen_t size = sizeof(call->domain);
	int process = open_process(call->caller), error = 0;

	if (process < 0)
		return EACCES;
	call->socket = (int)syscall(SYS_pidfd_getfd, process, number, 0);
	if (call->socket < 0)
		error = errno;
	close(process);
	if (!error && getsockopt(call->socket, SOL_SOCKET, SO_DOMAIN, &call->domain, &size))
		error = errno; /* ENOTSOCK, EBADF */
	return error;
}

static int copy_address(struct call *call, uint64_t address, int length)
{
	struct iovec to = { call->address.bytes, 0 }, from = { (void *)(uintptr_t)address, 0 };

	if (length < 0 || (size_t)length > sizeof(call->address))
		return EINVAL;
	call->length = (unsigned)length;
	to.iov_len = from.iov_len = (size_t)length;
	if (length && process_vm_readv(call->caller, &to, 1, &from, 1, 0) != length)
		return errno == EPERM ? EPERM : EFAULT;
	return 0;
}

/* EPERM: it is closed to us, as an agent that guards its memory may be. */
static int fetch(struct call *call, const struct uapi_notif *asked)
{
	char text[109];
	int error = fetch_socket(call, (int)asked->args[0]);

	if (!error && asked->nr == SYS_connect)
		error = copy_address(call, asked->args[1], (int)asked->args[2]);
	if (!error && call_path(call, text)) {
		call->root = open_of(call->caller, "root");
		call->directory = *text == '/' ? -1 : open_of(call->caller, "cwd");
		if (call->root < 0 || (*text != '/' && call->directory < 0))
			error = EACCES;
	}
	return error;
}

static void close_one(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* ---- connecting ------------------------------------------------------------------- */

static int try_connect(const struct call *call)
{
	return connect(call->socket, &call->address.any, call->length) ? errno : 0;
}

/* Has it a signal to take, which it cannot while it waits for us?  One that was
 * sent to the process is the first thread's, if any thread's. */
static bool is_signalled(int caller)
{
	char status[2048];
	uint64_t pending;

	if (!read_status(caller, status, sizeof(status)))
		return false;
	pending = proc_number(status, "\nSigPnd:", 16);
	if (proc_number(status, "\nTgid:", 10) == (uint64_t)caller)
		pending |= proc_number(status, "\nShdPnd:", 16);
	return pending & ~proc_number(status, "\nSigBlk:", 16) &
	       ~proc_number(status, "\nSigIgn:", 16);
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	sys_clock(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* How long the socket would wait; 0: for ever. */
static uint64_t patience(const struct call *call)
{
	struct timeval limit = { 0 };
	socklen_t size = sizeof(limit);

	getsockopt(call->socket, SOL_SOCKET, SO_SNDTIMEO, &limit, &size);
	return (uint64_t)limit.tv_sec * SECOND_NS + (uint64_t)limit.tv_usec * 1000;
}

/* In a worker, which takes over what was begun: 0 or an errno, or GONE. */
static int wait_connected(const struct broker *broker, const struct call *call, uint64_t limit)
{
	uint64_t start = clock_ns();

	for (;;) {
		int error = try_connect(call), gone;
		struct pollfd fd = { call->socket, POLLOUT, 0 };

		/* Somebody lets it not block any more; the first call still does. */
		if (error == EALREADY && poll(&fd, 1, -1) > 0)
			continue;
		if (error == EISCONN && call->domain != AF_UNIX)
			return 0;
		if (error != EINTR && error != EALREADY)
			return error;
		gone = look_for(broker->listener, call->id);
		if (gone)
			return gone;
		if (is_signalled(call->caller))
			return RESTART;
		if (limit && clock_ns() - start >= limit)
			return call->domain == AF_UNIX ? EAGAIN : EINPROGRESS;
	}
}

static _Noreturn void work(const struct broker *broker, const struct call *call, pid_t parent)
{
	uint64_t limit = patience(call);
	int timer = make_timer(), error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	set_timer(timer, limit && limit < LOOK_NS ? (long)limit : LOOK_NS);
	/* The user's queue of signals may be full, by whose doing ever. */
	error = timer < 0 ? EAGAIN : wait_connected(broker, call, limit);
	error = broker_settle(broker, call, error);
	close(call->socket);
	if (error != GONE)
		answer(broker->listener, call->id, error);
	_exit(0);
}

/* EAGAIN: there are too many already. */
static int hand_on(struct broker *broker, const struct call *call)
{
	pid_t parent = getpid(), pid;

	if (broker->workers == BROKER_WORKERS)
		return EAGAIN;
	pid = sys_fork();
	if (pid == 0)
		work(broker, call, parent);
	if (pid < 0)
		return EAGAIN;
	broker->worker[broker->workers++] = pid;
	return GONE;
}

/* What is asked of the kernel for the program is asked with no capability: root's, and those of
 * who makes a user namespace, are not lent.  Whom it is handed on to has none either. */
static int decide_and_connect(const struct launch *launch, struct broker *broker, struct call *call)
{
	struct uapi_cap_header header = { UAPI_CAP_VERSION_3, 0 };
	struct uapi_cap_data had[2], none[2], now[2] = { { .effective = 1 } };
	int error;

	if (syscall(SYS_capget, &header, had))
		return EACCES;
	memcpy(none, had, sizeof(none));
	none[0].effective = none[1].effective = 0;
	/* Asked for again: what is around us may say yes and do nothing. */
	if (memcmp(none, had, sizeof(none)) &&
	    (syscall(SYS_capset, &header, none) || syscall(SYS_capget, &header, now) ||
	     memcmp(none, now, sizeof(none))))
		return EACCES;
	error = broker_decide(launch, broker, call);
	if (!error) {
		error = try_connect(call);
		if (error == EINTR)
			error = hand_on(broker, call);
		if (error != GONE)
			error = broker_settle(broker, call, error);
	}
	if (memcmp(none, had, sizeof(none)))
		syscall(SYS_capset, &header, had);
	return error;
}

static int serve(const struct launch *launch, struct broker *broker, struct call *call,
		 const struct uapi_notif *asked)
{
	int error = fetch(call, asked), gone = look_for(broker->listener, call->id);

	/* Was it still this caller that all of it was fetched from? */
	if (gone)
		return gone;
	if (error == EPERM) {
		if (!broker->said_closed)
			launch_remark(launch,
				      "a program that is closed to others (ssh-agent, one that may "
				      "not be read) wanted to connect and was refused: the connect "
				      "broker cannot look into it");
		broker->said_closed = true;
		broker->refused++;
		return EACCES;
	}
	if (!error && asked->nr == SYS_listen)
		return broker_listen(launch, broker, call, (int)asked->args[1]);
	return error ? error : decide_and_connect(launch, broker, call);
}

void broker_answer(const struct launch *launch, struct broker *broker)
{
	struct pollfd waiting = { broker->listener, POLLIN, 0 };
	struct uapi_notif asked = { 0 };
	struct call call = { .socket = -1, .root = -1, .directory = -1, .target = -1 };
	int error;

	/* Without one there, to receive would wait; without anybody left, for ever. */
	if (poll(&waiting, 1, 0) <= 0)
		return;
	if (!(waiting.revents & POLLIN)) {
		broker_stop(broker);
		return;
	}
	if (ioctl(broker->listener, UAPI_NOTIF_RECV, &asked))
		return;
	call.id = asked.id;
	call.caller = (int)asked.pid;
	/* Not even to close it takes longer: the caller may have told it to linger. */
	set_timer(broker->timer, SHORT_NS);
	error = serve(launch, broker, &call, &asked);
	close_one(call.socket); /* first: when the caller closes it, it shall be closed */
	if (error != GONE && !answer(broker->listener, call.id, error)) {
		note("the connect broker cannot answer (%s): nothing can connect any more",
		     out_error(errno));
		broker_stop(broker);
	}
	set_timer(broker->timer, 0);
	close_one(call.root);
	close_one(call.directory);
	close_one(call.target);
}

/* ---- beginning and end ------------------------------------------------------------ */

/* A device that is the host's under one of these names is not the session's. */
static void drop_device(struct broker *broker, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return;
	for (size_t i = 0; i < broker->device_count; i++)
		if (broker->devices[i] == st.st_dev)
			broker->devices[i--] = broker->devices[--broker->device_count];
}

void broker_find_devices(const struct launch *launch, struct broker *broker, const char *text)
{
	const struct plan *plan = &launch->plan;
	const char *end;

	broker->device_count = 0;
	while (broker->device_count < BROKER_DEVICES) {
		uint64_t device = out_read_number(text, &end);

		if (end == text)
			break;
		broker->devices[broker->device_count++] = device;
		text = out_skip(end);
	}
	for (size_t i = 0; i < plan->mounts.count; i++)
		if (plan->mounts.items[i].kind == MOUNT_TMP)
			drop_device(broker, plan->mounts.items[i].path);
	for (size_t i = 0; i < plan->masks.count; i++)
		if (plan->masks.items[i].kind == MASK_TMP || plan->masks.items[i].kind == MASK_COPY)
			drop_device(broker, plan->masks.items[i].path);
}

void broker_start(const struct launch *launch, struct broker *broker, int listener,
		  const char *devices)
{
	broker->listener = listener;
	broker->proxy = &launch->proxy;
	broker->timer = make_timer();
	if (broker->timer < 0) {
		note("the connect broker has no timer (%s): nothing can connect", out_error(errno));
		broker_stop(broker);
		return;
	}
	/* The caller wakes on this processor: half the time of a connect. */
	ioctl(listener, UAPI_NOTIF_SET_FLAGS, UAPI_NOTIF_SYNC_WAKE);
	broker_find_devices(launch, broker, devices);
	broker_find_sockets(launch, broker);
}

bool broker_reaped(struct broker *broker, int pid)
{
	for (unsigned i = 0; i < broker->workers; i++)
		if (broker->worker[i] == pid) {
			broker->worker[i] = broker->worker[--broker->workers];
			return true;
		}
	return false;
}

void broker_stop(struct broker *broker)
{
	if (broker->listener >= 0)
		close(broker->listener);
	broker->listener = -1;
	for (unsigned i = 0; i < broker->workers; i++)
		kill(broker->worker[i], SIGKILL);
}
