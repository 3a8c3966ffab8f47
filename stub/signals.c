/*
 * stub/signals.c - the caller's signals, and which of them are ours to take.
 *
 * While a session lasts all are blocked and read from a descriptor, since each
 * would end us and leave behind what we made; but for two of which the calls that
 * cause them tell, and two that come to nothing.
 */
#include "stub/supervise.h"

#include <string.h>
#include <sys/prctl.h>

#include "stub/launch.h"

void signals_fill(sigset_t *set)
{
	static const int passed[] = { SIGPIPE, SIGXFSZ, SIGWINCH, SIGURG };

	memset(set, 0xff, sizeof(*set)); /* also those that musl keeps for itself */
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		sigdelset(set, passed[i]);
}

void signals_take(struct launch *launch)
{
	struct sigaction action;
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	for (int number = 1; number < 64; number++) {
		if (!sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN)
			launch->plan.ignored |= 1ull << number;
		if (sigismember(&set, number) == 1)
			launch->plan.blocked |= 1ull << number;
	}
	signals_fill(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}
