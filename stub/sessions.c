/*
 * stub/sessions.c - the files by which sessions know of one another.
 *
 * One file a session, in a directory that only the user can write, listing the
 * placeholders that it made or relies on, and the names that it masks.  The session holds a lock on
 * it; the kernel lets go of the lock whatever ends the session, so a file without a lock is that of
 * a dead one.
 */
#include "stub/placeholders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

#define PREFIX     "session-"
#define FILE_MAX   (4u << 20)
#define MUTEX_NAME "mutex"
#define TMP_PREFIX "tmp-" /* direct_tmp.c's */
#define LOCK_TRIES 5000
#define LOCK_NS    2000000l /* between two */

/* ~/.local/state/sbx/sessions, wherever ~/.local and what is in it lead: every
 * session of this user must find the same one, so no environment can move it. */
static int open_directory(const char *home)
{
	static const char names[][9] = { ".local", "state", "sbx", "sessions" };
	int dir = home ? open(home, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	for (size_t i = 0; dir >= 0 && i < 4; i++) {
		int flags = O_DIRECTORY | O_CLOEXEC | (i < 2 ? O_PATH : O_NOFOLLOW);
		int next = openat(dir, names[i], flags);

		if (next < 0 && errno == ENOENT && !mkdirat(dir, names[i], 0700)) {
			/* A default ACL may have made less of it. */
			next = openat(dir, names[i], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			if (next >= 0)
				proc_chmod(next, 0700);
			close(next);
			next = openat(dir, names[i], flags);
		}
		close(dir);
		dir = next;
	}
	return dir;
}

bool sessions_open(const struct launch *launch, struct session *session)
{
	if (session->open)
		return true;
	session->file = -1;
	session->dir = open_directory(launch->vars.value[SBX_VAR_HOME]);
	/* Whoever can open it can lock it, also to read: a program that may read the
	 * home could keep all others from starting.  A pipe is not waited for. */
	session->mutex =
	    session->dir < 0
		? -1
		: openat(session->dir, MUTEX_NAME,
			 O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0200);
	session->open = session->mutex >= 0;
	if (session->open)
		fchmod(session->mutex, 0200);
	return session->open;
}

bool sessions_lock(struct session *session)
{
	const struct timespec pause = { 0, LOCK_NS };

	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		if (!flock(session->mutex, LOCK_EX | LOCK_NB))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

void sessions_hold(struct session *session)
{
	if (!sessions_lock(session))
		refuse("~/.local/state/sbx/sessions/" MUTEX_NAME
		       " is held by another process: end it (fuser names it)");
}

void sessions_enter(const struct launch *launch, struct session *session)
{
	if (!sessions_open(launch, session))
		refuse("no place for the session's own files: make ~/.local/state/sbx writable: %s",
		       out_error(errno));
	sessions_hold(session);
}

void sessions_unlock(struct session *session)
{
	flock(session->mutex, LOCK_UN);
}

/* ---- files that live as long as a session ------------------------------------- */

const char *sessions_place(const struct launch *launch, const char *statement)
{
	const char *home = launch->vars.value[SBX_VAR_HOME];
	struct walk walk;

	if (!home)
		refuse("%s keeps files of the session in the home directory, and there is none: "
		       "see that passwd has one",
		       statement);
	walk_path(path_join(home, ".local/state/sbx/sessions"), &walk);
	return walk.path;
}

int sessions_own_file(struct launch *launch, const char *path, int *dir)
{
	const char *name = strrchr(path, '/') + 1;
	struct session session = { 0 };
	struct others others;
	struct stat st;
	int fd;

	sessions_enter(launch, &session);
	sessions_read_others(&session, &others); /* clears away those of dead sessions */
	*dir = session.dir;
	fd = openat(session.dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fchmod(fd, 0600) || flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &st))
		refuse("%s: cannot be made: %s: see that its directory can be written", path,
		       out_error(errno));
	close(session.mutex); /* and with it the lock is gone */
	plan_note_made(launch, path, &st);
	return fd;
}

/* If @name is one of those.  Where nobody holds it, its session is over. */
static bool clear_own_file(int dir, const char *name)
{
	int fd;

	if (strncmp(name, BUNDLE_PREFIX, strlen(BUNDLE_PREFIX)) &&
	    strncmp(name, SLURM_PREFIX, strlen(SLURM_PREFIX)))
		return false;
	fd = proc_open_own(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) /* a socket, which goes with its lock */
		return true;
	if (!flock(fd, LOCK_EX | LOCK_NB)) {
		unlinkat(dir, mem_join(name, SLURM_SOCKET), 0);
		unlinkat(dir, name, 0);
	}
	close(fd);
	return true;
}

/* ---- the file: records one after another -------------------------------------- */

struct record {
	uint64_t dev, ino;
	uint32_t path_length, text_length; /* or one of these: */
	/* path, NUL, text, NUL */
};
enum { DIRECTORY = UINT32_MAX, MASKED = UINT32_MAX - 1, HIDDEN = UINT32_MAX - 2 };

static size_t put_record(char *at, struct record head, const char *path, const char *text)
{
	size_t size = sizeof(head);

	head.path_length = (uint32_t)strlen(path);
	memcpy(at, &head, sizeof(head));
	strcpy(at + size, path);
	size += head.path_length + 1u;
	if (text) {
		strcpy(at + size, text);
		size += head.text_length + 1u;
	}
	return size;
}

/* Into @at, or only its size where that is NULL. */
static size_t put_all(const struct session *session, char *at)
{
	size_t size = 0;

	for (size_t i = 0; i < session->used.count; i++) {
		const struct placeholder *p = &session->used.items[i];
		uint32_t length = p->text ? (uint32_t)strlen(p->text) : DIRECTORY;

		size += at ? put_record(at + size, (struct record){ p->dev, p->ino, 0, length },
					p->path, p->text)
			   : sizeof(struct record) + strlen(p->path) + 2 + (p->text ? length : 0);
	}
	for (size_t i = 0; i < session->masked.count; i++) {
		const struct masked *m = &session->masked.items[i];
		uint32_t kind = m->hidden ? HIDDEN : MASKED;

		size += at ? put_record(at + size, (struct record){ 0, 0, 0, kind }, m->path, NULL)
			   : sizeof(struct record) + strlen(m->path) + 1;
	}
	return size;
}

bool sessions_write(struct session *session)
{
	char *all = mem_get(put_all(session, NULL) + 1);
	size_t size = put_all(session, all);

	if (session->file < 0) {
		struct timespec now;

		sys_clock(CLOCK_BOOTTIME, &now);
		session->name = out_string(PREFIX "%d-%llu", getpid(),
					   (unsigned long long)now.tv_sec * 1000000000ull +
					       (unsigned long long)now.tv_nsec);
		session->file = openat(session->dir, session->name,
				       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (session->file < 0 || fchmod(session->file, 0600) ||
		    flock(session->file, LOCK_EX | LOCK_NB))
			return false;
	}
	return size <= FILE_MAX && pwrite(session->file, all, size, 0) == (ssize_t)size &&
	       !ftruncate(session->file, (off_t)size);
}

/* One record of @at; 0: none. */
static size_t get_record(const char *at, size_t left, struct record *head)
{
	size_t size = sizeof(*head);

	if (left < size)
		return 0;
	memcpy(head, at, sizeof(*head));
	if (head->path_length >= PATH_MAX || size + head->path_length + 1 > left ||
	    at[size] != '/' || at[size + head->path_length])
		return 0;
	size += head->path_length + 1u;
	if (head->text_length >= HIDDEN)
		return size;
	if (head->text_length > left || size + head->text_length + 1 > left ||
	    at[size + head->text_length])
		return 0;
	return size + head->text_length + 1u;
}

static void take_records(const char *at, size_t left, const char *name, bool alive,
			 struct others *out)
{
	struct record head;
	size_t size;

	for (; (size = get_record(at, left, &head)); at += size, left -= size) {
		const char *path = at + sizeof(head);
		struct placeholder one = { path, path + head.path_length + 1, -1, head.dev,
					   head.ino };

		if (head.text_length == MASKED || head.text_length == HIDDEN) {
			if (alive)
				*vec_add(&out->masked) =
				    (struct masked){ path, head.text_length == HIDDEN, name };
			continue;
		}
		if (head.text_length == DIRECTORY)
			one.text = NULL;
		if (alive)
			*vec_add(&out->live) = one;
		else
			*vec_add(&out->dead) = one;
	}
}

/* False: no record. */
static bool read_other(const struct session *session, const char *name, struct others *out)
{
	int fd =
	    proc_open_own(session->dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	char *data;
	bool good, alive;

	if (fd < 0)
		return errno == ENOENT; /* its session is over by now */
	good = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX;
	if (good) {
		data = mem_get((size_t)st.st_size + 1);
		good = pread(fd, data, (size_t)st.st_size, 0) == st.st_size;
		alive = flock(fd, LOCK_EX | LOCK_NB);
		if (good)
			take_records(data, (size_t)st.st_size, mem_string(name), alive, out);
		if (good && !alive)
			*vec_add(&out->dead_names) = mem_string(name);
	}
	close(fd);
	return good;
}

void sessions_read_others(const struct session *session, struct others *out)
{
	_Alignas(struct uapi_dirent) char buffer[4096];
	long got;

	memset(out, 0, sizeof(*out));
	lseek(session->dir, 0, SEEK_SET);
	while ((got = syscall(SYS_getdents64, session->dir, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got;) {
			const struct uapi_dirent *entry = (const void *)(buffer + at);

			at += entry->length;
			if (!strcmp(entry->name, ".") || !strcmp(entry->name, "..") ||
			    !strcmp(entry->name, MUTEX_NAME) ||
			    !strncmp(entry->name, TMP_PREFIX, strlen(TMP_PREFIX)) ||
			    (session->name && !strcmp(entry->name, session->name)))
				continue;
			if (clear_own_file(session->dir, entry->name))
				continue;
			if (strncmp(entry->name, PREFIX, strlen(PREFIX)) ||
			    !read_other(session, entry->name, out))
				out->stray = mem_string(entry->name);
		}
}
