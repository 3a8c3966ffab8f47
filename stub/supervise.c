/*
 * stub/supervise.c - the outer stage while the program runs.
 *
 * Two things to wait for: the inner stage's messages and our own signals.
 * Those meant for the program are handed on to it by pidfd; the tree needs no
 * killing by us, since bubblewrap dies with us and the process namespace with
 * it, whatever ends us.
 */
#include "stub/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stub/backend.h"
#include "stub/broker.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/protocol.h"
#include "stub/sys.h"
#include "stub/watch.h"

struct watch {
	struct launch *launch;
	struct backend *backend;
	struct outcome *out;
	int signals; /* signalfd */
	int program; /* its number outside; 0: not yet */
	int pidfd;
	uint64_t deadline; /* milliseconds, monotonic; 0: none */
	struct broker broker;
	struct watching watching;
	bool over;
	bool lost; /* the inner stage is gone without a word */
};

void signals_take(struct launch *launch)
{
	static const int taken[] = { SIGTERM, SIGHUP,  SIGINT,  SIGQUIT,
				     SIGUSR1, SIGUSR2, SIGCONT, SIGTTOU };
	struct sigaction action;
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	for (int number = 1; number < 64; number++) {
		if (!sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN)
			launch->plan.ignored |= 1ull << number;
		if (sigismember(&set, number) == 1)
			launch->plan.blocked |= 1ull << number;
	}
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		sigaddset(&set, taken[i]);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	sys_clock(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void end_by_force(struct watch *s)
{
	kill(s->backend->pid, SIGKILL);
	s->over = true;
}

static void fail(struct watch *s, const char *why)
{
	s->out->failed = why;
	s->out->status = EXIT_REFUSED;
	end_by_force(s);
}

/* All is verified; let it run, unless its guardian is gone already. */
static void let_go(struct watch *s)
{
	const struct plan *plan = &s->launch->plan;

	s->out->started = true;
	if (s->launch->options.check) { /* it could: that was the question */
		end_by_force(s);
		return;
	}
	if (!backend_go_on(s->backend)) {
		fail(s, "the sandbox ended before the program started");
		return;
	}
	if (plan->wall_time)
		s->deadline = now_ms() + plan->wall_time * 1000;
}

static void take_listener(struct watch *s, int listener, const char *devices)
{
	if (listener < 0)
		fail(s, "the connect broker's listener did not arrive: start again");
	else
		broker_start(s->launch, &s->broker, listener, devices);
	backend_go_on(s->backend);
}

static void take_message(struct watch *s, const struct message *message, int sender, int fd)
{
	switch (message->kind) {
	case MESSAGE_READY:
		s->watching.inner = sender;
		let_go(s);
		break;
	case MESSAGE_LISTENER:
		take_listener(s, fd, message->text);
		break;
	case MESSAGE_FAILED:
		fail(s, mem_string(message->text));
		break;
	case MESSAGE_NOTE:
		launch_detail(s->launch, "%s", message->text);
		break;
	case MESSAGE_STARTED:
		s->program = sender;
		s->pidfd = (int)syscall(SYS_pidfd_open, sender, 0);
		break;
	case MESSAGE_STOPPED:
		if (s->program)
			terminal_follow_stop(s->program, message->value);
		break;
	case MESSAGE_SIGNALLED:
		s->out->signal = message->value;
		s->out->status = 128 + message->value;
		s->over = true;
		break;
	case MESSAGE_EXITED:
		s->out->status = message->value;
		s->out->exited = s->over = true;
		break;
	}
}

/* False: the other end is closed. */
static bool receive(struct watch *s)
{
	struct message message;
	_Alignas(struct cmsghdr) char
	    control[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
	struct iovec part = { &message, sizeof(message) - 1 };
	struct msghdr head = { .msg_iov = &part,
			       .msg_iovlen = 1,
			       .msg_control = control,
			       .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg;
	struct ucred sender = { 0 };
	int fd = -1;
	ssize_t size;

	memset(&message, 0, sizeof(message));
	/* ECONNRESET, once: it ended without reading what we had sent, and its last
	 * words come next. */
	do
		size = recvmsg(s->backend->socket, &head, MSG_CMSG_CLOEXEC);
	while (size < 0 && (errno == EINTR || errno == ECONNRESET));
	if (size <= 0)
		return false;
	for (cmsg = CMSG_FIRSTHDR(&head); cmsg; cmsg = CMSG_NXTHDR(&head, cmsg)) {
		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_CREDENTIALS)
			memcpy(&sender, CMSG_DATA(cmsg), sizeof(sender));
		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS)
			memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	}
	take_message(s, &message, sender.pid, fd);
	return true;
}

static void take_signal(struct watch *s)
{
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo == SIGCONT) {
		if (s->program)
			terminal_follow_continue(s->program);
		return;
	}
	/* The terminal's own Ctrl-C reaches the program without us. */
	if ((info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT) && info.ssi_code > 0)
		return;
	if (info.ssi_signo == SIGTTOU)
		return;
	if (s->program)
		syscall(SYS_pidfd_send_signal, s->pidfd, (int)info.ssi_signo, NULL, 0);
	else if (info.ssi_signo != SIGUSR1 && info.ssi_signo != SIGUSR2) {
		s->out->status = 128 + (int)info.ssi_signo;
		s->out->started = true;
		end_by_force(s);
	}
}

static int time_left(const struct watch *s)
{
	uint64_t now = now_ms();

	if (!s->deadline)
		return -1;
	if (now >= s->deadline)
		return 0;
	return s->deadline - now > 3600000 ? 3600000 : (int)(s->deadline - now);
}

static const char *captured(const struct backend *backend)
{
	char text[2048];
	ssize_t size = pread(backend->capture, text, sizeof(text) - 1, 0);

	while (size > 0 && text[size - 1] == '\n')
		size--;
	return mem_copy(text, size > 0 ? (size_t)size : 0);
}

/* The backend's own end, once it is there. */
static void conclude(struct watch *s, bool told)
{
	int status = 0;

	while (waitpid(s->backend->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (told || s->out->failed)
		return;
	s->out->status = EXIT_REFUSED;
	if (!s->out->started) {
		s->out->words = captured(s->backend);
	} else {
		s->out->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : EXIT_REFUSED;
		note("the sandbox was ended from outside%s",
		     WIFSIGNALED(status) ? " (its first process was killed)" : "");
	}
}

static void take_time_out(struct watch *s)
{
	note("wall-time of %llu s is over (limits of the policy): session ended",
	     (unsigned long long)s->launch->plan.wall_time);
	s->out->status = EXIT_TIME;
	end_by_force(s);
}

/* One round: until something happens, or the time is over. */
static void look(struct watch *s)
{
	struct pollfd fds[] = {
		{ s->backend->socket, POLLIN, 0 },
		{ s->signals, POLLIN, 0 },
		{ s->broker.listener, POLLIN, 0 }, /* one that is negative is passed over */
		{ s->watching.events, POLLIN, 0 },
	};
	int ready = poll(fds, sizeof(fds) / sizeof(*fds), time_left(s));

	if (ready == 0 && s->deadline && now_ms() >= s->deadline)
		take_time_out(s);
	if (ready <= 0)
		return;
	if (fds[2].revents)
		broker_answer(s->launch, &s->broker);
	if (fds[3].revents)
		watch_look(s->launch, &s->watching);
	if (fds[1].revents)
		take_signal(s);
	if (fds[0].revents && !receive(s))
		s->lost = true;
}

void supervise(struct launch *launch, struct backend *backend, struct outcome *out)
{
	struct watch s = { .launch = launch, .backend = backend, .out = out };
	sigset_t set;

	memset(out, 0, sizeof(*out));
	out->words = "";
	s.broker.listener = s.watching.events = -1;
	watch_start(launch, &s.watching);
	sigprocmask(SIG_BLOCK, NULL, &set);
	s.signals = signalfd(-1, &set, SFD_CLOEXEC);
	while (!s.over && !s.lost)
		look(&s);
	conclude(&s, s.over);
	close(backend->socket);
	broker_stop(&s.broker);
	out->refused = s.broker.refused;
	out->lifted = s.watching.lifted;
}
