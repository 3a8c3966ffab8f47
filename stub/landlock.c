/*
 * stub/landlock.c - rules from the plan, masked by what the kernel knows.
 *
 * The mounts already hold every path rule.  Landlock holds them once more, and
 * some things that mounts cannot: execution of what may only be read, devices,
 * a descriptor opened again through /proc/self/fd, abstract sockets.
 */
#include "stub/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blob/blob.h"
#include "stub/plan.h"
#include "stub/sys.h"

/* What may be said of something that is not a directory. */
#define FILE_RIGHTS                                                                                \
	(UAPI_LANDLOCK_FS_EXECUTE | UAPI_LANDLOCK_FS_WRITE_FILE | UAPI_LANDLOCK_FS_READ_FILE |     \
	 UAPI_LANDLOCK_FS_TRUNCATE | UAPI_LANDLOCK_FS_IOCTL_DEV | UAPI_LANDLOCK_FS_RESOLVE_UNIX)

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
	return access & plan->landlock_fs;
}

static int add_path(int ruleset, const struct plan *plan, const struct plan_rule *rule)
{
	struct uapi_landlock_path path = { 0 };
	struct stat st;
	int error = 0;

	path.parent_fd =
	    sys_openat2(AT_FDCWD, rule->path, O_PATH | O_NOFOLLOW, UAPI_RESOLVE_NO_SYMLINKS);
	/* Not there inside, so nothing to open: a device of a narrower /dev. */
	if (path.parent_fd < 0)
		return errno == ENOENT || errno == EACCES ? 0 : -1;
	if (fstat(path.parent_fd, &st))
		return -1;
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

const char *landlock_enter(const struct plan *plan, const char **path)
{
	struct uapi_landlock_ruleset handled = { plan->landlock_fs, plan->landlock_net,
						 plan->landlock_scoped };
	size_t size = handled.scoped ? 24 : handled.net ? 16 : 8; /* as old kernels want it */
	int ruleset;

	*path = "/";
	if (!handled.fs && !handled.net && !handled.scoped)
		return NULL;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &handled, size, 0);
	if (ruleset < 0)
		return "the ruleset";
	for (size_t i = 0; handled.fs && i < plan->rules.count; i++) {
		*path = plan->rules.items[i].path;
		if (add_path(ruleset, plan, &plan->rules.items[i]))
			return "a rule";
	}
	*path = "/";
	for (size_t i = 0; handled.net & UAPI_LANDLOCK_NET_BIND_TCP && i < plan->ports.count; i++)
		if (add_port(ruleset, plan->ports.items[i]))
			return "a port";
	if (syscall(SYS_landlock_restrict_self, ruleset, 0))
		return "entering the domain";
	close(ruleset);
	return NULL;
}
