/*
 * stub/placeholders.c - made by descriptor, shared by agreement, gone at the end.
 *
 * A mask needs something to lie on.  Where a denied name does not exist in a
 * writable tree, an empty directory (or the small file that the rule asks for)
 * is made there.  Removing it takes the mask of every sandbox that relies on
 * it away, so a session writes down what it made or relies on (sessions.c),
 * and the last live one of them removes it: only that very inode, and only if
 * it is still empty or unchanged.  Its directory is held open meanwhile, so
 * that it is found again where the workspace was moved.  Making and removing
 * happen under one lock.
 *
 * What is about to be made is written down first, when its inode is not known
 * yet.  A kill in between leaves that record; then only the sticky bit, which
 * mkdir(2) and open(2) set with the name and nobody else does, tells a
 * placeholder from a directory that the user made there meanwhile.
 */
#include "stub/placeholders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/proc.h"

/* ---- making ------------------------------------------------------------------ */

static const struct placeholder *find(const struct placeholder *list, size_t count,
				      const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].path, path))
			return &list[i];
	return NULL;
}

/* The directory that holds @path, as it was checked: no link on the way.  They
 * come in order, so mostly it is the same again; it stays open.  False: it is
 * gone. */
static bool go_to_parent(struct walk *parent, const char *path)
{
	const char *above = path_parent(path);

	if (parent->path && parent->fd >= 0 && !strcmp(parent->path, above))
		return true;
	walk_afresh(above, parent);
	if (parent->missing || parent->hop_count)
		walk_close(parent);
	return parent->fd >= 0;
}

/* The same, through what the program of a dead session has closed. */
static bool reach_parent(struct walk *parent, const char *path)
{
	const char *rest = path, *name;
	int dir;

	if (go_to_parent(parent, path) || parent->error != EACCES)
		return parent->fd >= 0;
	dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (dir >= 0 && strchr(rest + 1, '/')) {
		mode_t mode;
		bool opened = proc_open_up(dir, &mode);
		int next;

		name = mem_copy(rest + 1, strcspn(rest + 1, "/"));
		next = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		parent->error = next < 0 && errno != ENOENT && errno != ENOTDIR ? errno : 0;
		if (opened)
			proc_chmod(dir, mode);
		close(dir);
		dir = next;
		rest += 1 + strlen(name);
	}
	parent->path = path_parent(path);
	parent->fd = dir;
	return dir >= 0;
}

/* What other sessions made, and our masks lie on. */
static void join_others(struct launch *launch, const struct others *others, struct walk *parent)
{
	struct session *session = &launch->session;

	if (!others->live.count && !others->dead.count)
		return;
	for (size_t i = 0; i < launch->plan.masks.count; i++) {
		const char *path = launch->plan.masks.items[i].path;
		const struct placeholder *known =
		    find(others->live.items, others->live.count, path);
		struct stat st;

		if (!known)
			known = find(others->dead.items, others->dead.count, path);
		if (known && !lstat(path, &st) && st.st_ino == known->ino &&
		    st.st_dev == known->dev)
			*vec_add(&session->used) = *known;
	}
	for (size_t i = 0; i < session->used.count; i++)
		if (go_to_parent(parent, session->used.items[i].path))
			session->used.items[i].dir = parent->fd;
}

/* The missing directories above @planned, and itself. */
static void add_wanted(struct session *session, const struct plan_placeholder *planned)
{
	size_t at = planned->have == 1 ? 0 : planned->have;

	while (planned->path[at]) {
		const char *part;

		at += 1 + strcspn(planned->path + at + 1, "/");
		part = mem_copy(planned->path, at);
		if (!find(session->used.items, session->used.count, part))
			*vec_add(&session->used) = (struct placeholder){
				.path = part,
				.text = planned->path[at] ? NULL : planned->text,
				.dir = -1,
			};
	}
}

/* Whatever a default ACL in its directory has made of it. */
static void set_mode(int dir, const char *name, mode_t mode)
{
	int fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_mode & S_ISVTX && st.st_uid == getuid() &&
	    (st.st_mode & 07777) != mode)
		proc_chmod(fd, mode);
	if (fd >= 0)
		close(fd);
}

/* A file is whole or not there, whatever ends us: git and agents read it.  Some
 * file systems, as NFS, can only make it under its name. */
