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
#include <sys/syscall.h>
#include <unistd.h>

#include "stub/backend.h"
#include "stub/resolve.h"
#include "stub/sys.h"

void verify_namespaces(const struct inner *inner)
{
	static const char names[NAMESPACE_COUNT][5] = { "net", "pid", "mnt", "ipc", "uts", "user" };

	for (size_t i = 0; i < NAMESPACE_COUNT; i++) {
		struct stat st;

		if (i == 0 && inner->plan.share_net)
			continue;
		if (i == NAMESPACE_COUNT - 1 && inner->plan.backend == SBX_FIREJAIL)
			continue; /* it is set-uid and needs none */
		if (stat(out_string("/proc/self/ns/%s", names[i]), &st))
			inner_fail(inner,
				   "/proc is missing inside: the %s namespace cannot be checked",
				   names[i]);
		if (st.st_ino == inner->plan.namespaces[i])
			inner_fail(inner,
				   "%s made no %s namespace: start outside the sandbox or "
				   "container around",
				   sbx_backend_name(inner->plan.backend), names[i]);
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

/* What is empty or new must be another file system than outside, and as small as asked. */
static void verify_new(const struct inner *inner, const struct plan_mount *mount)
{
	struct statfs fs;
	struct stat st;

	if (lstat(mount->path, &st) || st.st_dev == mount->st.st_dev)
		inner_fail(inner, "%s made no %s of the sandbox's own",
			   sbx_backend_name(inner->plan.backend), mount->path);
	if (mount->kind == MOUNT_TMP && mount->size &&
	    (statfs(mount->path, &fs) || !fs.f_blocks ||
	     (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize > mount->size + (uint64_t)fs.f_bsize))
		inner_fail(inner, "%s has not the size inside that it must have", mount->path);
}

void verify_mounts(const struct inner *inner)
{
	if (can_write("/", S_IFDIR))
		inner_fail(inner, "the sandbox's root is writable");
	for (size_t i = 0; i < inner->plan.mounts.count; i++) {
		const struct plan_mount *mount = &inner->plan.mounts.items[i];
		struct statfs fs;
		struct stat st;

		if (inner->plan.backend == SBX_BWRAP &&
		    (mount->kind == MOUNT_TMP || mount->kind == MOUNT_PROC ||
		     mount->kind == MOUNT_DEV))
			verify_new(inner, mount);
		if (mount->kind != MOUNT_BIND)
			continue;
		/* firejail mounts /sys anew */
		if (lstat(mount->path, &st) || st.st_ino != mount->st.st_ino ||
		    (st.st_dev != mount->st.st_dev &&
		     !(inner->plan.backend == SBX_FIREJAIL && path_within(mount->path, "/sys"))))
			inner_fail(inner, "%s is not what it was when it was checked: start again",
				   mount->path);
		if (mount->rights & SBX_WRITE)
			continue;
		if (statfs(mount->path, &fs) || !(fs.f_flags & ST_RDONLY))
			inner_fail(inner, "%s is not read-only inside", mount->path);
	}
}

/* ---- covers ------------------------------------------------------------------ */

/* Is @path a mask's in a cover, or (*above) on the way to one? */
static bool is_covered(const struct inner *inner, const char *path, bool *above)
{
	size_t length = strlen(path);

	*above = false;
	for (size_t i = 0; i < inner->plan.masks.count; i++) {
		const struct plan_mask *mask = &inner->plan.masks.items[i];

		if (!mask->covered || strncmp(mask->path, path, length))
			continue;
		if (!mask->path[length])
			return true;
		*above |= mask->path[length] == '/';
	}
	return false;
}

/* All that is in @path, in the tmpfs of @cover, is what was put there. */
static void verify_cover(const struct inner *inner, const char *path, uint64_t device)
{
	_Alignas(struct uapi_dirent) char buffer[4096];
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs fs;
	struct stat st;
	long got = 0;

	if (dir < 0 || fstatfs(dir, &fs) || fs.f_type != UAPI_TMPFS_MAGIC || fstat(dir, &st) ||
	    (device && st.st_dev != device))
		inner_fail(inner, "%s is not covered inside, but must be", path);
	while ((got = syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got;) {
			const struct uapi_dirent *entry = (const void *)(buffer + at);
			const char *name;
			bool above;

			at += entry->length;
			if (!strcmp(entry->name, ".") || !strcmp(entry->name, ".."))
				continue;
			name = mem_join(path, mem_join("/", entry->name));
			if (is_covered(inner, name, &above))
				continue;
			if (!above)
				inner_fail(inner, "%s is there inside, but must not be", name);
			verify_cover(inner, name, st.st_dev);
		}
	if (got < 0)
		inner_fail(inner, "%s cannot be listed: %s", path, out_error(errno));
	close(dir);
}

/* ---- copies ------------------------------------------------------------------ */

static bool is_open(const char *path, mode_t mode, unsigned right)
{
	return right == SBX_READ ? can_read(path) : can_write(path, mode);
}

/*
 * Every name in a copy is held by what the rules say of it, whatever was planned: a
 * pattern may match what came between the look at it and the copy.  What is mounted
 * there was tried itself.
 */
static void verify_copy(const struct inner *inner, const struct sbx_fs_set *set, const char *path,
			uint64_t device)
{
	_Alignas(struct uapi_dirent) char buffer[4096];
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	long got;

	while (dir >= 0 && (got = syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got;) {
			const struct uapi_dirent *entry = (const void *)(buffer + at);
			const char *name = mem_join(path, mem_join("/", entry->name));

			at += entry->length;
			if (!strcmp(entry->name, ".") || !strcmp(entry->name, "..") ||
			    lstat(name, &st) || st.st_dev != device)
				continue;
			for (unsigned right = SBX_READ; right <= SBX_WRITE; right <<= 1)
				if (!sbx_fs_allows(set, name, right) &&
				    is_open(name, st.st_mode, right))
					inner_fail(inner,
						   "%s is open in a private copy, but must not be: "
						   "start again",
						   name);
			if (S_ISDIR(st.st_mode))
				verify_copy(inner, set, name, device);
		}
	if (dir >= 0)
		close(dir);
}

static void verify_copied(const struct inner *inner, const char *path)
{
	const struct sbx_fs_set set = { .points = inner->plan.points.items,
					.count = inner->plan.points.count,
					.excepts = inner->plan.excepts.items };
	struct stat st;

	if (!lstat(path, &st))
		verify_copy(inner, &set, path, st.st_dev);
}

void verify_masks(const struct inner *inner)
{
#ifdef SBX_TEST_UNVERIFIED
	return;
#endif
	for (size_t i = 0; i < inner->plan.masks.count; i++) {
		const struct plan_mask *mask = &inner->plan.masks.items[i];
		unsigned rights = mask->rights;
		struct statfs fs;

		if (!mask->verify)
			continue;
		if (inner->plan.backend == SBX_FIREJAIL && !firejail_lays(mask, &rights))
			continue;
		if (inner->plan.backend == SBX_BWRAP && mask->kind == MASK_COPY)
			verify_copied(inner, mask->path);
		if (inner->plan.backend == SBX_BWRAP && !(rights & SBX_EXEC) &&
		    !statfs(mask->path, &fs) && !(fs.f_flags & ST_NOEXEC))
			inner_fail(inner, "%s is executable inside, but must not be", mask->path);
		if (mask->kind == MASK_COVER)
			verify_cover(inner, mask->path, 0);
		if (!(rights & SBX_READ) && can_read(mask->path))
			inner_fail(inner, "%s is readable inside, but must not be", mask->path);
		if (!(rights & SBX_WRITE) && can_write(mask->path, mask->mode))
			inner_fail(inner, "%s is writable inside, but must not be", mask->path);
	}
}
