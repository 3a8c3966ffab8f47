/*
 * stub/masks.c - the mounts inside the mounts.
 *
 * Made in a user and mount namespace of our own, below the backend's, with the
 * mount API: 25 microseconds each, however many.  Everything that was mounted
 * before is locked there, and once our capabilities are dropped nothing inside
 * can undo what we add.  Paths are opened with no link followed, and what is
 * found must be the inode that was checked outside.  Where the host lifts a
 * mask later (watch.c), the same steps lay it on whatever has the name then.
 */
#include "stub/inner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "stub/resolve.h"
#include "stub/sys.h"

struct maker {
	const struct inner *inner;
	int closed;        /* a tmpfs with what hides: "dir" and "file" */
	int *sources;      /* MASK_OPEN: opened before anything is covered */
	VEC(int) to_close; /* tmpfs of ours that become read-only at the end */
	bool again;        /* on what is there now */
};

static void write_file(const struct inner *inner, const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		inner_fail(inner,
			   "%s: %s: this system or container forbids a second user namespace", path,
			   out_error(errno));
	close(fd);
}

static void enter_namespace(const struct inner *inner)
{
	unsigned uid = getuid(), gid = getgid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		inner_fail(inner,
			   "no second user namespace for the masks: %s: raise "
			   "user.max_user_namespaces",
			   out_error(errno));
	write_file(inner, "/proc/self/setgroups", "deny");
	write_file(inner, "/proc/self/uid_map", out_string("%u %u 1", uid, uid));
	write_file(inner, "/proc/self/gid_map", out_string("%u %u 1", gid, gid));
}

/* ---- file systems of our own ------------------------------------------------------ */

static int new_tmpfs(const struct inner *inner, const char *mode, uint64_t size)
{
	int fs = sys_fsopen("tmpfs"), mount;

	if (fs < 0 || sys_fsconfig_set(fs, "mode", mode) ||
	    (size && sys_fsconfig_set(fs, "size", out_number(size))) || sys_fsconfig_create(fs))
		inner_fail(inner, "no tmpfs for a mask: %s", out_error(errno));
	mount = sys_fsmount(fs, UAPI_MOUNT_ATTR_NOSUID | UAPI_MOUNT_ATTR_NODEV);
	if (mount < 0)
		inner_fail(inner, "no tmpfs for a mask: %s", out_error(errno));
	close(fs);
	return mount;
}

/*
 * Only what is mounted can be cloned from.  On top of "/" a mount is in the
 * namespace and yet on nobody's way, since every path begins below it.
 */
static void attach_aside(const struct inner *inner, int mount)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0 || sys_move_mount(mount, root))
		inner_fail(inner, "a mask cannot be prepared: %s", out_error(errno));
	close(root);
}

static void detach_aside(const struct inner *inner, int mount)
{
	if (fchdir(mount) || umount2(".", MNT_DETACH) || chdir("/"))
		inner_fail(inner, "a mask cannot be cleaned up: %s", out_error(errno));
}

static void make_closed(struct maker *m)
{
	int file;

	m->closed = new_tmpfs(m->inner, "0755", 0);
	file = openat(m->closed, "file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (file < 0 || mkdirat(m->closed, "dir", 0))
		inner_fail(m->inner, "a mask cannot be prepared: %s", out_error(errno));
	close(file);
	if (sys_mount_setattr(m->closed, 0, UAPI_MOUNT_ATTR_RDONLY | UAPI_MOUNT_ATTR_NOEXEC))
		inner_fail(m->inner, "a mask cannot be closed: %s", out_error(errno));
	attach_aside(m->inner, m->closed);
}

/* ---- one mask --------------------------------------------------------------------- */

static int open_path(const char *path)
{
	return sys_openat2(AT_FDCWD, path, O_PATH | O_NOFOLLOW, UAPI_RESOLVE_NO_SYMLINKS);
}

/* Why open_path() failed. */
static const char *path_error(void)
{
	return errno == ELOOP ? "a symbolic link stands on the way to it" : out_error(errno);
}

static void make_parents(const struct maker *m, char *path, mode_t mode)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(path, mode) && errno != EEXIST && errno != EROFS)
			inner_fail(m->inner, "%s: %s", path, out_error(errno));
		*slash = '/';
	}
}

