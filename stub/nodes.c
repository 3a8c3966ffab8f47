/*
 * stub/nodes.c - device nodes, which are the host's.
 *
 * Bubblewrap's /dev is new, but null, zero, tty and the rest in it are the host's
 * own, bound there, and so is the terminal and what `device` grants.  Who owns one,
 * and root owns most, could change its mode, owner and times for the whole machine.
 * On a mount that is read-only he cannot, and a driver takes writes there as ever.
 * Streams came by a mount of the host's, and are opened anew by these names.
 */
#include "stub/inner.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "stub/sys.h"

#define TERMINAL "/dev/console"

static const char names[][16] = { "/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
				  "/dev/urandom", "/dev/tty",  TERMINAL };
enum { NAMES = sizeof(names) / sizeof(*names) };

static bool has_dev(const struct inner *inner)
{
	for (size_t i = 0; i < inner->plan.mounts.count; i++)
		if (inner->plan.mounts.items[i].kind == MOUNT_DEV)
			return true;
	return false;
}

static bool is_ours(const char *path)
{
	struct stat st;

	return !stat(path, &st) && st.st_uid == getuid();
}

bool nodes_are_ours(const struct inner *inner)
{
	bool ours = false;

	for (size_t i = 0; i < NAMES && has_dev(inner); i++)
		ours |= is_ours(names[i]);
	for (size_t i = 0; i < inner->plan.mounts.count; i++)
		ours |= inner->plan.mounts.items[i].kind == MOUNT_DEVICE &&
			is_ours(inner->plan.mounts.items[i].path);
	return ours;
}

static void close_node(const struct inner *inner, const char *path)
{
	int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_NOFOLLOW, UAPI_RESOLVE_NO_SYMLINKS);
	struct statvfs fs = { 0 };

	if (fd < 0 && errno == ENOENT)
		return;
	if (fd < 0 || sys_mount_setattr(fd, UAPI_AT_RECURSIVE, UAPI_MOUNT_ATTR_RDONLY) ||
	    fstatvfs(fd, &fs) || !(fs.f_flag & ST_RDONLY))
		inner_fail(inner, "%s cannot be made read-only: %s", path, out_error(errno));
	close(fd);
}

void nodes_close(const struct inner *inner)
{
	for (size_t i = 0; i < NAMES && has_dev(inner); i++)
		close_node(inner, names[i]);
	for (size_t i = 0; i < inner->plan.mounts.count; i++)
		if (inner->plan.mounts.items[i].kind == MOUNT_DEVICE)
			close_node(inner, inner->plan.mounts.items[i].path);
}

/* What cannot be opened anew, as a terminal that is another user's, is nobody's here. */
static void reopen(int fd)
{
	int flags = fcntl(fd, F_GETFL), again;
	struct stat st, node;
	const char *name = isatty(fd) ? TERMINAL : names[0];

	if (flags < 0 || fstat(fd, &st) || !S_ISCHR(st.st_mode) || stat(name, &node) ||
	    !S_ISCHR(node.st_mode) || node.st_rdev != st.st_rdev)
		return;
	again = open(name, (flags & (O_ACCMODE | O_APPEND | O_NONBLOCK)) | O_NOCTTY | O_CLOEXEC);
	if (again < 0)
		return;
	dup2(again, fd);
	close(again);
}

void nodes_reopen(const struct inner *inner)
{
	for (int fd = 0; fd < 3; fd++)
		reopen(fd);
	for (size_t i = 0; i < inner->plan.pass_fds.count; i++)
		reopen((int)inner->plan.pass_fds.items[i]);
}
