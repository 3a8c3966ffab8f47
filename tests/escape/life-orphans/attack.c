/* What would outlive the session: each writes a file some time after the program has ended. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

static _Noreturn void linger(const char *name)
{
	struct timespec rest = { .tv_nsec = 300000000 };
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	while (nanosleep(&rest, &rest))
		;
	close(open(name, O_CREAT | O_WRONLY, 0600));
	exit(0);
}

static void ignore_all(void)
{
	for (int number = 1; number < 64; number++)
		signal(number, SIG_IGN);
}

int main(void)
{
	if (fork() == 0)
		linger("child");
	if (fork() == 0) {
		setsid();
		linger("session");
	}
	if (fork() == 0) {
		setsid();
		if (fork() == 0)
			linger("twice");
		_exit(0);
	}
	if (fork() == 0) {
		ignore_all();
		setpgid(0, 0);
		linger("deaf");
	}
	if (fork() == 0) { /* it takes in what it starts, and goes */
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		if (fork() == 0) {
			if (fork() == 0)
				linger("subreaper");
			_exit(0);
		}
		linger("subreaper-itself");
	}
	if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0)
		linger("sibling");
	if (syscall(SYS_clone, 0, 0, 0, 0, 0) == 0) /* no signal when it ends */
		linger("silent");
	if (fork() == 0) { /* stopped, and continued by another */
		pid_t stopped = fork();

		if (stopped == 0)
			linger("stopped");
		kill(stopped, SIGSTOP);
		setsid();
		if (fork())
			_exit(0);
		nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
		kill(stopped, SIGCONT);
		linger("continuer");
	}
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	return 0;
}
