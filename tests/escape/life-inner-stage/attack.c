/* The process that holds the sandbox is killed or stopped: something of it may go on without. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

static void rest(long milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	while (nanosleep(&time, &time))
		;
}

int main(void)
{
	pid_t parent = getppid();

	if (fork() == 0) {
		setsid();
		for (int fd = 0; fd < 3; fd++)
			dup2(open("/dev/null", O_RDWR), fd);
		rest(300);
		close(open("on", O_CREAT | O_WRONLY, 0600));
		exit(0);
	}
	kill(parent, SIGSTOP);
	rest(20);
	kill(parent, SIGCONT);
	kill(parent, SIGKILL);
	rest(20);
	return 0;
}
