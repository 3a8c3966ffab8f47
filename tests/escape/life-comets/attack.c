/* Processes that are never there when one looks: each has ended before it can be killed, and
 * another goes on in its place. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static _Noreturn void fly(const char *name, double until)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	while (now() < until) {
		if (fork() > 0)
			_exit(0);
		setsid();
	}
	close(open(name, O_CREAT | O_WRONLY, 0600));
	exit(0);
}

int main(void)
{
	double until = now() + 0.4;
	const char *names[] = { "one", "two", "three" };

	for (int i = 0; i < 3; i++)
		if (fork() == 0)
			fly(names[i], until);
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	return 0;
}
