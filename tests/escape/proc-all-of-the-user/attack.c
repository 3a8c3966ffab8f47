/* Calls that mean every process of a user, or of the caller's group. */
#include "tests/escape/attack.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#define PROCESS_GROUP 4 /* PIDFD_SIGNAL_PROCESS_GROUP of linux/pidfd.h, Linux 6.9 */

int main(void)
{
	int pidfd;

	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	kill(-1, SIGUSR1);
	kill(0, SIGUSR2);
	pidfd = (int)syscall(SYS_pidfd_open, getpgrp(), 0);
	syscall(SYS_pidfd_send_signal, pidfd, SIGURG, NULL, PROCESS_GROUP);
	setpriority(PRIO_USER, 0, 19);
	nanosleep(&(struct timespec){ .tv_nsec = 250000000 }, NULL);
	return 0;
}
