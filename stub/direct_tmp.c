/*
 * stub/direct_tmp.c - a directory of the session's own, where no tmpfs can be.
 *
 * `tmp /tmp` without mounts is a new directory in /tmp that nobody else can
 * enter and TMPDIR names.  Before it is made, a record of it is: a locked file
 * beside the sessions' (sessions.c).  The kernel lets go of the lock whatever
 * ends the session, so the next one knows which directories are a dead one's,
 * by inode and not by name, and removes no other.
 *
 * What is removed was the program's to arrange: links, trees deeper than any
 * stack, directories closed to their owner.  No link is followed and no mount
 * crossed, and nothing is walked: whatever lies in a directory is deleted or
 * moved up to the top, until there is nothing.  What a killed session left running
 * may fill a directory as fast as it is emptied, so that has an end.
 */
#include "stub/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/proc.h"
#include "stub/sys.h"

#define PREFIX        "tmp-"
#define SWEEP_SECONDS 2
#define END_SECONDS   30 /* for the session's own */

/* ---- removing ---------------------------------------------------------------------- */

struct sweep {
	int top;
	dev_t dev;
	uint64_t moved; /* the next name at the top, none that the program knew */
	time_t until;
};

static time_t seconds(void)
{
	return (time_t)(sys_now_ms() / 1000);
}

static uint64_t random_number(void)
{
	uint64_t number;

	if (syscall(SYS_getrandom, &number, sizeof(number), 0) != sizeof(number))
		refuse("no random numbers: %s", out_error(errno));
	return number;
}

/* For its owner to look into, empty and move, whatever the program made of it. */
static void open_to_owner(int dir, const char *name)
{
	int fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	proc_chmod(fd, 0700);
	close(fd);
}

static bool move_up(struct sweep *s, int dir, const char *name)
{
	char to[24];

	open_to_owner(dir, name);
	out_text(to, sizeof(to), "%llu", (unsigned long long)s->moved++);
	return !renameat(dir, name, s->top, to);
}

static bool remove_one(struct sweep *s, int dir, const char *name);

/* One pass over @dir: how many of its entries are gone from it; *left: the others. */
static unsigned long remove_entries(struct sweep *s, int dir, unsigned long *left)
{
	_Alignas(struct uapi_dirent) char buffer[4096];
	unsigned long gone = 0;
	long got;

	*left = 0;
	lseek(dir, 0, SEEK_SET);
	while ((got = syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0) {
		if (seconds() > s->until) {
			*left = 1;
			return 0;
		}
		for (long at = 0; at < got;) {
			const struct uapi_dirent *entry = (const void *)(buffer + at);

			at += entry->length;
			if (!strcmp(entry->name, ".") || !strcmp(entry->name, ".."))
				continue;
			if (remove_one(s, dir, entry->name))
				gone++;
			else
				++*left;
		}
	}
	return gone;
}

/* Everything in @dir, as far as it goes. */
static bool empty(struct sweep *s, int dir)
{
	unsigned long left;

	while (remove_entries(s, dir, &left))
		;
	return !left;
}

static bool remove_one(struct sweep *s, int dir, const char *name)
{
	struct stat st;
	bool done;
	int sub;

	if (!unlinkat(dir, name, 0) || !unlinkat(dir, name, AT_REMOVEDIR))
		return true;
	if (dir != s->top)
		return move_up(s, dir, name);
	open_to_owner(dir, name);
	sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	done = sub >= 0 && !fstat(sub, &st) && st.st_dev == s->dev && empty(s, sub) &&
	       !unlinkat(dir, name, AT_REMOVEDIR);
	if (sub >= 0)
		close(sub);
	return done;
}

/* True: it is gone, or is not that directory any more. */
static bool remove_tree(const char *path, uint64_t dev, uint64_t ino, time_t until)
{
	struct stat st;
	struct sweep s = { .dev = dev, .moved = random_number(), .until = until };
	bool done;
	int dir;

	if (lstat(path, &st))
		return errno == ENOENT;
	if (!S_ISDIR(st.st_mode) || st.st_uid != getuid() || st.st_dev != dev || st.st_ino != ino)
		return true;
	open_to_owner(AT_FDCWD, path);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return false;
	s.top = dir;
	done = !fstat(dir, &st);
	if (done && st.st_dev == dev && st.st_ino == ino)
		done = empty(&s, dir) && !rmdir(path);
	close(dir);
	return done;
}

/* ---- records ------------------------------------------------------------------------ */

struct record {
	uint64_t dev, ino; /* ino 0: it was about to be made */
	char path[64];
};

static bool write_record(const struct launch *launch, const struct stat *st)
{
	struct record record = { .dev = st ? st->st_dev : 0, .ino = st ? st->st_ino : 0 };

	out_text(record.path, sizeof(record.path), "%s", launch->direct.tmp);
	return pwrite(launch->direct.tmp_record, &record, sizeof(record), 0) == sizeof(record);
}

/* What @name says of a session that is dead is undone. */
static void clear_record(int dir, const char *name, time_t until)
{
	int fd = proc_open_own(dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	struct record record = { 0 };

	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB)) {
		bool whole = pread(fd, &record, sizeof(record), 0) == sizeof(record) &&
			     record.path[0] == '/' && !record.path[sizeof(record.path) - 1];

		/* Nothing was in it yet, and nothing but that is removed. */
		if (whole && !record.ino)
			rmdir(record.path);
		if (!whole || !record.ino ||
		    remove_tree(record.path, record.dev, record.ino, until))
			unlinkat(dir, name, 0);
	}
	if (fd >= 0)
		close(fd);
}