static bool make_object(const struct plan_mask *mask, mode_t mode)
{
	int file;

	if (mask->kind == MASK_LINK)
		return !symlink(mask->target, mask->path);
	if (S_ISDIR(mask->mode))
		return !mkdir(mask->path, mode);
	file = open(mask->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (file < 0)
		return false;
	close(file);
	return true;
}

/* In a tmpfs of ours: directories down to what @mask is laid on; -1: a link,
 * which is all there is to do. */
static int make_point(const struct maker *m, const struct plan_mask *mask)
{
	mode_t mode = mask->kind == MASK_OPEN && !mask->covered ? 0111 : 0755;

	if (!make_object(mask, mode)) {
		make_parents(m, mem_string(mask->path), mode);
		if (!make_object(mask, mode))
			inner_fail(m->inner, "%s: %s", mask->path, out_error(errno));
	}
	return mask->kind == MASK_LINK ? -1 : open_path(mask->path);
}

/* What the mask is laid on; -1: nothing to do. */
static int open_target(const struct maker *m, const struct plan_mask *mask)
{
	struct stat st;
	int target;

	if (mask->covered)
		return make_point(m, mask);
	target = open_path(mask->path);
	if (target < 0 && errno == ENOENT && (mask->if_present || (m->again && !mask->make)))
		return -1;
	if (target < 0 && errno == ENOENT && mask->make)
		return make_point(m, mask);
	if (target < 0 || fstat(target, &st))
		inner_fail(m->inner, "%s: %s%s", mask->path, path_error(),
			   m->again ? "" : ": it changed while starting; start again");
	if (mask->kind == MASK_OPEN || mask->if_present || m->again)
		return target;
	if ((mask->ino && (st.st_ino != mask->ino || st.st_dev != mask->dev)) ||
	    (!mask->make && (st.st_mode & S_IFMT) != mask->mode))
		inner_fail(m->inner, "%s is not what it was when it was checked: start again",
			   mask->path);
	return target;
}

static int clone_of(const struct maker *m, int fd, const struct plan_mask *mask)
{
	uint64_t set = 0;
	int tree = sys_open_tree(fd);

	if (tree < 0)
		inner_fail(m->inner, "%s cannot be bound: %s", mask->path, out_error(errno));
	if (!(mask->rights & SBX_WRITE))
		set |= UAPI_MOUNT_ATTR_RDONLY;
	if (!(mask->rights & SBX_EXEC))
		set |= UAPI_MOUNT_ATTR_NOEXEC;
	if (set && sys_mount_setattr(tree, UAPI_AT_RECURSIVE, set))
		inner_fail(m->inner, "%s cannot be made read-only: %s", mask->path,
			   out_error(errno));
	return tree;
}

static int hiding_tree(struct maker *m, const struct plan_mask *mask)
{
	const char *name = S_ISDIR(mask->mode) ? "dir" : "file";
	int what, tree;

	if (mask->parents_open)
		return new_tmpfs(m->inner, "0111", 0);
	what = openat(m->closed, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	tree = what < 0 ? -1 : sys_open_tree(what);
	if (tree < 0)
		inner_fail(m->inner, "%s cannot be hidden: %s", mask->path, out_error(errno));
	close(what);
	return tree;
}

static int copied_tree(struct maker *m, const struct plan_mask *mask)
{
	int mount = new_tmpfs(m->inner, "0755", 0), file, tree;

	if (S_ISDIR(mask->mode)) {
		copy_tree(m->inner, mask->copy_fd, mount, ".", mask->path);
		return mount;
	}
	copy_tree(m->inner, mask->copy_fd, mount, "file", mask->path);
	attach_aside(m->inner, mount);
	file = openat(mount, "file", O_PATH | O_NOFOLLOW | O_CLOEXEC);
	tree = file < 0 ? -1 : sys_open_tree(file);
	if (tree < 0)
		inner_fail(m->inner, "%s cannot be copied: %s", mask->path, out_error(errno));
	detach_aside(m->inner, mount);
	close(file);
	close(mount);
	return tree;
}

/* Of a link the plan knows no more than where it leads, and of a file that stands where
 * a directory would have to, nothing: what has its name now may hold a denied name. */
static bool is_unplanned(const struct plan_mask *mask, int fd, mode_t mode)
{
	char leads[PATH_MAX];
	ssize_t size;

	if (mask->kind != MASK_SELF || mask->verify || S_ISDIR(mask->mode))
		return false;
	if ((mode & S_IFMT) != mask->mode || !mask->target)
		return (mode & S_IFMT) != mask->mode;
	size = readlinkat(fd, "", leads, sizeof(leads));
	return size != (ssize_t)strlen(mask->target) || memcmp(leads, mask->target, (size_t)size);
}

/* What was to be read-only may be something now that takes writes all the same. */
static void adapt(struct plan_mask *mask, int target)
{
	struct stat st = { 0 };

	fstat(target, &st);
	if (is_unplanned(mask, target, st.st_mode) ||
	    (mask->kind == MASK_SELF && !(mask->rights & SBX_WRITE) && !S_ISDIR(st.st_mode) &&
	     !S_ISREG(st.st_mode)))
		mask->kind = MASK_HIDE;
	mask->mode = st.st_mode & S_IFMT;
	mask->parents_open &= S_ISDIR(st.st_mode);
	if (mask->kind == MASK_COPY)
		lseek(mask->copy_fd, 0, SEEK_SET);
}

/* Nothing holds the name until it is masked, so the program may have given it to
 * another link of the same file, which no one outside would notice. */
static bool lies_on_name(const struct plan_mask *mask)
{
	int fd = open_path(mask->path);
	bool lies = fd >= 0 && sys_is_mount_root(fd);

	if (fd >= 0)
		close(fd);
	return lies;
}

/* False: what it was to lie on was removed or replaced meanwhile. */
static bool lay(struct maker *m, size_t index)
{
	struct plan_mask copy = m->inner->plan.masks.items[index], *mask = &copy;
	bool private = mask->kind == MASK_TMP || mask->kind == MASK_COPY, closes;
	int target, tree = -1;

#ifdef SBX_TEST_WITHOUT_MASK
	return true;
#endif
	target = open_target(m, mask);
	if (target < 0)
		return !m->again || mask->kind == MASK_LINK;
	if (m->again || mask->make) /* a private copy may hold another kind of file */
		adapt(mask, target);
	switch (mask->kind) {
	case MASK_HIDE:
		tree = hiding_tree(m, mask);
		break;
	case MASK_SELF:
		tree = clone_of(m, target, mask);
		break;
	case MASK_OPEN:
		if (m->sources[index] < 0) /* gone, so closed */
			return true;
		tree = clone_of(m, m->sources[index], mask);
		close(m->sources[index]);
		break;
	case MASK_TMP:
		tree = new_tmpfs(m->inner, "0755", mask->size);
		break;
	case MASK_COPY:
		tree = copied_tree(m, mask);
		if (!m->again)
			close(mask->copy_fd);
		break;
	case MASK_COVER:
		tree = new_tmpfs(m->inner, "0755", 0);
		break;
	case MASK_LINK:
		break; /* made with its mount point */
	}
	/* Once what is laid in it has its names. */
	closes = mask->kind == MASK_COVER || mask->parents_open ||
		 (private && !(mask->rights & SBX_WRITE));
	if ((private ? !(mask->rights & SBX_EXEC) : closes) &&
	    sys_mount_setattr(tree, 0, UAPI_MOUNT_ATTR_NOEXEC))
		inner_fail(m->inner, "%s cannot be made noexec: %s", mask->path, out_error(errno));
	if (sys_move_mount(tree, target)) {
		if (m->again && errno == ENOENT)
			return false;
		inner_fail(m->inner, "%s cannot be mounted on: %s", mask->path, out_error(errno));
	}
	close(target);
	if (closes)
		*vec_add(&m->to_close) = tree;
	else
		close(tree);
	return !m->again || lies_on_name(mask);
}

static void open_sources(struct maker *m)
{
	const struct plan *plan = &m->inner->plan;

	m->sources = mem_get(plan->masks.count * sizeof(*m->sources));
	for (size_t i = 0; i < plan->masks.count; i++) {
		const struct plan_mask *mask = &plan->masks.items[i];
		struct stat st;

		if (mask->kind != MASK_OPEN)
			continue;
		m->sources[i] = open_path(mask->path);
		if (m->sources[i] < 0 || fstat(m->sources[i], &st) || st.st_ino != mask->ino ||
		    st.st_dev != mask->dev)
			inner_fail(m->inner, "%s changed while starting: start again", mask->path);
	}
}

static void finish(struct maker *m)
{
	for (size_t i = 0; i < m->to_close.count; i++) {
		if (sys_mount_setattr(m->to_close.items[i], 0, UAPI_MOUNT_ATTR_RDONLY))
			inner_fail(m->inner, "a mask cannot be closed: %s", out_error(errno));
		close(m->to_close.items[i]);
	}
	detach_aside(m->inner, m->closed);
	close(m->closed);
}

void masks_apply(const struct inner *inner)
{
	struct maker m = { .inner = inner };

	enter_namespace(inner);
	nodes_close(inner);
	open_sources(&m);
	make_closed(&m);
	for (size_t i = 0; i < inner->plan.masks.count; i++)
		lay(&m, i);
	finish(&m);
}

/* ---- again ------------------------------------------------------------------------ */

/* In a mask of ours that is laid again? */
static bool is_in_new(const struct inner *inner, const uint8_t *state, size_t index)
{
	const struct plan_mask *masks = inner->plan.masks.items;

	for (size_t i = index; i--;)
		if (state[i] == MASK_LIFTED && path_within(masks[index].path, masks[i].path))
			return true;
	return false;
}

/* A mask goes with what the host renames, so another one may lie here. */
static bool is_held(const struct plan_mask *mask, int fd)
{
	struct statvfs fs;
	struct stat st;

	if (!sys_is_mount_root(fd) || fstatvfs(fd, &fs) || fstat(fd, &st))
		return false;
	if (mask->kind == MASK_HIDE || is_unplanned(mask, fd, st.st_mode))
		return fs.f_flag & ST_RDONLY && !(st.st_mode & 0666);
	return mask->kind != MASK_SELF || ((mask->rights & SBX_WRITE || fs.f_flag & ST_RDONLY) &&
					   (mask->rights & SBX_EXEC || fs.f_flag & ST_NOEXEC));
}

static enum mask_state state_of(const struct inner *inner, const struct plan_mask *mask)
{
	int fd = open_path(mask->path);
	enum mask_state state;

	if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
		inner_fail(inner, "%s: %s", mask->path, path_error());
	if (fd < 0)
		return mask->if_present ? MASK_HELD : MASK_GONE;
	state = is_held(mask, fd) ? MASK_HELD : MASK_LIFTED;
	close(fd);
	return state;
}

bool masks_apply_again(const struct inner *inner, uint8_t *state)
{
	const struct plan *plan = &inner->plan;
	struct maker m = { .inner = inner, .again = true };
	bool any = false, all = true;

	m.sources = mem_get(plan->masks.count * sizeof(*m.sources));
	for (size_t i = 0; i < plan->masks.count; i++) {
		const struct plan_mask *mask = &plan->masks.items[i];

		if (state[i] == MASK_HELD)
			state[i] = (uint8_t)state_of(inner, mask);
		else if (mask->make && is_in_new(inner, state, i))
			state[i] = MASK_LIFTED;
		any |= state[i] == MASK_LIFTED;
		if (state[i] == MASK_LIFTED && mask->kind == MASK_OPEN)
			m.sources[i] = open_path(mask->path);
	}
	if (!any)
		return true;
	make_closed(&m);
	for (size_t i = 0; i < plan->masks.count; i++)
		if (state[i] == MASK_LIFTED) {
			bool laid = lay(&m, i);

			state[i] = laid ? MASK_LAID : MASK_HELD;
			all &= laid;
		}
	finish(&m);
	return all;
}
