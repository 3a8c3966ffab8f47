/*
 * stub/placeholders.c - made by descriptor, shared by lock, gone at the end.
 *
 * A mask needs something to lie on.  Where a denied name does not exist in a
 * writable tree, an empty directory (or the small file that the rule asks for)
 * is made there.  If one session removed it while another still masks it, the
 * other's mask would be gone, so each placeholder has a record in a private
 * directory, named by the hash of its path:
 *
 *	session		holds the record's lock shared, from before the placeholder
 *			is made until the session's end
 *	removal		only with the lock held exclusively, only of the very inode
 *			in the record, only if still empty or unchanged
 *
 * The kernel drops the locks of a session that is killed; the next one to end
 * finds its records unlocked and cleans up.
 */
#include "stub/placeholders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"

struct record { /* the file holds it as far as @data is used */
	uint64_t dev, ino;
	uint32_t is_file, path_length, text_length, unused;
	char data[2 * PATH_MAX]; /* path, NUL, text, NUL */
};

/* ---- where records live -------------------------------------------------------- */

static int open_private_directory(const char *base, const char *const names[])
{
	int dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (; dir >= 0 && *names; names++) {
		int next;

		if (mkdirat(dir, *names, 0700) && errno != EEXIST) {
			close(dir);
			return -1;
		}
		next = openat(dir, *names, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(dir);
		dir = next;
	}
	return dir;
}

static int open_records(const struct launch *launch)
{
	static const char *const in_runtime[] = { "sbx", NULL };
	static const char *const in_home[] = { ".local", "state", "sbx", "locks", NULL };
	const char *runtime = launch->vars.value[SBX_VAR_RUNTIME];
	const char *home = launch->vars.value[SBX_VAR_HOME];
	int dir = -1;

	if (runtime)
		dir = open_private_directory(runtime, in_runtime);
	if (dir < 0 && home)
		dir = open_private_directory(home, in_home);
	return dir;
}

#define RECORD_NAME 64 /* hexadecimal digits */

static void name_record(const char *path, char name[RECORD_NAME + 1])
{
	struct sbx_sha256 sum;
	uint8_t digest[32];

	sbx_sha256_init(&sum);
	sbx_sha256_add(&sum, path, strlen(path));
	sbx_sha256_end(&sum, digest);
	for (size_t i = 0; i < 32; i++)
		out_text(name + 2 * i, 3, "%x%x", digest[i] >> 4, digest[i] & 15u);
}

/* The record's file, locked shared; @create: made where there is none.  A file
 * that was removed between open and lock is not the record any more. */
static int lock_record(int records, const char *path, bool create)
{
	char name[RECORD_NAME + 1];
	struct stat open_st, now;

	name_record(path, name);
	for (;;) {
		int fd = openat(records, name,
				O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);

		if (fd < 0)
			return -1;
		if (!flock(fd, LOCK_SH) && !fstat(fd, &open_st) &&
		    !fstatat(records, name, &now, AT_SYMLINK_NOFOLLOW) &&
		    now.st_ino == open_st.st_ino)
			return fd;
		close(fd);
	}
}

static size_t record_size(const struct record *record)
{
	return sizeof(*record) - sizeof(record->data) + record->path_length +
	       record->text_length + 2;
}

static bool read_record(int fd, struct record *record)
{
	memset(record, 0, sizeof(*record));
	return pread(fd, record, sizeof(*record), 0) > 0 && record->path_length < PATH_MAX &&
	       record->text_length < PATH_MAX && record->data[0] == '/' &&
	       !record->data[record->path_length];
}

static const char *record_text(const struct record *record)
{
	return record->data + record->path_length + 1;
}

struct entry { /* struct linux_dirent64 */
	uint64_t ino, offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

/* ---- making ---------------------------------------------------------------------- */

static bool write_record(int fd, const char *path, const char *text, const struct stat *st)
{
	struct record record = { .is_file = text != NULL };

	if (st) {
		record.dev = st->st_dev;
		record.ino = st->st_ino;
	}
	record.path_length = (uint32_t)strlen(path);
	record.text_length = text ? (uint32_t)strlen(text) : 0;
	memcpy(record.data, path, record.path_length);
	if (text)
		memcpy(record.data + record.path_length + 1, text, record.text_length);
	return pwrite(fd, &record, record_size(&record), 0) == (ssize_t)record_size(&record);
}

static bool make_object(int dir, const char *name, const char *text)
{
	size_t length = text ? strlen(text) : 0;
	int fd;
	bool whole;

	if (!text)
		return !mkdirat(dir, name, 0755);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return false;
	whole = write(fd, text, length) == (ssize_t)length;
	close(fd);
	return whole;
}

/* One name in the open directory @dir; its record's lock is kept. */
static void make_one(const struct launch *launch, int records, int dir, const char *path,
		     const char *text, const char *place, int *lock)
{
	const char *name = strrchr(path, '/') + 1;
	struct record record;
	struct stat st;

	if (strlen(path) >= PATH_MAX || (text && strlen(text) >= PATH_MAX))
		refuse("%s: too long for a placeholder (%s)", path, place);
	*lock = lock_record(records, path, true);
	if (*lock < 0)
		refuse("%s: no record of its placeholder can be kept: %s (%s): see that "
		       "~/.local/state/sbx/locks can be written",
		       path, out_error(errno), place);
	if (!fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
		/* Another session's, or one that came to be meanwhile and is not ours. */
		if (!read_record(*lock, &record) || record.ino != st.st_ino)
			launch_detail(launch, "%s: came to be while starting (%s)", path, place);
		return;
	}
	/* The intention first: a kill between here and the end leaves a trace. */
	if (!write_record(*lock, path, text, NULL) || !make_object(dir, name, text) ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !write_record(*lock, path, text, &st))
		refuse("%s does not exist, and its placeholder cannot be made: %s (%s): make the "
		       "name yourself, or see that its directory can be written",
		       path, out_error(errno), place);
}

static void remember_lock(struct launch *launch, int lock)
{
	*vec_add(&launch->locks) = lock;
}

/* The placeholder and the directories that are missing above it. */
static void make_placeholder(struct launch *launch, int records,
			     const struct plan_placeholder *placeholder)
{
	const char *place = fsview_place(launch, placeholder->rule);
	const char *path = placeholder->path;
	size_t at = placeholder->have;
	struct walk walk;
	int dir, lock;

	walk_path(mem_copy(path, at), &walk);
	if (walk.error || walk.missing || walk.hop_count)
		refuse("%s changed while starting: start again", mem_copy(path, at));
	dir = walk.fd;
	for (;;) {
		size_t next = at + strcspn(path + at + 1, "/") + 1;
		const char *part = mem_copy(path, next);
		int below;

		if (at == 1) /* have is "/" */
			part = mem_copy(path, next = strcspn(path + 1, "/") + 1);
		if (!path[next]) {
			make_one(launch, records, dir, path, placeholder->text, place, &lock);
			remember_lock(launch, lock);
			break;
		}
		make_one(launch, records, dir, part, NULL, place, &lock);
		remember_lock(launch, lock);
		below = openat(dir, strrchr(part, '/') + 1,
			       O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0)
			refuse("%s changed while starting: start again", part);
		close(dir);
		dir = below;
		at = next;
	}
	close(dir);
}

static bool any_record(int records)
{
	_Alignas(struct entry) char buffer[1024];
	long got;

	lseek(records, 0, SEEK_SET);
	while ((got = syscall(SYS_getdents64, records, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got;) {
			const struct entry *entry = (const void *)(buffer + at);

			at += entry->length;
			if (strlen(entry->name) == RECORD_NAME)
				return true;
		}
	return false;
}

/* A mask may lie on what another session made: it must stay as long as ours. */
static void join_others(struct launch *launch, int records)
{
	for (size_t i = 0; i < launch->plan.masks.count; i++) {
		const struct plan_mask *mask = &launch->plan.masks.items[i];
		int lock;

		if (mask->rule >= SBX_RULE_SELF && mask->verify)
			continue;
		lock = lock_record(records, mask->path, false);
		if (lock >= 0)
			remember_lock(launch, lock);
	}
}

void placeholders_make(struct launch *launch)
{
	struct plan *plan = &launch->plan;
	int records = open_records(launch);

	launch->records_fd = records;
	if (records < 0 && plan->placeholders.count)
		refuse("no private directory for records of placeholders: set XDG_RUNTIME_DIR, or "
		       "make ~/.local/state");
	if (records < 0)
		return;
	if (any_record(records))
		join_others(launch, records);
	for (size_t i = 0; i < plan->placeholders.count; i++)
		make_placeholder(launch, records, &plan->placeholders.items[i]);
}

/* ---- removing ---------------------------------------------------------------------- */

static bool is_pristine_file(int dir, const char *name, const struct record *record)
{
	char text[PATH_MAX];
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, text, sizeof(text)) : -1;

	if (fd >= 0)
		close(fd);
	return size == (ssize_t)record->text_length && !memcmp(text, record_text(record), (size_t)size);
}

/* False: it is a directory that still holds something. */
static bool remove_object(const struct record *record)
{
	const char *name = strrchr(record->data, '/') + 1;
	struct walk walk;
	struct stat st;
	bool gone = true;

	walk_path(path_parent(record->data), &walk);
	if (!walk.error && !walk.missing && !walk.hop_count &&
	    !fstatat(walk.fd, name, &st, AT_SYMLINK_NOFOLLOW) &&
	    (!record->ino || (st.st_ino == record->ino && st.st_dev == record->dev))) {
		if (!record->is_file)
			gone = !unlinkat(walk.fd, name, AT_REMOVEDIR) || errno != ENOTEMPTY;
		else if (S_ISREG(st.st_mode) && is_pristine_file(walk.fd, name, record))
			unlinkat(walk.fd, name, 0);
	}
	walk_close(&walk);
	return gone;
}

/* Tries to be the last user of the record @name.  A directory that still holds
 * something keeps its record, unless this is the @final try.  True: removed. */
static bool remove_record(int records, const char *name, bool final)
{
	struct record record;
	int fd = openat(records, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	bool gone = fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB);

	if (gone && read_record(fd, &record))
		gone = remove_object(&record) || final;
	if (gone)
		unlinkat(records, name, 0);
	if (fd >= 0)
		close(fd);
	return gone;
}

static bool remove_round(int records, bool final)
{
	_Alignas(struct entry) char buffer[8192];
	bool progress = false;
	long got;

	lseek(records, 0, SEEK_SET);
	while ((got = syscall(SYS_getdents64, records, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got;) {
			const struct entry *entry = (const void *)(buffer + at);

			at += entry->length;
			if (strlen(entry->name) == RECORD_NAME)
				progress |= remove_record(records, entry->name, final);
		}
	return progress;
}

void placeholders_remove(struct launch *launch)
{
	if (launch->records_fd < 0)
		return;
	for (size_t i = 0; i < launch->locks.count; i++)
		close(launch->locks.items[i]);
	/* A directory can go only after what was made in it. */
	while (remove_round(launch->records_fd, false))
		;
	remove_round(launch->records_fd, true);
}
