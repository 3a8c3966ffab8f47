/*
 * chaperon/run.c - see run.h.
 */
#include "chaperon/run.h"

#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE     65536
#define INPUT_MAX (1u << 20)

struct run {
	struct run *next, **link;
	const struct run_watch *watch;
	void *context;
	pid_t pid;
	int fds[3]; /* our ends; -1: closed.  A terminal: [0] and [1] are one */
	struct event *events[3];
	struct event *limit;
	struct evbuffer *input;
	bool input_ends, paused, exited, late, terminal;
	int status;
};

static struct run *runs; /* all that were begun and have not ended */

/* ---- starting ------------------------------------------------------------------------- */

/* Only what may be called between vfork and exec: the memory is still the parent's. */
static _Noreturn void become(char *const *argv, char *const *environment, const int ends[3],
			     bool terminal, volatile int *wrong)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (terminal) {
		setsid();
		ioctl(ends[0], TIOCSCTTY, 0);
	} else {
		setpgid(0, 0);
	}
	for (int i = 0; i < 3; i++)
		dup2(ends[i], i);
	close_range(3, ~0u, 0);
	if (!chdir("/"))
		execve(argv[0], argv, environment);
	*wrong = errno;
	_exit(127);
}

static void close_all(const int fds[3])
{
	for (int i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* @ours and @theirs: descriptors above 2, close on exec. */
static bool make_pipes(int ours[3], int theirs[3])
{
	for (int i = 0; i < 3; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC))
			return false;
		ours[i] = i ? ends[0] : ends[1];
		theirs[i] = i ? ends[1] : ends[0];
		fcntl(ours[i], F_SETFL, O_NONBLOCK);
	}
	return true;
}

static bool make_terminal(const struct run_terminal *like, int ours[3], int theirs[3])
{
	struct winsize size = { .ws_row = like->rows, .ws_col = like->columns };
	int master, slave;

	if (openpty(&master, &slave, NULL, NULL, &size))
		return false;
	fcntl(master, F_SETFD, FD_CLOEXEC);
	fcntl(slave, F_SETFD, FD_CLOEXEC);
	ours[0] = master;
	ours[1] = fcntl(master, F_DUPFD_CLOEXEC, 3);
	theirs[0] = slave;
	theirs[1] = fcntl(slave, F_DUPFD_CLOEXEC, 3);
	theirs[2] = fcntl(slave, F_DUPFD_CLOEXEC, 3);
	fcntl(master, F_SETFL, O_NONBLOCK);
	return ours[1] >= 0 && theirs[1] >= 0 && theirs[2] >= 0;
}

/* ---- ending --------------------------------------------------------------------------- */

static void close_end(struct run *run, int which)
{
	if (run->events[which])
		event_free(run->events[which]);
	if (run->fds[which] >= 0)
		close(run->fds[which]);
	run->events[which] = NULL;
	run->fds[which] = -1;
}

static void run_free(struct run *run)
{
	*run->link = run->next;
	if (run->next)
		run->next->link = run->link;
	for (int i = 0; i < 3; i++)
		close_end(run, i);
	if (run->limit)
		event_free(run->limit);
	if (run->input)
		evbuffer_free(run->input);
	free(run);
}

enum heard { HEARD_SOME, HEARD_NOTHING, HEARD_THE_END };

static enum heard read_output(struct run *run, int which)
{
	static char piece[PIECE];
	ssize_t got;

	do
		got = read(run->fds[which], piece, sizeof(piece));
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == EAGAIN)
		return HEARD_NOTHING;
	if (got <= 0)
		return HEARD_THE_END; /* of a terminal: EIO */
	run->watch->output(run->context, which, piece, (size_t)got);
	return HEARD_SOME;
}

/* All output of a process that has ended is there already. */
static void finish(struct run *run)
{
	for (int i = 1; i < 3; i++)
		while (run->fds[i] >= 0 && !run->paused)
			if (read_output(run, i) != HEARD_SOME)
				close_end(run, i);
	if (run->paused)
		return; /* on with it once there is room */
	run->watch->end(run->context, run->late ? -1 : run->status);
	run_free(run);
}

void run_reap(void)
{
	struct run *next;

	for (struct run *run = runs; run; run = next) {
		next = run->next;
		if (!run->exited && waitpid(run->pid, &run->status, WNOHANG) == run->pid) {
			run->exited = true;
			finish(run);
		}
	}
}

void run_end_all(void)
{
	for (struct run *run = runs; run; run = run->next)
		run_signal(run, SIGTERM);
}

/* ---- while it runs ---------------------------------------------------------------------- */

static void on_output(evutil_socket_t fd, short what, void *context)
{
	struct run *run = context;
	int which = fd == run->fds[1] ? 1 : 2;

	(void)what;
	if (read_output(run, which) == HEARD_THE_END)
		close_end(run, which);
}

