/* A policy may let the program make sandboxes of its own.  As root of a user namespace it
 * tries to get at what its own masks cover. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	long written = fd < 0 ? -1 : write(fd, text, strlen(text));

	close(fd);
	return written < 0 ? -1 : 0;
}

static int become_root(void)
{
	char map[32];

	snprintf(map, sizeof(map), "0 %u 1", geteuid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return -1;
	put("/proc/self/setgroups", "deny");
	put("/proc/self/uid_map", map);
	return mount("none", "/", NULL, MS_PRIVATE | MS_REC, NULL);
}

static long plant(const char *directory)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/shut/evil", directory);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	return fd < 0 ? -1 : unlink(path);
}

static long steal(const char *directory)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/hidden/key", directory);
	return open(path, O_RDONLY);
}

/* Each tries to get something off or round; then it shows whether that has come to anything.
 * Where nothing is masked there is nothing to take off. */
static void unmounted(void)
{
	umount2("shut", 0);
	umount2("hidden", 0);
}

static void detached(void)
{
	umount2("shut", MNT_DETACH);
	umount2("hidden", MNT_DETACH);
	umount2(".", MNT_DETACH);
}

static void remounted(void)
{
	struct mount_attr attributes = { .attr_clr = MOUNT_ATTR_RDONLY };

	mount("none", "shut", NULL, MS_REMOUNT | MS_BIND, NULL);
	syscall(SYS_mount_setattr, AT_FDCWD, "shut", 0, &attributes, sizeof(attributes));
}

static void moved(void)
{
	mount("shut", "../view", NULL, MS_MOVE, NULL);
	mount("hidden", "../view", NULL, MS_MOVE, NULL);
}

static void bound(void)
{
	mount(".", "../view", NULL, MS_BIND, NULL);
}

static void bound_with_all(void)
{
	mount(".", "../view", NULL, MS_BIND | MS_REC, NULL);
	umount2("../view/shut", MNT_DETACH);
	umount2("../view/hidden", MNT_DETACH);
}

static void cloned(void)
{
	int tree = (int)syscall(SYS_open_tree, AT_FDCWD, ".", OPEN_TREE_CLONE);

	syscall(SYS_move_mount, tree, "", AT_FDCWD, "../view", MOVE_MOUNT_F_EMPTY_PATH);
}

/* A file system made of this one looks beneath what is mounted in it. */
static void layered(void)
{
	mount("x", "../view", "overlay", 0, "lowerdir=.:../empty");
}

static void pivoted(void)
{
	char here[256];

	if (!getcwd(here, sizeof(here)) || mount(".", ".", NULL, MS_BIND | MS_REC, NULL) || chdir(here))
		return;
	syscall(SYS_pivot_root, ".", ".");
	umount2(".", MNT_DETACH);
}

/* Over the directory that holds them, and down again from a descriptor. */
static void covered(void)
{
	int here = open(".", O_RDONLY | O_DIRECTORY);

	mount("x", ".", "tmpfs", 0, NULL);
	fchdir(here);
}

static long seen(void (*attack)(void), long (*result)(const char *), const char *directory)
{
	if (become_root())
		return -1;
	attack();
	return result(directory);
}

#define TRY(name, attack, directory)                                                               \
	ALONE(name "-write", seen(attack, plant, directory));                                      \
	ALONE(name "-read", seen(attack, steal, directory))

int main(void)
{
	if (chdir("in"))
		return 1;
	TRY("umount", unmounted, ".");
	TRY("detach", detached, ".");
	TRY("remount", remounted, ".");
	TRY("move", moved, ".");
	TRY("bind", bound, "../view");
	TRY("rbind", bound_with_all, "../view");
	TRY("clone", cloned, "../view");
	ALONE("overlay-read", seen(layered, steal, "../view"));
	TRY("pivot", pivoted, ".");
	TRY("cover", covered, ".");
	return 0;
}
