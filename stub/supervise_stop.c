/*
 * stub/supervise_stop.c - the outer stage while the caller's job is stopped.
 *
 * Ctrl-Z stops this process, but the masks and the time of the session are still to be
 * looked to: a child does that until the job goes on.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/supervise.h"
#include "stub/supervise_watch.h"
#include "stub/sys.h"

/* Until the job goes on: how many masks were lifted.  What ends the session, it
 * continues the job for. */
static _Noreturn void stand_in(struct watch *s, pid_t job)
{
	struct pollfd fd = { s->signals, POLLIN, 0 };
	struct signalfd_siginfo info = { 0 };
	const char *why = NULL;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != job)
		_exit(0);
	s->word = 0; /* is the job's to wait for */
	watch_take_over(s->launch, &s->watching, sys_now_ms());
	while (!why && info.ssi_signo != SIGTERM && !(s->deadline && sys_now_ms() >= s->deadline)) {
		if (poll(&fd, 1, supervise_time_left(s)) > 0 &&
		    read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info) &&
		    info.ssi_signo == SIGIO)
			watch_notice(&s->watching, sys_now_ms());
		if (s->watching.inner && s->watching.due && sys_now_ms() >= s->watching.due)
			why = watch_look(s->launch, &s->watching, sys_now_ms());
	}
	if (why) {
		note("%s", why);
		supervise_end_sandbox(s);
	}
	if (info.ssi_signo != SIGTERM)
		kill(job, SIGCONT);
	_exit(s->watching.lifted < 255 ? (int)s->watching.lifted : 255);
}

/*
 * The job of the caller's shell is this process, so it has to stop as the program
 * did by @signal (0: with it).  What the program has started may run on, and
 * might have stopped it for that: somebody else looks to masks and time.
 */
void supervise_stop_with(struct watch *s, int signal)
{
	pid_t job = getpid(), other = -1;
	int status = 0;

	if (s->watching.seen || s->deadline) {
		other = sys_fork();
		if (other == 0)
			stand_in(s, job);
		if (other < 0) { /* the program may have seen to that: no stop then */
			if (s->program)
				syscall(SYS_pidfd_send_signal, s->pidfd, SIGCONT, NULL, 0);
			return;
		}
	}
	if (signal)
		terminal_follow_stop(s->program, signal);
	else
		terminal_stop();
	if (other < 0)
		return;
	kill(other, SIGTERM);
	while (waitpid(other, &status, 0) < 0 && errno == EINTR)
		;
	s->watching.lifted += WIFEXITED(status) ? (unsigned)WEXITSTATUS(status) : 0;
}
