/* Domains only add up.  What is asked: may a file be written that may only be read? */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static long domain(unsigned long files, unsigned flags)
{
	const uint64_t handled[] = { files, files ? 0 : 1 }; /* files, TCP (ABI 4) */
	struct landlock_path_beneath_attr all = { .allowed_access = files };
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, handled, sizeof(handled), 0);

	all.parent_fd = open("/", O_PATH);
	if (ruleset < 0)
		return -1;
	if (files && syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &all, 0))
		return -1;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_landlock_restrict_self, ruleset, flags);
}

static long written(void)
{
	return open("/run/host/plain", O_WRONLY);
}

static long after(unsigned long files, unsigned flags, int count)
{
	/* The seventeenth is refused, and that must not matter. */
	for (int i = 0; i < count; i++)
		if (domain(files, flags) && errno != E2BIG)
			return -1;
	return written();
}

int main(void)
{
	unsigned long files = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE;

	ALONE("wider", after(files, 0, 1));
	ALONE("no-files", after(0, 0, 1));
	ALONE("sixteen", after(files, 0, 20));
	ALONE("quiet", after(files, 1, 1)); /* LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF */
	return 0;
}
