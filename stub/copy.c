/*
 * stub/copy.c - private copies (`copy P`), from descriptors.
 *
 * The descriptor was opened outside when the path was checked; what lies below
 * is reached from it without following links, and read as the user.
 */
#include "stub/inner.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "stub/uapi.h"

#define COPY_BYTES_MAX   (256ull << 20)
#define COPY_ENTRIES_MAX 20000u
#define COPY_DEPTH_MAX   64

struct copy {
	const struct inner *inner;
	const char *what;
	uint64_t bytes;
	unsigned entries;
};

static _Noreturn void fail(const struct copy *c)
{
	inner_fail(c->inner, "%s cannot be copied: %s", c->what, out_error(errno));
}

static void copy_file(struct copy *c, int from, int to, const char *name, mode_t mode)
{
	int out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	ssize_t done;

	if (out < 0)
		fail(c);
	while ((done = sendfile(out, from, NULL, 1 << 20)) > 0) {
		c->bytes += (uint64_t)done;
		if (c->bytes > COPY_BYTES_MAX)
			inner_fail(c->inner, "%s: more than %llu bytes to copy: grant it instead",
				   c->what, COPY_BYTES_MAX);
	}
	/* Private, so the user may always write it. */
	if (done < 0 || fchmod(out, (mode & 0777) | S_IWUSR))
		fail(c);
	close(out);
}

static void copy_directory(struct copy *c, int from, int to, unsigned depth);

static void copy_entry(struct copy *c, int from, int to, const char *name, unsigned depth)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t length;
	int in, out;

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return;
	if (++c->entries > COPY_ENTRIES_MAX || depth > COPY_DEPTH_MAX)
		inner_fail(c->inner, "%s: more than %u names to copy: grant it instead", c->what,
			   COPY_ENTRIES_MAX);
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
		fail(c);
	if (S_ISLNK(st.st_mode)) {
		length = readlinkat(from, name, target, sizeof(target) - 1);
		if (length < 0)
			fail(c);
		target[length] = '\0';
		if (symlinkat(target, to, name))
			fail(c);
		return;
	}
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return; /* sockets and the like have no copy */
	in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (in < 0)
		fail(c);
	if (S_ISREG(st.st_mode)) {
		copy_file(c, in, to, name, st.st_mode);
	} else {
		if (mkdirat(to, name, 0700))
			fail(c);
		out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (out < 0)
			fail(c);
		copy_directory(c, in, out, depth + 1);
		fchmod(out, (st.st_mode & 0777) | S_IRWXU);
		close(out);
	}
	close(in);
}

static void copy_directory(struct copy *c, int from, int to, unsigned depth)
{
	_Alignas(struct uapi_dirent) char buffer[4096];
	long got;

	while ((got = syscall(SYS_getdents64, from, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got;) {
			const struct uapi_dirent *entry = (const void *)(buffer + at);

			at += entry->length;
			copy_entry(c, from, to, entry->name, depth);
		}
	if (got < 0)
		fail(c);
}

void copy_tree(const struct inner *inner, int from, int to, const char *name, const char *what)
{
	struct copy c = { .inner = inner, .what = what };
	struct stat st;

	if (fstat(from, &st))
		fail(&c);
	if (S_ISDIR(st.st_mode))
		copy_directory(&c, from, to, 0);
	else
		copy_file(&c, from, to, name, st.st_mode);
}
