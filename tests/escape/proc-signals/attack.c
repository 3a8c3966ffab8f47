#include "tests/escape/attack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

/* The kernel sends it, in our name: to a process, or to a group. */
static long owned(int owner, int command)
{
	struct f_owner_ex process = { F_OWNER_PID, owner };
	int ends[2];

	if (pipe(ends) ||
	    (command == F_SETOWN ? fcntl(ends[0], F_SETOWN, owner)
				 : fcntl(ends[0], F_SETOWN_EX, &process)) ||
	    fcntl(ends[0], F_SETSIG, command == F_SETOWN ? SIGIO : SIGUSR2) ||
	    fcntl(ends[0], F_SETFL, O_ASYNC))
		return -1;
	return write(ends[1], "x", 1) == 1 ? 0 : -1;
}

int main(int argc, char **argv)
{
	int pid = argc > 1 ? atoi(argv[1]) : 0, pidfd;
	siginfo_t info = { .si_code = SI_QUEUE };

	/* SIGWINCH does nothing, to whomever. */
	outcome("kill", kill(pid, SIGWINCH));
	outcome("tkill", syscall(SYS_tkill, pid, SIGWINCH));
	outcome("tgkill", syscall(SYS_tgkill, pid, pid, SIGWINCH));
	info.si_signo = SIGWINCH;
	outcome("sigqueue", syscall(SYS_rt_sigqueueinfo, pid, SIGWINCH, &info));
	outcome("tgsigqueue", syscall(SYS_rt_tgsigqueueinfo, pid, pid, SIGWINCH, &info));
	outcome("group", kill(-pid, SIGWINCH));
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	outcome("pidfd", syscall(SYS_pidfd_send_signal, pidfd, SIGWINCH, NULL, 0));
	kill(pid, SIGUSR1);
	owned(pid, F_SETOWN);
	owned(pid, F_SETOWN_EX);
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	return 0;
}
