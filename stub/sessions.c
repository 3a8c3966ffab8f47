/*
 * stub/sessions.c - the files by which sessions know of one another.
 *
 * One file a session, in a directory that only the user can write, listing the
 * placeholders that it made or relies on.  The session holds a lock on it; the
 * kernel lets go of the lock whatever ends the session, so a file without a
 * lock is that of a dead one.
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
#include "stub/sys.h"

#define PREFIX     "session-"
#define FILE_MAX   (4u << 20)
#define MUTEX_NAME "mutex"

/* ~/.local/state/sbx/sessions, wherever ~/.local and what is in it lead: every
 * session of this user must find the same one, so no environment can move it. */
bool sessions_open(const struct launch *launch, struct session *session)
{
	static const char names[][9] = { ".local", "state", "sbx", "sessions" };
	const char *home = launch->vars.value[SBX_VAR_HOME];
	int dir = home ? open(home, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	session->dir = session->file = session->mutex = -1;
	for (size_t i = 0; dir >= 0 && i < 4; i++) {
		int flags = O_DIRECTORY | O_CLOEXEC | (i < 2 ? O_PATH : O_NOFOLLOW), next;

		if (mkdirat(dir, names[i], 0700) && errno != EEXIST)
			next = -1;
		else
			next = openat(dir, names[i], flags);
		close(dir);
		dir = next;
	}
	session->dir = dir;
	if (dir >= 0)
		session->mutex =
		    openat(dir, MUTEX_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return session->mutex >= 0;
}

void sessions_lock(struct session *session)
{
	while (flock(session->mutex, LOCK_EX) && errno == EINTR)
		;
}

void sessions_unlock(struct session *session)
{
	flock(session->mutex, LOCK_UN);
}

/* ---- the file: records one after another -------------------------------------- */

struct record {
	uint64_t dev, ino;
	uint32_t path_length, text_length; /* NO_TEXT: a directory */
	/* path, NUL, text, NUL */
};
#define NO_TEXT UINT32_MAX

static size_t put_record(char *at, const struct placeholder *placeholder)
{
	struct record head = { placeholder->dev, placeholder->ino,
			       (uint32_t)strlen(placeholder->path), NO_TEXT };
	size_t size = sizeof(head);

	if (placeholder->text)
		head.text_length = (uint32_t)strlen(placeholder->text);
	memcpy(at, &head, sizeof(head));
	strcpy(at + size, placeholder->path);
	size += head.path_length + 1u;
	if (placeholder->text) {
		strcpy(at + size, placeholder->text);
		size += head.text_length + 1u;
	}
	return size;
}

bool sessions_write(struct session *session)
{
	size_t room = 0, size = 0;
	char *all;

	for (size_t i = 0; i < session->used.count; i++) {
		const struct placeholder *p = &session->used.items[i];

		room +=
		    sizeof(struct record) + strlen(p->path) + 2 + (p->text ? strlen(p->text) : 0);
	}
	all = mem_get(room + 1);
	for (size_t i = 0; i < session->used.count; i++)
		size += put_record(all + size, &session->used.items[i]);
	if (session->file < 0) {
		struct timespec now;

		sys_clock(CLOCK_BOOTTIME, &now);
		session->name = out_string(PREFIX "%d-%llu", getpid(),
					   (unsigned long long)now.tv_sec * 1000000000ull +
					       (unsigned long long)now.tv_nsec);
		session->file = openat(session->dir, session->name,
				       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (session->file < 0 || flock(session->file, LOCK_EX | LOCK_NB))
			return false;
	}
	return size <= FILE_MAX && pwrite(session->file, all, size, 0) == (ssize_t)size &&
	       !ftruncate(session->file, (off_t)size);
}

#define add_all(list, data, size)                                                                  \
	for (size_t at_ = 0, step_; at_ < (size); at_ += step_) {                                  \
		struct placeholder one_;                                                           \
		step_ = get_record((data) + at_, (size)-at_, &one_);                               \
		if (!step_)                                                                        \
			break;                                                                     \
		*vec_add(list) = one_;                                                             \
	}

static size_t get_record(const char *at, size_t left, struct placeholder *out)
{
	struct record head;
	size_t size = sizeof(head);

	if (left < size)
		return 0;
	memcpy(&head, at, sizeof(head));
	if (head.path_length >= PATH_MAX || size + head.path_length + 1 > left || at[size] != '/' ||
	    at[size + head.path_length])
		return 0;
	*out =
	    (struct placeholder){ .path = at + size, .dir = -1, .dev = head.dev, .ino = head.ino };
	size += head.path_length + 1u;
	if (head.text_length == NO_TEXT)
		return size;
	if (head.text_length > left || size + head.text_length + 1 > left ||
	    at[size + head.text_length])
		return 0;
	out->text = at + size;
	return size + head.text_length + 1u;
}

static void read_other(const struct session *session, const char *name, struct others *out)
{
	int fd = openat(session->dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	char *data;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_size >= 0 && st.st_size <= FILE_MAX) {
		data = mem_get((size_t)st.st_size + 1);
		if (pread(fd, data, (size_t)st.st_size, 0) == st.st_size) {
			if (flock(fd, LOCK_EX | LOCK_NB)) {
				add_all(&out->live, data, (size_t)st.st_size);
			} else {
				add_all(&out->dead, data, (size_t)st.st_size);
				*vec_add(&out->dead_names) = mem_string(name);
			}
		}
	}
	close(fd);
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
			if (!strncmp(entry->name, PREFIX, strlen(PREFIX)) &&
			    (!session->name || strcmp(entry->name, session->name)))
				read_other(session, entry->name, out);
		}
}
