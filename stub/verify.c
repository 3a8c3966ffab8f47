/*
 * stub/verify.c - tried, not believed.
 *
 * What the backend was asked for is looked at from inside: other namespaces,
 * the very inodes under the mounts, and for everything closed an attempt to
 * open it.  Runs before the Landlock domain, whose own refusals would hide a
 * mount that failed.
 */
#include "stub/inner.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "stub/sys.h"

void verify_namespaces(const struct inner *inner)
{
	static const char names[NAMESPACE_COUNT][5] = { "net", "pid", "mnt", "ipc", "uts", "user" };

	for (size_t i = 0; i < NAMESPACE_COUNT; i++) {
		struct stat st;

		if (i == 0 && inner->plan.share_net)
			continue;
		if (stat(out_string("/proc/self/ns/%s", names[i]), &st))
			inner_fail(inner,
				   "/proc is missing inside: the %s namespace cannot be checked",
				   names[i]);
		if (st.st_ino == inner->plan.namespaces[i])
			inner_fail(inner, "bubblewrap made no %s namespace", names[i]);
	}
}

/* True: a file could be made in the directory @path, or @path written. */
static bool can_write(const char *path, mode_t type)
{
	int fd;

	if (S_ISDIR(type)) {
		const char *name = mem_join(path, path[1] ? "/.sbx-probe" : ".sbx-probe");

		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0)
			unlink(name);
	} else {
		fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool can_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void verify_mounts(const struct inner *inner)
{
	if (can_write("/", S_IFDIR))
		inner_fail(inner, "the sandbox's root is writable");
	for (size_t i = 0; i < inner->plan.mounts.count; i++) {
		const struct plan_mount *mount = &inner->plan.mounts.items[i];
		struct statfs fs;
		struct stat st;

		if (mount->kind != MOUNT_BIND)
			continue;
		if (lstat(mount->path, &st) || st.st_ino != mount->st.st_ino ||
		    st.st_dev != mount->st.st_dev)
			inner_fail(inner, "%s is not what it was when it was checked: start again",
				   mount->path);
		if (mount->rights & SBX_WRITE)
			continue;
		if (statfs(mount->path, &fs) || !(fs.f_flags & ST_RDONLY))
			inner_fail(inner, "%s is not read-only inside", mount->path);
	}
}

void verify_masks(const struct inner *inner)
{
	for (size_t i = 0; i < inner->plan.masks.count; i++) {
		const struct plan_mask *mask = &inner->plan.masks.items[i];

		if (!mask->verify)
			continue;
		if (!(mask->rights & SBX_READ) && can_read(mask->path))
			inner_fail(inner, "%s is readable inside, but must not be", mask->path);
		if (!(mask->rights & SBX_WRITE) && can_write(mask->path, mask->mode))
			inner_fail(inner, "%s is writable inside, but must not be", mask->path);
	}
}