static bool make_object(int dir, const char *name, const char *text)
{
	size_t length = text ? strlen(text) : 0;
	bool whole, unnamed = true;
	int fd;

	if (!text) {
		if (mkdirat(dir, name, S_ISVTX | 0755))
			return false;
		set_mode(dir, name, S_ISVTX | 0755);
		return true;
	}
	fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, S_ISVTX | 0644);
	if (fd < 0) {
		unnamed = false;
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    S_ISVTX | 0644);
	}
	if (fd < 0)
		return false;
	fchmod(fd, S_ISVTX | 0644);
	whole = write(fd, text, length) == (ssize_t)length &&
		(!unnamed || !linkat(AT_FDCWD, out_string("/proc/self/fd/%d", fd), dir, name,
				     AT_SYMLINK_FOLLOW));
	close(fd);
	return whole;
}

/* False: errno; EEXIST: somebody's own by now; ESTALE: its directory is gone. */
static bool make_one(struct placeholder *placeholder, struct walk *parent)
{
	const char *name = strrchr(placeholder->path, '/') + 1;
	struct stat st;

	errno = ESTALE;
	if (!go_to_parent(parent, placeholder->path) ||
	    !make_object(parent->fd, name, placeholder->text) ||
	    fstatat(parent->fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	placeholder->dir = parent->fd;
	placeholder->dev = st.st_dev;
	placeholder->ino = st.st_ino;
	return true;
}

static void must_make(struct launch *launch, struct placeholder *placeholder, struct walk *parent)
{
	int error;

	if (make_one(placeholder, parent))
		return;
	error = errno;
	if (error != EEXIST)
		placeholders_remove(launch); /* those that were made */
	errno = error;
	if (errno == ESTALE || errno == ENOENT)
		refuse("%s changed while starting: start again", path_parent(placeholder->path));
	if (errno != EEXIST)
		refuse("%s does not exist, and what must stand there while the sandbox runs cannot "
		       "be made: %s: see that its directory can be written",
		       placeholder->path, out_error(errno));
	/* It is masked, and not ours to remove. */
	launch_detail(launch, "%s came to be while starting", placeholder->path);
}

static void forget_unmade(struct session *session)
{
	size_t count = 0;

	for (size_t i = 0; i < session->used.count; i++)
		if (session->used.items[i].ino)
			session->used.items[count++] = session->used.items[i];
	session->used.count = count;
}

static void note_masks(struct launch *launch)
{
	for (size_t i = 0; i < launch->plan.masks.count; i++) {
		const struct plan_mask *mask = &launch->plan.masks.items[i];

		if (mask->verify && mask_lies_on_host(mask) &&
		    (mask->kind == MASK_HIDE ||
		     (mask->kind == MASK_SELF && !(mask->rights & SBX_WRITE))))
			*vec_add(&launch->session.masked) =
			    (struct masked){ mask->path, mask->kind == MASK_HIDE, NULL };
	}
}

void placeholders_make(struct launch *launch)
{
	struct session *session = &launch->session;
	const struct plan *plan = &launch->plan;
	struct walk parent = { 0 };
	struct others others;

	note_masks(launch);
	/* Landlock has no masks, so nothing to lay them on is needed. */
	if (launch->options.check || plan->backend == SBX_LANDLOCK ||
	    (!session->masked.count && !plan->placeholders.count))
		return;
	if (!sessions_open(launch, session)) {
		if (plan->placeholders.count)
			refuse("no directory to note placeholders in: make ~/.local/state/sbx "
			       "writable: %s",
			       out_error(errno));
		return;
	}
	sessions_hold(session);
	sessions_read_others(session, &others);
	join_others(launch, &others, &parent);
	for (size_t i = 0; i < plan->placeholders.count; i++)
		add_wanted(session, &plan->placeholders.items[i]);
	/* The intention first: a kill in between leaves a trace to follow. */
	if (!sessions_write(session) && session->used.count)
		refuse(
		    "placeholders cannot be noted: %s: see that ~/.local/state/sbx can be written",
		    out_error(errno));
	for (size_t i = 0; i < session->used.count; i++)
		if (!session->used.items[i].ino)
			must_make(launch, &session->used.items[i], &parent);
	if (session->used.count)
		sessions_write(session);
	forget_unmade(session);
	sessions_unlock(session);
}

/* What stands for what @mask lies on. */
static const char *text_for(const struct launch *launch, const struct plan_mask *mask)
{
	const struct sbx_fs_rule *rule;

	if (mask->rule >= SBX_COUNT(&launch->blob, FS)) /* a pin */
		return S_ISREG(mask->mode) ? "" : NULL;
	rule = SBX_AT(&launch->blob, FS, sbx_fs_rule, mask->rule);
	if (rule->placeholder != SBX_PLACEHOLDER_FILE)
		return NULL;
	return sbx_string(&launch->blob, sbx_fs_extra(&launch->blob, rule)->placeholder_text);
}

/* Its directory is open since the start, and mostly still the same one. */
static void keep_one(struct placeholder *placeholder, int dir, struct walk *parent)
{
	struct stat now, before;

	if (fstat(parent->fd, &now) || fstat(dir, &before) || now.st_ino != before.st_ino ||
	    now.st_dev != before.st_dev)
		return;
	walk_close(parent);
	placeholder->dir = dir;
}

bool placeholders_make_again(struct launch *launch, const struct plan_mask *mask)
{
	struct session *session = &launch->session;
	struct placeholder made = { .path = mask->path, .text = text_for(launch, mask), .dir = -1 };
	struct placeholder *entry = NULL;
	struct walk parent = { 0 };
	int dir = -1;
	bool good;

	if (!sessions_open(launch, session) || !sessions_lock(session))
		return false;
	for (size_t i = 0; i < session->used.count; i++)
		if (!strcmp(session->used.items[i].path, mask->path))
			entry = &session->used.items[i];
	if (entry)
		dir = entry->dir;
	else
		entry = vec_add(&session->used);
	*entry = made;
	/* Somebody may be at it: what is there is masked, what is gone comes next time. */
	good = sessions_write(session) &&
	       (make_one(entry, &parent) || errno == EEXIST || errno == ENOENT) &&
	       sessions_write(session);
	keep_one(entry, dir, &parent);
	sessions_unlock(session);
	return good;
}

/* ---- removing -------------------------------------------------------------------- */

/* @partly: or as much of it as there was room or time for. */
static bool is_unchanged(int dir, const char *name, const char *text, bool partly)
{
	char now[PATH_MAX];
	int fd = proc_open_own(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, now, sizeof(now)) : -1;

	if (fd >= 0)
		close(fd);
	return (partly ? size >= 0 && size <= (ssize_t)strlen(text)
		       : size == (ssize_t)strlen(text)) &&
	       !memcmp(now, text, (size_t)size);
}

/* True: that is settled; it is gone, or no longer ours.  False: errno. */
static bool remove_from(int dir, const struct placeholder *placeholder)
{
	const char *name = strrchr(placeholder->path, '/') + 1;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT;
	if (placeholder->ino ? st.st_ino != placeholder->ino || st.st_dev != placeholder->dev
			     : !(st.st_mode & S_ISVTX))
		return true;
	if (!placeholder->text) /* only if empty */
		return !unlinkat(dir, name, AT_REMOVEDIR) || errno == ENOTEMPTY || errno == ENOTDIR;
	return !S_ISREG(st.st_mode) ||
	       !is_unchanged(dir, name, placeholder->text, !placeholder->ino) ||
	       !unlinkat(dir, name, 0);
}

/* The program may have closed the directory, which is the caller's to open. */
static bool remove_object(const struct placeholder *placeholder, struct walk *parent)
{
	int dir = placeholder->dir, error;
	bool settled, opened;
	mode_t mode;

	if (dir < 0 && !reach_parent(parent, placeholder->path)) {
		errno = parent->error;
		return !parent->error;
	}
	if (dir < 0)
		dir = parent->fd;
	opened = proc_open_up(dir, &mode);
	settled = remove_from(dir, placeholder);
	error = errno;
	if (opened)
		proc_chmod(dir, mode);
	errno = error;
	return settled;
}

static int deepest_first(const void *a, const void *b)
{
	return path_compare(((const struct placeholder *)b)->path,
			    ((const struct placeholder *)a)->path);
}

void placeholders_remove(struct launch *launch)
{
	struct session *session = &launch->session;
	struct walk parent = { 0 };
	struct others others;
	const char *why = NULL;
	size_t left = 0;

	if (!session->open || (session->file < 0 && !session->others_died))
		return;
	if (!sessions_lock(session))
		return;
	sessions_read_others(session, &others);
	for (size_t i = 0; i < others.dead.count; i++)
		*vec_add(&session->used) = others.dead.items[i];
	mem_sort(session->used.items, session->used.count, sizeof(struct placeholder),
		 deepest_first);
	for (size_t i = 0; i < session->used.count; i++) {
		const struct placeholder *one = &session->used.items[i];

		if (find(others.live.items, others.live.count, one->path) ||
		    remove_object(one, &parent))
			continue;
		if (!why)
			why = out_string("%s: %s", one->path, out_error(errno));
		session->used.items[left++] = *one;
	}
	session->used.count = left;
	if (!left || sessions_write(session)) {
		for (size_t i = 0; i < others.dead_names.count; i++)
			unlinkat(session->dir, others.dead_names.items[i], 0);
	}
	if (!left && session->file >= 0)
		unlinkat(session->dir, session->name, 0);
	sessions_unlock(session);
	if (why)
		launch_remark(launch,
			      "what stood in the place of %u absent names cannot be removed, and "
			      "is tried again by the next session (%s)",
			      (unsigned)left, why);
}
