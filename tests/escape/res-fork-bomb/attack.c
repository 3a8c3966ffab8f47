#include "tests/escape/attack.h"

#include <stdlib.h>
#include <sys/resource.h>

static long forked(void)
{
	for (int i = 0; i < 60; i++) {
		pid_t child = fork();

		if (child < 0)
			return -1;
		if (child == 0) {
			pause();
			exit(0);
		}
	}
	return 0;
}

static long raised(void)
{
	struct rlimit limit = { 1000, 1000 };

	return setrlimit(RLIMIT_NPROC, &limit) ? -1 : forked();
}

/* In a group of its own, whose end is the end of all that it made. */
static void grouped(const char *variant, long (*attack)(void))
{
	pid_t leader = fork();

	if (leader == 0) {
		setpgid(0, 0);
		outcome(variant, attack());
		kill(0, SIGKILL);
	}
	waitpid(leader, NULL, 0);
}

int main(void)
{
	grouped("fork", forked);
	grouped("raise", raised);
	return 0;
}
