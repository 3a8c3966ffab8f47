/*
 * chaperon/confine.c - see confine.h.
 *
 * It has the user's rights and reads what the session sends, and so do the real clients
 * that it starts.  They need munge, the configuration and the network, but change no file:
 * Landlock (Linux 5.13) takes that away from all of them, but for the records and the
 * envelopes of jobs.
 */
#include "chaperon/confine.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of linux/landlock.h, which Debian's headers have in part only. */
struct landlock_path {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));
#define LANDLOCK_WRITE_FILE   (1ull << 1)
#define LANDLOCK_CHANGES      (0x1ff0ull | LANDLOCK_WRITE_FILE) /* remove, make: ABI 1 */
#define LANDLOCK_REFER        (1ull << 13)                      /* ABI 2 */
#define LANDLOCK_TRUNCATE     (1ull << 14)                      /* ABI 3 */
#define LANDLOCK_PATH_BENEATH 1

const char *confine_process(void)
{
	pid_t parent = getppid();

	if (!getuid() || !geteuid())
		return "sbx-chaperon never runs as root";
	/* No limit and no umask is set: sbatch hands them on to the job. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return "a right of the process cannot be given up";
	return getppid() == parent ? NULL : "sbx-exec has ended";
}

static bool allow(int rules, const char *path, uint64_t rights)
{
	struct landlock_path rule = { .allowed = rights };
	bool added;

	rule.parent = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent < 0)
		return false;
	added = !syscall(SYS_landlock_add_rule, rules, LANDLOCK_PATH_BENEATH, &rule, 0);
	close(rule.parent);
	return added;
}

bool confine_files(const struct session *session)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
	uint64_t all =
	    LANDLOCK_CHANGES | (abi >= 2 ? LANDLOCK_REFER : 0) | (abi >= 3 ? LANDLOCK_TRUNCATE : 0);
	bool confined;
	int rules;

	if (abi < 1)
		return false;
	rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	if (rules < 0)
		return false;
	/* /dev: null, and terminals of its own. */
	confined = allow(rules, session->state, all) && allow(rules, session->jobs, all) &&
		   allow(rules, "/dev", LANDLOCK_WRITE_FILE | (all & LANDLOCK_TRUNCATE)) &&
		   !syscall(SYS_landlock_restrict_self, rules, 0);
	close(rules);
	return confined;
}
