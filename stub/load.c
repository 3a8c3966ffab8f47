/*
 * stub/load.c - the blob.
 *
 * It is opened once, checked by its descriptor and copied into memory, so that
 * what was checked is what is used.  A blob that somebody else could write is
 * refused: whoever writes it decides what the sandbox is.
 */
#include "stub/load.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/mem.h"
#include "stub/out.h"
#include "stub/proc.h"
#include "stub/user.h"

#define SITE_FLOOR "/etc/sbx/site.sbx"

/* The map's line is "inside outside count". */
bool root_is_root(void)
{
	char line[64];
	const char *at = line;

	if (!proc_read("/proc/self/uid_map", line, sizeof(line)))
		return true;
	at = out_skip(at);
	if (out_read_number(at, &at))
		return false;
	at = out_skip(at);
	return out_read_number(at, &at) == 0;
}

bool owner_trusted(const struct stat *st, int fd, bool user_too)
{
	struct statfs fs;

	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return false;
	if (st->st_uid == 0 || (user_too && st->st_uid == getuid()))
		return true;
	return st->st_uid == 65534 && !root_is_root() && !fstatfs(fd, &fs) &&
	       (fs.f_flags & ST_RDONLY);
}

/* A directory in which others may replace files makes every file theirs. */
static void check_directory(const char *path)
{
	const char *dir = path_parent(path);
	struct stat st;

	if (stat(dir, &st))
		refuse("%s: %s", dir, out_error(errno));
	if ((st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))
		refuse("%s: anyone may replace files in %s: chmod o-w it, or keep the policy in "
		       "~/.local/share/sbx",
		       path, dir);
}

static void check_file(const char *path, int fd, const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		refuse("%s: not a regular file", path);
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		refuse("%s: writable by others (mode %o): chmod go-w it", path,
		       (unsigned)(st->st_mode & 07777));
	if (!owner_trusted(st, fd, true))
		refuse("%s: belongs to uid %u, neither to you nor to root: copy it to "
		       "~/.local/share/sbx",
		       path, (unsigned)st->st_uid);
	if (st->st_nlink > 1 && st->st_uid != 0)
		refuse("%s: has %u names (hard links); one of them may be writable inside: cp it "
		       "to a file of its own",
		       path, (unsigned)st->st_nlink);
	if (st->st_size > SBX_BLOB_SIZE_MAX)
		refuse("%s: larger than any policy (%llu bytes)", path,
		       (unsigned long long)st->st_size);
	check_directory(path);
}

static bool ends_in(const char *text, const char *suffix)
{
	size_t length = strlen(text);

	return length > 4 && !strcmp(text + length - 4, suffix);
}

/* The blob installed as @name; NULL: there is none, and *first is where it would be. */
static const char *installed(const struct launch *launch, const char *name, const char **first)
{
	const char *home = user_home(launch->uid);
	const char *places[] = {
		out_string("%s/.local/share/sbx/%s.sbx", home ? home : "", name),
		out_string("/usr/local/share/sbx/blobs/%s.sbx", name),
		out_string("/usr/share/sbx/blobs/%s.sbx", name),
	};

	*first = places[!home];
	for (size_t i = !home; i < 3; i++)
		if (!access(places[i], F_OK))
			return places[i];
	return NULL;
}

static const char *find(const struct launch *launch)
{
	const char *name = launch->options.blob, *slash = strrchr(name, '/');
	const char *found, *first;

	if (ends_in(name, ".pol"))
		refuse("%s: the source of a policy: compile it with sbxc, and run the .sbx", name);
	if (ends_in(name, ".sbx") || (slash && !access(name, F_OK)))
		return name;
	found = installed(launch, slash ? slash + 1 : name, &first);
	if (found && !slash)
		return found;
	if (found)
		refuse("%s: no such file; for the installed policy write sbx-exec %s", name,
		       slash + 1);
	if (slash)
		return name;
	if (!access(name, F_OK))
		refuse("%s: no installed policy of that name; for the file here write ./%s", name,
		       name);
	refuse("%s: no installed policy of that name (%s): compile one with sbxc", name, first);
}

static const char *name_of(int fd)
{
	char path[PATH_MAX];
	ssize_t length = readlink(out_string("/proc/self/fd/%d", fd), path, sizeof(path) - 1);

	if (length <= 0)
		refuse("/proc is not mounted: mount it");
	return mem_copy(path, (size_t)length);
}

void load_blob(struct launch *launch)
{
	const char *path = find(launch), *why;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	size_t size, have = 0;
	char *data;

	if (!access(SITE_FLOOR, F_OK))
		refuse("%s: this version cannot apply a site's floor, and does not go beneath one: "
		       "use a version that can",
		       SITE_FLOOR);
	if (fd < 0 || fstat(fd, &st))
		refuse("%s: %s: %s", path, out_error(errno),
		       errno == ENOENT ? "compile one with sbxc, or name an installed policy"
				       : "name one that can be read");
	launch->blob_name = path;
	launch->blob_path = name_of(fd);
	check_file(launch->blob_path, fd, &st);
	size = (size_t)st.st_size;
	data = mem_get(size + 1);
	while (have <= size) {
		ssize_t got = pread(fd, data + have, size + 1 - have, (off_t)have);

		if (got < 0)
			refuse("%s: %s", path, out_error(errno));
		if (!got)
			break;
		have += (size_t)got;
	}
	close(fd);
	why =
	    have == size ? sbx_blob_open(data, size, &launch->blob) : "it changed while being read";
	if (why)
		refuse("%s: not a usable policy: %s: compile one with sbxc", path, why);
	if (launch->blob.header->kind == SBX_SITE)
		refuse("%s: a site policy is an upper bound, it cannot be run", path);
}