static void on_input(evutil_socket_t fd, short what, void *context)
{
	struct run *run = context;
	bool was_full = run_is_full(run);

	(void)what;
	if (evbuffer_get_length(run->input) && evbuffer_write(run->input, fd) < 0 &&
	    errno != EAGAIN) {
		evbuffer_drain(run->input, evbuffer_get_length(run->input));
		run->input_ends = true; /* it does not read any more */
	}
	if (evbuffer_get_length(run->input))
		event_add(run->events[0], NULL);
	else if (run->input_ends)
		close_end(run, 0);
	if (was_full && !run_is_full(run))
		run->watch->room(run->context);
}

static void on_limit(evutil_socket_t fd, short what, void *context)
{
	struct run *run = context;

	(void)fd;
	(void)what;
	if (run->late) {
		run_signal(run, SIGKILL);
		return;
	}
	run->late = true;
	run_signal(run, SIGTERM);
	evtimer_add(run->limit, &(struct timeval){ .tv_sec = 1 });
}

static bool watch_it(struct run *run, struct event_base *base, int seconds)
{
	run->input = evbuffer_new();
	run->events[0] = event_new(base, run->fds[0], EV_WRITE, on_input, run);
	run->events[1] = event_new(base, run->fds[1], EV_READ | EV_PERSIST, on_output, run);
	if (run->fds[2] >= 0)
		run->events[2] = event_new(base, run->fds[2], EV_READ | EV_PERSIST, on_output, run);
	run->limit = evtimer_new(base, on_limit, run);
	if (!run->input || !run->events[0] || !run->events[1] || !run->limit)
		return false;
	event_add(run->events[1], NULL);
	if (run->events[2])
		event_add(run->events[2], NULL);
	if (seconds)
		evtimer_add(run->limit, &(struct timeval){ .tv_sec = seconds });
	return true;
}

/* To copy the tables of our memory would cost more than all else here; no handler of ours
 * runs in the child.  Since memory is shared until it has begun, it can say that it has
 * not: by its status it could not, since each may be the program's own. */
static pid_t start(char *const *argv, char *const *environment, const int ends[3], bool terminal)
{
	volatile int wrong = 0;
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = vfork();
	if (!pid)
		become(argv, environment, ends, terminal, &wrong);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0 || !wrong)
		return pid;
	waitpid(pid, NULL, 0);
	errno = wrong;
	return -1;
}

struct run *run_begin(struct event_base *base, char *const *argv, char *const *environment,
		      const struct run_terminal *terminal, int seconds,
		      const struct run_watch *watch, void *context)
{
	struct run *run = calloc(1, sizeof(*run));
	int theirs[3] = { -1, -1, -1 };

	if (!run)
		return NULL;
	*run = (struct run){ .next = runs,
			     .link = &runs,
			     .watch = watch,
			     .context = context,
			     .pid = -1,
			     .fds = { -1, -1, -1 },
			     .terminal = terminal && terminal->wanted };
	if (runs)
		runs->link = &run->next;
	runs = run;
	if ((run->terminal ? make_terminal(terminal, run->fds, theirs)
			   : make_pipes(run->fds, theirs)) &&
	    watch_it(run, base, seconds))
		run->pid = start(argv, environment, theirs, run->terminal);
	close_all(theirs);
	if (run->pid > 0)
		return run;
	run_free(run);
	return NULL;
}

bool run_is_full(const struct run *run)
{
	return evbuffer_get_length(run->input) >= INPUT_MAX;
}

bool run_input(struct run *run, const void *data, size_t size)
{
	if (run->fds[0] < 0 || run->input_ends || evbuffer_add(run->input, data, size))
		return false;
	event_add(run->events[0], NULL);
	return true;
}

void run_input_end(struct run *run)
{
	if (run->fds[0] < 0 || run->terminal)
		return; /* of a terminal: the other end hears it from the program's end */
	run->input_ends = true;
	event_add(run->events[0], NULL);
}

void run_resize(struct run *run, uint16_t rows, uint16_t columns)
{
	struct winsize size = { .ws_row = rows, .ws_col = columns };

	if (run->terminal && run->fds[0] >= 0)
		ioctl(run->fds[0], TIOCSWINSZ, &size);
}

void run_pause(struct run *run, bool on)
{
	if (run->paused == on)
		return;
	run->paused = on;
	for (int i = 1; i < 3; i++) {
		if (!run->events[i])
			continue;
		if (on)
			event_del(run->events[i]);
		else
			event_add(run->events[i], NULL);
	}
	if (!on && run->exited)
		finish(run);
}

void run_unlimited(struct run *run)
{
	if (!run->late)
		event_del(run->limit);
}

void run_signal(struct run *run, int signal)
{
	if (!run->exited && run->pid > 0)
		kill(-run->pid, signal);
}

pid_t run_pid(const struct run *run)
{
	return run->pid;
}
