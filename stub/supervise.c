/*
 * stub/supervise.c - the outer stage while the program runs.
 *
 * It waits for the inner stage's messages, for its own signals, for what the
 * connect broker is asked and for what the host does under the masks.  Signals
 * meant for the program are handed on to it by pidfd.  It is the subreaper of
 * all that it starts: who loses his parent becomes its child, so that at the
 * end nobody is out of reach (closing_end.c).  The session ends with the
 * program; what that left behind in the background ends with it.
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
#include "stub/closing.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/protocol.h"
#include "stub/supervise_watch.h"
#include "stub/sys.h"
#include "stub/watch.h"

/* Tests set it lower. */
#ifndef SBX_START_SECONDS
#define SBX_START_SECONDS 30
#endif
enum {
	START_MS = SBX_START_SECONDS * 1000, /* for the backend, until the program starts */
	END_MS = 5000,                       /* for the backend, once the program has ended */
	HANGUP_MS = 5000,                    /* for a program whose terminal was closed */
	WORD_MS = 1000,                      /* for the inner stage, once the program has ended */
};

uint64_t sys_now_ms(void)
{
	struct timespec ts;

	sys_clock(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

int supervise_time_left(const struct watch *s)
{
	uint64_t now = sys_now_ms(), next = s->deadline;

	if (s->watching.inner && s->watching.due && (!next || s->watching.due < next))
		next = s->watching.due;
	if (s->word && (!next || s->word < next))
		next = s->word;
	if (!next)
		return -1;
	if (now >= next)
		return 0;
	return next - now > 3600000 ? 3600000 : (int)(next - now);
}

/* firejail clears up behind its process 1, but not when it is killed itself. */
void supervise_end_sandbox(struct watch *s)
{
	if (s->first >= 0)
		syscall(SYS_pidfd_send_signal, s->first, SIGKILL, NULL, 0);
	else if (s->backend->kind == SBX_FIREJAIL)
		shutdown(s->backend->socket, SHUT_RDWR); /* for the inner stage to come */
	else
		kill(s->backend->pid, SIGKILL);
}

static void end_by_force(struct watch *s)
{
	supervise_end_sandbox(s);
	s->over = true;
}

static void fail(struct watch *s, const char *why)
{
	s->out->failed = why;
	s->out->status = EXIT_REFUSED;
	end_by_force(s);
}

static const char never_started[] = "the sandbox ended before the program started: start again";

/* All is verified; let it run, unless its guardian is gone already. */
static void let_go(struct watch *s)
{
	s->out->started = true;
	if (s->launch->options.check) { /* it could: that was the question */
		end_by_force(s);
		return;
	}
	if (!backend_go_on(s->backend))
		fail(s, never_started);
}

/* Not ready yet; NULL: there is none. */
static struct helper *awaited(const struct watch *s)
{
	for (size_t i = 0; i < HELPERS; i++)
		if (s->helpers[i]->pid && !s->helpers[i]->ready)
			return s->helpers[i];
	return NULL;
}

/* Once both the inner stage and the helpers are ready. */
static void let_go_together(struct watch *s)
{
	if (!s->ready || s->out->started || s->over || awaited(s))
		return;
	for (size_t i = 0; i < HELPERS; i++) {
		struct helper *helper = s->helpers[i];

		if (helper->pid &&
		    !helper_listen(helper, !i && s->launch->proxy.port ? PROXY_EXPECTED : 0)) {
			fail(s, out_string("%s could not be told where the program finds it: start "
					   "again",
					   helper->name));
			return;
		}
	}
	let_go(s);
}

static void hear_helper(struct watch *s, struct helper *helper)
{
	struct helper_message message;

	switch (helper_hear(helper, &message)) {
	case HELPER_READY:
		helper->ready = true;
		let_go_together(s);
		break;
	case HELPER_FAILED:
		fail(s, mem_string(message.text));
		break;
	case HELPER_NOTE:
		launch_remark(s->launch, "%s", message.text);
		break;
	case 0:
		if (s->out->started)
			note("%s has ended: %s from here on", helper->name, helper->without);
		else
			fail(s, out_string("%s ended before it was ready, without a word: see "
					   "whether `%s --version` works",
					   helper->path, strrchr(helper->path, '/') + 1));
	}
}

/* Its time counts from here on. */
static void take_start(struct watch *s, int program)
{
	uint64_t limit = s->launch->plan.wall_time;

	s->program = program;
	s->pidfd = (int)syscall(SYS_pidfd_open, program, 0);
	s->deadline = limit ? sys_now_ms() + limit * 1000 : 0;
}

static void take_listener(struct watch *s, int *listener, const char *devices)
{
	if (*listener < 0)
		fail(s, "the connect broker's listener did not arrive: start again");
	else
		broker_start(s->launch, &s->broker, *listener, devices);
	*listener = -1;
	backend_go_on(s->backend);
}

/* What is kept of it is no longer in *fd.  What comes a second time is not heard. */
static void take_message(struct watch *s, const struct message *message, int sender, int *fd)
{
	switch (message->kind) {
	case MESSAGE_READY:
		if (s->ready)
			break;
		s->watching.inner = sender;
		if (*fd >= 0) {
			s->first = *fd;
			*fd = -1;
			s->inner = (int)syscall(SYS_pidfd_open, sender, 0);
		}
		s->ready = true;
		let_go_together(s);
		break;
	case MESSAGE_PROXY:
		if (s->launch->proxy.helper.listener < 0) {
			s->launch->proxy.helper.listener = *fd;
			*fd = -1;
		}
		break;
	case MESSAGE_LISTENER:
		if (s->broker.listener < 0)
			take_listener(s, fd, message->text);
		break;
	case MESSAGE_FAILED:
		fail(s, mem_string(message->text));
		break;
	case MESSAGE_NOTE:
		launch_detail(s->launch, "%s", message->text);
		break;
	case MESSAGE_STARTED:
		if (!s->program)
			take_start(s, sender);
		break;
	case MESSAGE_STOPPED:
		if (s->program)
			supervise_stop_with(s, message->value);
		break;
	case MESSAGE_SIGNALLED:
		if (!s->program) {
			fail(s, never_started);
			break;
		}
		s->out->signal = message->value;
		s->out->status = 128 + message->value;
		s->over = true;
		break;
	case MESSAGE_EXITED:
		if (!s->program) {
			fail(s, never_started);
			break;
		}
		s->out->status = message->value;
		s->out->exited = s->over = true;
		break;
	}
}

/* The last of those that came; there should be one. */
static int descriptor_of(struct cmsghdr *cmsg)
{
	size_t size = cmsg->cmsg_len - CMSG_LEN(0);
	int fd = -1;

	for (size_t at = 0; at < size; at += sizeof(fd)) {
		if (fd >= 0)
			close(fd);
		memcpy(&fd, CMSG_DATA(cmsg) + at, sizeof(fd));
	}
	return fd;
}

/* False: the other end is closed, or (@flags) nothing is there. */
static bool receive(struct watch *s, int flags)
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
		size = recvmsg(s->backend->socket, &head, MSG_CMSG_CLOEXEC | flags);
	while (size < 0 && (errno == EINTR || errno == ECONNRESET));
	if (size < 0 && errno != EAGAIN)
		fail(s, out_string("the sandbox cannot be heard: %s", out_error(errno)));
	if (size < 0)
		return false;
	for (cmsg = CMSG_FIRSTHDR(&head); cmsg; cmsg = CMSG_NXTHDR(&head, cmsg)) {
		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_CREDENTIALS)
			memcpy(&sender, CMSG_DATA(cmsg), sizeof(sender));
		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS)
			fd = descriptor_of(cmsg);
	}
	if (size) /* an empty one is the end, whatever comes with it */
		take_message(s, &message, sender.pid, &fd);
	if (fd >= 0)
		close(fd);
	return size;
}

