/* What is started outlives the launcher where there is no namespace that ends it. */
#include "tests/escape/attack_filter.h"

#include <fcntl.h>
#include <sys/file.h>

static void orphan(const char *path)
{
	int error;

	setsid();
	for (int i = 0; i < 500 && access("killed", F_OK); i++)
		usleep(10 * 1000);
	usleep(100 * 1000);
	if (!freopen("alone", "w", stdout))
		return;
	error = connect_to(path);
	errno = error;
	outcome("alone", error ? -1 : 0);
	if (!freopen("listener", "w", stdout))
		return;
	outcome("listener", reach_through_own_listener(path));
}

int main(int argc, char **argv)
{
	(void)argc;
	/* Locked until the last of us is gone. */
	flock(creat("orphan", 0600), LOCK_EX);
	if (fork() == 0) {
		orphan(argv[1]);
		return 0;
	}
	close(creat("begun", 0600));
	for (int i = 0; i < 100 && access("listener", F_OK); i++)
		usleep(10 * 1000);
	usleep(20 * 1000);
	return 0;
}
