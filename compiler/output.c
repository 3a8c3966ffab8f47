/*
 * Where the blob goes.
 *
 * Always a new file with a name of its own, then a rename: whoever reads the
 * old blob or the new one reads a whole one, a failed compilation leaves the
 * old one as it was, and twenty compilers at once leave one of their results.
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/stages.h"

static bool fail(const char *what, const char *path, int error)
{
	struct arena arena = { 0 };

	fprintf(stderr, "sbxc: %s %s: %s\n", what, diag_escape(&arena, str_from(path)),
		strerror(error));
	arena_free(&arena);
	return false;
}

/* 0, or an errno value. */
static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t done = write(fd, data, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return errno;
		data += done;
		size -= (size_t)done;
	}
	return 0;
}

static bool write_stdout(const void *data, size_t size)
{
	int error;

	if (isatty(STDOUT_FILENO)) {
		fputs(
		    "sbxc: a blob is not for a terminal: redirect the output, or give -o a file\n",
		    stderr);
		return false;
	}
	error = write_all(STDOUT_FILENO, data, size);
	return error ? fail("cannot write to", "standard output", error) : true;
}

/* A device or a pipe is written in place: renaming would replace it. */
static bool is_special(const char *path, bool *directory)
{
	struct stat st;

	*directory = false;
	if (stat(path, &st) != 0)
		return false;
	*directory = S_ISDIR(st.st_mode);
	return !S_ISREG(st.st_mode) && !*directory;
}

static bool write_special(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	int error = fd < 0 ? errno : write_all(fd, data, size);

	if (fd >= 0 && close(fd) != 0 && !error)
		error = errno;
	return error ? fail("cannot write", path, error) : true;
}

/* Gives @temporary the name @path, which nothing has; 0, or an errno value. */
static int take_name(const char *temporary, const char *path)
{
	if (!renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL)
		return errno;
	/* On NFS there is this way alone. */
	return link(temporary, path) || unlink(temporary) ? errno : 0;
}

/* A new file beside @path, which then takes that name, with @anew from nobody; 0, or an
 * errno value. */
static int replace(const char *path, const void *data, size_t size, const struct stat *like,
		   bool anew)
{
	struct arena arena = { 0 };
	char *temporary = arena_printf(&arena, "%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC);
	int error = fd < 0 ? errno : write_all(fd, data, size);

	if (fd >= 0) {
		/* Root may be mending somebody's file; anybody else is its owner already. */
		if (like && fchown(fd, like->st_uid, like->st_gid) != 0 && !error && errno != EPERM)
			error = errno;
		if (!error && fchmod(fd, like ? like->st_mode & 07777 : 0644) != 0)
			error = errno;
		if (!error && fsync(fd) != 0)
			error = errno;
		if (close(fd) != 0 && !error)
			error = errno;
		if (!error && anew)
			error = take_name(temporary, path);
		else if (!error && rename(temporary, path) != 0)
			error = errno;
		if (error)
			unlink(temporary);
	}
	arena_free(&arena);
	return error;
}

bool output_is_input(const struct compilation *c, const char *output)
{
	struct arena arena = { 0 };
	struct stat to, from;
	bool same = false;

	if (stat(output, &to) != 0 || !S_ISREG(to.st_mode))
		return false;
	for (; c && !same; c = c->jobs)
		for (size_t i = 0; i < c->read.count; i++)
			same |= stat(c->read.items[i], &from) == 0 && to.st_dev == from.st_dev &&
				to.st_ino == from.st_ino;
	if (same)
		fprintf(stderr, "sbxc: %s is what was read: it is not overwritten\n",
			diag_escape(&arena, str_from(output)));
	arena_free(&arena);
	return same;
}

bool output_write(const char *path, const void *data, size_t size)
{
	bool directory;
	int error;

	if (strcmp(path, "-") == 0)
		return write_stdout(data, size);
	if (is_special(path, &directory))
		return write_special(path, data, size);
	error = directory ? EISDIR : replace(path, data, size, NULL, false);
	return error ? fail("cannot write", path, error) : true;
}

bool output_create(const char *path, const void *data, size_t size, bool *there)
{
	int error = replace(path, data, size, NULL, true);

	*there = error == EEXIST;
	return error && !*there ? fail("cannot write", path, error) : !error;
}

bool output_replace(const char *path, const void *data, size_t size)
{
	char *real = realpath(path, NULL);
	struct stat st;
	int error = 0;

	if (!real || stat(real, &st) != 0)
		error = errno;
	else if (!S_ISREG(st.st_mode))
		error = EINVAL;
	else
		error = replace(real, data, size, &st, false);
	free(real);
	return error ? fail("cannot write", path, error) : true;
}

const char *home_dir(struct arena *arena)
{
	const char *home = getenv("HOME");
	const struct passwd *user = NULL;

	if (!home || *home != '/') {
		user = getpwuid(getuid());
		home = user && *user->pw_dir == '/' ? user->pw_dir : NULL;
	}
	return home ? arena_copy(arena, home, strlen(home)) : NULL;
}

const char *output_home(struct arena *arena, const char *below, const char *what,
			const char *option)
{
	const char *path = home_dir(arena);

	if (!path) {
		fprintf(stderr,
			"sbxc: no HOME, and no passwd entry of uid %u, to put the %s under: %s%s\n",
			(unsigned)getuid(), what, option ? "say where with " : "set HOME",
			option ? option : "");
		return NULL;
	}
	for (size_t length; *below; below += length + (below[length] == '/')) {
		length = strcspn(below, "/");
		path = arena_printf(arena, "%s/%.*s", path, (int)length, below);
		if (mkdir(path, 0700) != 0 && errno != EEXIST) {
			fail("cannot make", path, errno);
			return NULL;
		}
	}
	return path;
}

const char *output_default(struct arena *arena, struct str name, const char *option)
{
	const char *dir = output_home(arena, ".local/share/sbx", "blob", option);

	return dir ? arena_printf(arena, "%s/%.*s.sbx", dir, STR_ARG(name)) : NULL;
}

int finish_output(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "sbxc: cannot write to standard output: %s\n", strerror(errno));
	return SBXC_ERRORS;
}