static void reap(struct watch *s)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == s->backend->pid) {
			s->ended = true;
			s->end_status = status;
		} else if (!broker_reaped(&s->broker, pid)) {
			for (size_t i = 0; i < HELPERS; i++)
				if (pid == s->helpers[i]->pid)
					s->helpers[i]->pid = 0;
		}
	}
}

/* A program that outlives its terminal on purpose was started to: nohup(1). */
static void take_hangup(struct watch *s)
{
	if (!(s->launch->plan.ignored >> SIGHUP & 1) && !s->hung_up && terminal_is_gone()) {
		s->hung_up = true;
		s->deadline = sys_now_ms() + HANGUP_MS;
	}
}

static void take_signal(struct watch *s)
{
	struct signalfd_siginfo info;
	int number;

	if (read(s->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	number = (int)info.ssi_signo;
	if (number == SIGCHLD) {
		reap(s);
		return;
	}
	if (number == SIGIO) {
		watch_notice(&s->watching, sys_now_ms());
		return;
	}
	if (number == SIGCONT) {
		if (s->program)
			terminal_follow_continue(s->program);
		return;
	}
	/* The terminal's own Ctrl-C reaches the program without us. */
	if (s->program && (number == SIGINT || number == SIGQUIT) && info.ssi_code > 0)
		return;
	if (number == SIGTSTP)
		supervise_stop_with(s, 0);
	if (number == SIGTSTP || number == SIGTTOU || number == SIGTTIN)
		return;
	/* The time of a processor that is over (ulimit -t) is ours. */
	if (s->program && !(number == SIGXCPU && info.ssi_code > 0)) {
		syscall(SYS_pidfd_send_signal, s->pidfd, number, NULL, 0);
		if (number == SIGHUP)
			take_hangup(s);
	} else if (number != SIGUSR1 && number != SIGUSR2) {
		s->out->status = 128 + number;
		s->out->started = true;
		end_by_force(s);
	}
}

static const char *captured(const struct backend *backend)
{
	char text[2048];
	ssize_t size = pread(backend->capture, text, sizeof(text) - 1, 0);

	while (size > 0 && text[size - 1] == '\n')
		size--;
	return mem_copy(text, size > 0 ? (size_t)size : 0);
}

/* The backend's own end; one that will not come is made. */
static void wait_for_end(struct watch *s)
{
	uint64_t until = sys_now_ms() + (s->program ? END_MS : WORD_MS);

	for (reap(s); !s->ended; reap(s)) {
		struct pollfd fd = { s->signals, POLLIN, 0 };
		struct signalfd_siginfo info;
		uint64_t now = sys_now_ms();

		if (now >= until) {
			kill(s->backend->pid, SIGKILL);
			until = now + END_MS;
		}
		if (poll(&fd, 1, (int)(until - now)) > 0 &&
		    read(s->signals, &info, sizeof(info)) < 0)
			return;
	}
}

static void conclude(struct watch *s)
{
	struct outcome *out = s->out;
	int status;

	if (s->lost && s->first >= 0)
		supervise_end_sandbox(s);
	wait_for_end(s);
	if (s->over || out->failed)
		return;
	status = s->end_status;
	out->status = EXIT_REFUSED;
	if (!out->started) {
		out->words = captured(s->backend);
	} else if (!s->program) {
		out->failed = never_started;
	} else {
		/* Whoever goes by himself says so first. */
		out->status = 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL);
		note("the sandbox was ended: its first process was killed (%s: %s %d)",
		     sbx_backend_name(s->backend->kind),
		     WIFSIGNALED(status) ? "signal" : "exit status",
		     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
}

static void take_time_out(struct watch *s)
{
	if (!s->program) {
		const struct helper *helper = awaited(s);

		fail(s, s->ready && helper
			    ? out_string("%s was not ready within %u s, and was ended: see "
					 "whether %s",
					 helper->name, SBX_START_SECONDS, helper->hangs)
			    : out_string("%s did not start the program within %u s, and was ended: "
					 "see whether a file system or the machine hangs, or take "
					 "another backend (--backend)",
					 sbx_backend_name(s->backend->kind), SBX_START_SECONDS));
		return;
	}
	s->out->status = s->hung_up ? 128 + SIGHUP : EXIT_TIME;
	if (!s->hung_up)
		note("wall-time of %llu s is over (limits of the policy): session ended",
		     (unsigned long long)s->launch->plan.wall_time);
	end_by_force(s);
}

/*
 * The program is gone, and who waits for it says nothing: stopped, perhaps by the
 * program, which reaches it where both are in one domain and no process namespace
 * makes it the first.  What is left of the program may stop it again.
 */
static void take_silence(struct watch *s, uint64_t now)
{
	if (!s->woken) {
		s->woken = true;
		s->word = now + END_MS;
		kill(s->watching.inner, SIGCONT);
		return;
	}
	s->out->status = 128 + SIGKILL;
	note("the session was ended: the program has ended, but its first process was stopped, "
	     "and could not say how");
	end_by_force(s);
}

static void look_at_masks(struct watch *s)
{
	const char *why = watch_look(s->launch, &s->watching, sys_now_ms());

	if (s->watching.devices)
		broker_find_devices(s->launch, &s->broker, s->watching.devices);
	s->watching.devices = NULL;
	if (why)
		fail(s, why);
}

/* One round: until something happens, or the time is over. */
static void look(struct watch *s)
{
	struct pollfd fds[] = {
		{ s->backend->socket, POLLIN, 0 },
		{ s->signals, POLLIN, 0 },
		{ s->broker.listener, POLLIN, 0 }, /* one that is negative is passed over */
		{ s->inner, POLLIN, 0 },
		{ s->word ? -1 : s->pidfd, POLLIN, 0 }, /* it stays readable */
		{ s->helpers[0]->socket, POLLIN, 0 },
		{ s->helpers[1]->socket, POLLIN, 0 },
	};
	int ready = poll(fds, sizeof(fds) / sizeof(*fds), supervise_time_left(s));
	uint64_t now = sys_now_ms();

	if (s->deadline && now >= s->deadline)
		take_time_out(s);
	if (ready < 0 || s->over)
		return;
	if (fds[2].revents)
		broker_answer(s->launch, &s->broker);
	for (size_t i = 0; i < HELPERS; i++)
		if (fds[5 + i].revents && s->helpers[i]->socket >= 0)
			hear_helper(s, s->helpers[i]);
	/* Until it is ready, what happens there is kept for later. */
	if (s->watching.inner && s->watching.due && now >= s->watching.due)
		look_at_masks(s);
	if (fds[1].revents)
		take_signal(s);
	if (fds[0].revents ? !receive(s, 0) : fds[3].revents)
		s->lost = true;
	if (fds[4].revents)
		s->word = now + WORD_MS;
	else if (s->word && now >= s->word && !fds[0].revents)
		take_silence(s, now);
	/* Its last words, whoever else still holds the other end. */
	while (s->ended && !s->over && !s->lost)
		s->lost = !receive(s, MSG_DONTWAIT);
}

void supervise(struct launch *launch, struct backend *backend, struct outcome *out)
{
	struct watch s = { .launch = launch,
			   .backend = backend,
			   .out = out,
			   .helpers = { &launch->proxy.helper, &launch->slurm.helper } };
	sigset_t set;

	memset(out, 0, sizeof(*out));
	out->words = "";
	s.broker.listener = s.first = s.inner = s.pidfd = -1;
	s.deadline = sys_now_ms() + START_MS;
	out_hurry(!launch->options.check);
	watch_start(launch, &s.watching);
	backend_go_on(backend);
	signals_fill(&set);
	sigdelset(&set, SIGALRM); /* out_hurry()'s; with its handler musl let others through */
	sigprocmask(SIG_BLOCK, &set, NULL);
	s.signals = signalfd(-1, &set, SFD_CLOEXEC);
	while (!s.over && !s.lost)
		look(&s);
	conclude(&s);
	close(s.signals);
	close(backend->socket);
	broker_stop(&s.broker);
	watch_end(&s.watching);
	out->refused = s.broker.refused;
	out->lifted = s.watching.lifted;
}