static void clear_dead(int dir)
{
	_Alignas(struct uapi_dirent) char buffer[4096];
	time_t until = seconds() + SWEEP_SECONDS; /* others wait for the lock */
	long got;

	lseek(dir, 0, SEEK_SET);
	while ((got = syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got;) {
			const struct uapi_dirent *entry = (const void *)(buffer + at);

			at += entry->length;
			if (!strncmp(entry->name, PREFIX, strlen(PREFIX)))
				clear_record(dir, entry->name, until);
		}
}

/* ---- the session's ------------------------------------------------------------------- */

static bool is_common(const char *path)
{
	return !strcmp(path, "/tmp") || !strcmp(path, "/var/tmp");
}

void direct_tmp_plan(struct launch *launch)
{
	const struct node *node = NULL;

	for (size_t i = 0; i < launch->view.nodes.count && !node; i++)
		if (launch->view.nodes.items[i].verb == SBX_FS_TMP &&
		    is_common(launch->view.nodes.items[i].path))
			node = &launch->view.nodes.items[i];
	if (!node || !(fsview_rights(launch, node->path) & SBX_READ))
		return;
	if (!node_exists(node) || (node->st.st_mode & 01777) != 01777)
		refuse("%s: a session's own directory belongs where all may write and none "
		       "may remove what is another's (%s): chmod 1777 it",
		       node->path, fsview_place(launch, node->rule));
	launch->direct.tmp =
	    out_string("%s/sbx-%llx", node->path, (unsigned long long)random_number());
	/* Nothing may be moved or linked to where it could be used for more: with this
	 * right, which no file has a use for, only what was made here is in it.  The
	 * connect broker counts on that: no socket of the host's gets here. */
	*vec_add(&launch->plan.rules) =
	    (struct plan_rule){ .path = launch->direct.tmp,
				.rights = fsview_rights(launch, node->path),
				.extra = UAPI_LANDLOCK_FS_IOCTL_DEV };
}

void direct_tmp_make(struct launch *launch)
{
	struct direct *direct = &launch->direct;
	struct session session = { 0 };
	struct timespec now;
	struct stat st;

	if (!direct->tmp)
		return;
	sessions_enter(launch, &session);
	clear_dead(session.dir);
	sys_clock(CLOCK_BOOTTIME, &now);
	direct->tmp_dir = session.dir;
	direct->tmp_name = out_string(PREFIX "%d-%llu", getpid(),
				      (unsigned long long)now.tv_sec * 1000000000ull +
					  (unsigned long long)now.tv_nsec);
	direct->tmp_record = openat(session.dir, direct->tmp_name,
				    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (direct->tmp_record < 0 || fchmod(direct->tmp_record, 0600) ||
	    flock(direct->tmp_record, LOCK_EX | LOCK_NB) || !write_record(launch, NULL) ||
	    mkdir(direct->tmp, 0700) || lstat(direct->tmp, &st) || !write_record(launch, &st))
		refuse("%s: cannot be made: %s: see that its directory and ~/.local/state/sbx can "
		       "be written",
		       direct->tmp, out_error(errno));
	open_to_owner(AT_FDCWD, direct->tmp); /* whatever a default ACL made of it */
	sessions_unlock(&session);
	for (size_t i = 0; i < launch->plan.rules.count; i++)
		if (launch->plan.rules.items[i].path == direct->tmp) {
			launch->plan.rules.items[i].dev = st.st_dev;
			launch->plan.rules.items[i].ino = st.st_ino;
		}
}

void direct_tmp_remove(struct launch *launch)
{
	const struct direct *direct = &launch->direct;
	struct record record;

	if (!direct->tmp || !direct->tmp_name)
		return;
	if (pread(direct->tmp_record, &record, sizeof(record), 0) == sizeof(record) &&
	    remove_tree(direct->tmp, record.dev, record.ino, seconds() + END_SECONDS))
		unlinkat(direct->tmp_dir, direct->tmp_name, 0);
	else
		note("%s could not be removed: the next session tries again", direct->tmp);
}
