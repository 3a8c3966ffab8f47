/*
 * probe/act_kinds.c - each kind of thing that can be made, removed or changed in a directory.
 *
 * Landlock has a right for each, and a launcher that forgets one of them leaves it to
 * everybody.
 */
#include "probe/act.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/protocol.h"

static int list(const char *path)
{
	DIR *directory = opendir(path);

	if (!directory)
		return errno;
	closedir(directory);
	return 0;
}

/* What can be done counts, also where it cannot be undone. */
static int undo(int done, int (*undoing)(const char *path), const char *path)
{
	int error = done ? errno : 0;

	if (!error)
		undoing(path);
	return error;
}

static int make_file(const char *path)
{
	return undo(mknod(path, S_IFREG | 0600, 0), unlink, path);
}
static int make_directory(const char *path)
{
	return undo(mkdir(path, 0700), rmdir, path);
}
static int make_fifo(const char *path)
{
	return undo(mknod(path, S_IFIFO | 0600, 0), unlink, path);
}
static int make_socket(const char *path)
{
	return undo(mknod(path, S_IFSOCK | 0600, 0), unlink, path);
}
static int make_symlink(const char *path)
{
	return undo(symlink("nothing", path), unlink, path);
}
/* The one device that an ordinary user may make: 0, 0 of an overlay. */
static int make_device(const char *path)
{
	return undo(mknod(path, S_IFCHR | 0600, 0), unlink, path);
}

static int again_directory(const char *path)
{
	return mkdir(path, 0700);
}
static int remove_directory(const char *path)
{
	return undo(rmdir(path), again_directory, path);
}
static int again_file(const char *path)
{
	return mknod(path, S_IFREG | 0600, 0);
}
static int remove_file(const char *path)
{
	return undo(unlink(path), again_file, path);
}

/* From one directory to another and back. */
static int refer(const char *path)
{
	char from[PATH_MAX], to[PATH_MAX];

	snprintf(from, sizeof(from), "%s/" PROBE_KIND_FROM "/" PROBE_KIND_FILE, path);
	snprintf(to, sizeof(to), "%s/" PROBE_KIND_TO "/" PROBE_KIND_FILE, path);
	if (rename(from, to))
		return errno;
	rename(to, from);
	return 0;
}

/* To the size that it has. */
static int cut(const char *path)
{
	struct stat st;

	return stat(path, &st) || truncate(path, st.st_size) ? errno : 0;
}

/* "KIND DIRECTORY" */
int act_kind(const char *kind, const char *directory)
{
	static const struct {
		const char *kind, *name;
		int (*act)(const char *path);
	} kinds[] = {
		{ "list", "", list },
		{ "refer", "", refer },
		{ "mkfile", "/new" PROBE_PATH_SUFFIX, make_file },
		{ "mksubdir", "/made" PROBE_PATH_SUFFIX, make_directory },
		{ "mkfifo", "/fifo" PROBE_PATH_SUFFIX, make_fifo },
		{ "symlink", "/link" PROBE_PATH_SUFFIX, make_symlink },
		{ "mksocket", "/socket" PROBE_PATH_SUFFIX, make_socket },
		{ "mknod", "/node" PROBE_PATH_SUFFIX, make_device },
		{ "rmdir", "/" PROBE_KIND_EMPTY, remove_directory },
		{ "remove", "/" PROBE_KIND_GONE, remove_file },
		{ "truncate", "/" PROBE_KIND_FROM "/" PROBE_KIND_FILE, cut },
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i].kind)) {
			snprintf(path, sizeof(path), "%s%s", directory, kinds[i].name);
			return kinds[i].act(path);
		}
	return EPROTO;
}
