/* Each call that changes what is mounted.  Bare it is tried in a user and mount namespace of
 * its own, which is refused inside; then the calls themselves have to be. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define MS_BIND_    0x1000ul
#define MS_REMOUNT_ 0x20ul
#define MS_PRIVATE_ 0x44000ul /* and all beneath */

static long mounts(const char *source, const char *target, const char *type, unsigned long flags)
{
	return syscall(SYS_mount, source, target, type, flags, NULL);
}

int main(void)
{
	struct mount_attr attributes = { .attr_clr = MOUNT_ATTR_NODEV };
	int tree, context, made;

	mkdir("m", 0755);
	mkdir("n", 0755);
	unshare(CLONE_NEWUSER | CLONE_NEWNS);
	mounts("none", "/", NULL, MS_PRIVATE_);
	outcome("tmpfs", mounts("x", "m", "tmpfs", 0));
	outcome("umount", syscall(SYS_umount2, "m", 2));
	outcome("bind", mounts("m", "n", NULL, MS_BIND_));
	outcome("remount", mounts("none", "n", NULL, MS_REMOUNT_ | MS_BIND_));
	outcome("open_tree", syscall(SYS_open_tree, AT_FDCWD, "m", 0u));
	tree = (int)syscall(SYS_open_tree, AT_FDCWD, "m", OPEN_TREE_CLONE);
	outcome("open_tree-clone", tree);
	outcome("mount_setattr", syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes,
					 sizeof(attributes)));
	outcome("move_mount", syscall(SYS_move_mount, tree, "", AT_FDCWD, "n", MOVE_MOUNT_F_EMPTY_PATH));
	context = (int)syscall(SYS_fsopen, "tmpfs", 0u);
	outcome("fsopen", context);
	outcome("fsconfig", syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0));
	made = (int)syscall(SYS_fsmount, context, 0u, 0u);
	outcome("fsmount", made);
	outcome("fspick", syscall(SYS_fspick, AT_FDCWD, "n", 0u));
	outcome("fs-moved", syscall(SYS_move_mount, made, "", AT_FDCWD, "m", MOVE_MOUNT_F_EMPTY_PATH));
	outcome("pivot_root", syscall(SYS_pivot_root, "m", "m"));
	outcome("chroot", syscall(SYS_chroot, "/"));
	return 0;
}
