/*
 * stub/firejail_verify.c - what firejail passes over without a word.
 *
 * A rule of its profile for what is not there, is reached by another name or
 * is not the user's is none.  So every mask has to be the root of a mount, and
 * everything that is private another file system than it is outside.  That
 * masks hold is tried in verify.c.
 */
#include "stub/inner.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "stub/backend.h"
#include "stub/sys.h"

void firejail_verify_mounts(const struct inner *inner)
{
	for (size_t i = 0; i < inner->plan.mounts.count; i++) {
		const struct plan_mount *mount = &inner->plan.mounts.items[i];
		const char *path = mount->path;
		bool usual = !strcmp(path, "/tmp") || !strcmp(path, "/dev/shm");
		struct stat st;
		int fd;

		switch (mount->kind) {
		case MOUNT_TMP:
			if (!usual) {
				fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
				if (fd >= 0)
					inner_fail(inner, "%s is open inside, but must not be",
						   path);
				break;
			}
			/* fall through */
		case MOUNT_PROC:
		case MOUNT_DEV:
			if (lstat(path, &st) || st.st_dev == mount->st.st_dev)
				inner_fail(inner, "firejail made no %s of the sandbox's own", path);
			break;
		case MOUNT_DEVICE:
			if (lstat(path, &st) || st.st_rdev != mount->st.st_rdev)
				inner_fail(inner,
					   "firejail has no %s in its /dev: use --backend bwrap, "
					   "or mark the rule optional",
					   path);
			break;
		default:
			break;
		}
	}
}

static void verify_mask(const struct inner *inner, const struct plan_mask *mask, unsigned rights)
{
	int fd = sys_openat2(AT_FDCWD, mask->path, O_PATH | O_NOFOLLOW, UAPI_RESOLVE_NO_SYMLINKS);
	struct statvfs fs;
	struct stat st;
	bool mounted;

	/* EACCES: it lies beneath what is hidden. */
	if (fd < 0 && (errno == EACCES || (errno == ENOENT && mask->if_present)))
		return;
	if (fd < 0 || fstat(fd, &st) || fstatvfs(fd, &fs))
		inner_fail(inner, "%s: %s: it changed while starting; start again", mask->path,
			   out_error(errno));
	mounted =
	    sys_is_mount_root(fd) || (fs.f_flag & ST_RDONLY && rights && !(rights & SBX_WRITE));
	if (!mounted || (rights && mask->ino && st.st_ino != mask->ino))
		inner_fail(inner,
			   "firejail passed over %s: it changed while starting, or is another "
			   "user's: start again, or use --backend bwrap",
			   mask->path);
	if (rights && !(rights & SBX_EXEC) && !(fs.f_flag & ST_NOEXEC))
		inner_fail(inner, "%s can be executed inside, but must not be", mask->path);
	close(fd);
}

void firejail_verify_masks(const struct inner *inner)
{
	unsigned rights;

#ifdef SBX_TEST_UNVERIFIED
	return;
#endif
	for (size_t i = 0; i < inner->plan.masks.count; i++)
		if (firejail_lays(&inner->plan.masks.items[i], &rights))
			verify_mask(inner, &inner->plan.masks.items[i], rights);
}
