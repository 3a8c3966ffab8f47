/*
 * stub/landlock.c - rules from the plan, masked by what the kernel knows.
 *
 * Where there are mounts they already hold every path rule.  Landlock holds them
 * once more, and some things that mounts cannot: execution of what may only be
 * read, devices, a descriptor opened again through /proc/self/fd, abstract
 * sockets.  Without mounts it holds all of it.
 */
#include "stub/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blob/blob.h"
#include "stub/out.h"
#include "stub/plan.h"
#include "stub/sys.h"

/* What may be said of something that is not a directory. */
#define FILE_RIGHTS                                                                                \
	(UAPI_LANDLOCK_FS_EXECUTE | UAPI_LANDLOCK_FS_WRITE_FILE | UAPI_LANDLOCK_FS_READ_FILE |     \
	 UAPI_LANDLOCK_FS_TRUNCATE | UAPI_LANDLOCK_FS_IOCTL_DEV | UAPI_LANDLOCK_FS_RESOLVE_UNIX)

/* Asked once: which backend can, and what it then does, must rest on one answer. */
int sys_landlock_abi(void)
{
	static int abi = -2; /* not asked yet */

	if (abi < -1)
		abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0,
				   UAPI_LANDLOCK_CREATE_RULESET_VERSION);
#ifdef SBX_TEST_ABI /* tests: at most what the environment says */
	const char *most = getenv("SBX_TEST_ABI"), *rest;
	int limit = most ? (int)out_read_number(most, &rest) : abi;

	return limit < abi ? limit : abi;
#else
	return abi;
#endif
}

uint64_t landlock_known_fs(int abi)
{
	uint64_t known = 0x1fff;

	if (abi < 1)
		return 0;
	if (abi >= 2)
		known |= UAPI_LANDLOCK_FS_REFER;
	if (abi >= 3)
		known |= UAPI_LANDLOCK_FS_TRUNCATE;
	if (abi >= 5)
		known |= UAPI_LANDLOCK_FS_IOCTL_DEV;
	if (abi >= 9)
		known |= UAPI_LANDLOCK_FS_RESOLVE_UNIX;
	return known;
}

uint64_t landlock_known_net(int abi)
{
	return abi >= 4 ? UAPI_LANDLOCK_NET_BIND_TCP | UAPI_LANDLOCK_NET_CONNECT_TCP : 0;
}

uint64_t landlock_known_scoped(int abi)
{
	return abi >= 6 ? UAPI_LANDLOCK_SCOPE_ABSTRACT | UAPI_LANDLOCK_SCOPE_SIGNAL : 0;
}

static uint64_t access_of(const struct plan *plan, const struct plan_rule *rule, mode_t mode)
{
	uint64_t access = rule->extra;

	if (rule->rights & SBX_READ)
		access |= plan->landlock_read;
	if (rule->rights & SBX_WRITE)
		access |= plan->landlock_write;
	if (rule->rights & SBX_EXEC)
		access |= plan->landlock_exec;
	if (!S_ISDIR(mode))
		access &= FILE_RIGHTS;
	/* An older kernel keeps things out of it so (direct_tmp.c). */
	else if (rule->extra & ~plan->landlock_fs & UAPI_LANDLOCK_FS_IOCTL_DEV)
		access &= ~UAPI_LANDLOCK_FS_REFER;
	return access & plan->landlock_fs;
}

/* The rule's file as it was checked; -1: errno, 0 where there is none inside. */
static int open_checked(const struct plan *plan, const struct plan_rule *rule, struct stat *st)
{
	int fd;

	/* Without namespaces it is the inode that was checked or nothing, whichever
	 * links lead there, also for a launcher that is itself forbidden openat2. */
	if (plan->backend == SBX_LANDLOCK)
		fd = openat(AT_FDCWD, rule->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	else
		fd = sys_openat2(AT_FDCWD, rule->path, O_PATH | O_NOFOLLOW,
				 UAPI_RESOLVE_NO_SYMLINKS);
	/* Not there inside, so nothing to open: a device of a narrower /dev. */
	if (fd < 0 && (errno == ENOENT || errno == EACCES) && !rule->ino) {
		errno = 0;
		return -1;
	}
	if (fd < 0 || fstat(fd, st))
		return -1;
	if (rule->ino && (st->st_ino != rule->ino || st->st_dev != rule->dev)) {
		close(fd);
		errno = ESTALE;
		return -1;
	}
	return fd;
}

static int add_path(int ruleset, const struct plan *plan, const struct plan_rule *rule)
{
	struct uapi_landlock_path path = { 0 };
	struct stat st;
	int error = 0;

	path.parent_fd = open_checked(plan, rule, &st);
	if (path.parent_fd < 0)
		return errno ? -1 : 0;
	path.access = access_of(plan, rule, st.st_mode);
	if (path.access &&
	    syscall(SYS_landlock_add_rule, ruleset, UAPI_LANDLOCK_RULE_PATH_BENEATH, &path, 0))
		error = errno;
	close(path.parent_fd);
	errno = error;
	return error ? -1 : 0;
}

static int add_port(int ruleset, uint16_t number)
{
	struct uapi_landlock_port port = { .access = UAPI_LANDLOCK_NET_BIND_TCP, .port = number };

	return (int)syscall(SYS_landlock_add_rule, ruleset, UAPI_LANDLOCK_RULE_NET_PORT, &port, 0);
}

static const char *failure(const char *what, const char *path)
{
	return out_string(
	    "Landlock: %s%s%s%s: %s", what, path ? " (" : "", path ? path : "", path ? ")" : "",
	    errno == ESTALE ? "it changed while starting; start again" : out_error(errno));
}

/*
 * A filter around us may answer in the kernel's place, and say yes to everything.
 * The kernel never takes -1 for a ruleset; and "/" is listed only where a rule says so.
 */
static bool is_inside(const struct plan *plan)
{
	bool inside = syscall(SYS_landlock_restrict_self, -1, 0);
	int root;

	for (size_t i = 0; i < plan->rules.count; i++)
		if (plan->rules.items[i].rights & SBX_READ && !plan->rules.items[i].path[1])
			return inside;
	if (!plan->landlock_fs)
		return inside;
	root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root >= 0)
		close(root);
	return inside && root < 0 && errno == EACCES;
}

const char *landlock_enter(const struct plan *plan)
{
	struct uapi_landlock_ruleset handled = { plan->landlock_fs, plan->landlock_net,
						 plan->landlock_scoped };
	size_t size = handled.scoped ? 24 : handled.net ? 16 : 8; /* as old kernels want it */
	int ruleset;

#ifdef SBX_TEST_WITHOUT_LANDLOCK
	return NULL;
#endif
	if (!handled.fs && !handled.net && !handled.scoped)
		return NULL;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &handled, size, 0);
	if (ruleset < 0)
		return failure("the ruleset", NULL);
	for (size_t i = 0; handled.fs && i < plan->rules.count; i++)
		if (add_path(ruleset, plan, &plan->rules.items[i]))
			return failure("a rule", plan->rules.items[i].path);
	for (size_t i = 0; handled.net & UAPI_LANDLOCK_NET_BIND_TCP && i < plan->ports.count; i++)
		if (add_port(ruleset, plan->ports.items[i]))
			return failure("a port", out_number(plan->ports.items[i]));
	if (syscall(SYS_landlock_restrict_self, ruleset, 0))
		return errno == E2BIG ? "Landlock layer limit (16) reached: there are 16 sandboxes "
					"around already: start outside some of them"
				      : failure("entering the domain", NULL);
	close(ruleset);
	return is_inside(plan) ? NULL : out_error(0);
}
