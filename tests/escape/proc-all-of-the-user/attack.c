/* Calls that mean every process of a user, or of the caller's group. */
#include "tests/escape/attack.h"

#include <sys/resource.h>
#include <time.h>

int main(void)
{
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	kill(-1, SIGUSR1);
	kill(0, SIGUSR2);
	setpriority(PRIO_USER, 0, 7);
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	return 0;
}
