/*
 * compiler/lint_here.c - sbxc lint --here: what only this machine can show.
 *
 * A mask lies on a name.  A file that has two (a hard link) is open by the
 * other, wherever that is; sbx-exec refuses to start where both may be in reach.
 * Here the files beneath each rule that takes reading or writing are looked at,
 * without opening one, so that it is known before.  What was not looked at is
 * said: nothing found there means nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/lint.h"
#include "compiler/stages.h"
#include "compiler/view.h"

#define ENTRIES_MAX 100000 /* of one rule: profiles of browsers are large */
#define DEPTH_MAX   64

/* Of several, the first by name: in a directory there is no order. */
struct search {
	struct arena *arena;
	unsigned taken;    /* SBX_READ | SBX_WRITE */
	const char *first; /* a file with a second name, below the rule's path; "": that */
	unsigned links, found, entries;
	const char *unread; /* a directory that cannot be looked at; NULL: none */
	int error;          /* why */
	bool cut;           /* there is more than is looked at */
};

/* Whoever neither owns a file nor may write it cannot by another name either. */
static bool is_open_elsewhere(const struct search *search, const struct stat *st)
{
	bool writes = st->st_uid == geteuid() || (st->st_mode & (S_IWGRP | S_IWOTH));

	return S_ISREG(st->st_mode) && st->st_nlink > 1 &&
	       search->taken & (writes ? SBX_READ | SBX_WRITE : SBX_READ);
}

/* Of the directory @path, by errno.  What another's permissions keep from us they keep
 * from the sandbox, too. */
static void cannot_look(struct search *search, const struct stat *st, const char *path)
{
	if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP ||
	    (errno == EACCES && st->st_uid != geteuid()) ||
	    (search->unread && strcmp(path, search->unread) >= 0))
		return;
	search->error = errno;
	search->unread = path;
}

static void look(struct search *search, int dir, const char *name, const char *path,
		 unsigned depth);

static void look_into(struct search *search, int dir, const char *name, const char *path,
		      unsigned depth)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat st;

	if (!stream) {
		int error = errno;

		if (fd >= 0)
			close(fd);
		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
			errno = error;
			cannot_look(search, &st, path);
		}
		return;
	}
	if (fstat(fd, &st) == 0 && faccessat(fd, ".", X_OK, AT_EACCESS) != 0)
		cannot_look(search, &st, path); /* it may be listed, and not be entered */
	while ((entry = readdir(stream)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			look(search, dirfd(stream), entry->d_name,
			     arena_printf(search->arena, "%s%s%s", path, *path ? "/" : "",
					  entry->d_name),
			     depth + 1);
	closedir(stream);
}

static void look(struct search *search, int dir, const char *name, const char *path, unsigned depth)
{
	struct stat st;

	if (search->entries >= ENTRIES_MAX || depth > DEPTH_MAX) {
		search->cut = true;
		return;
	}
	search->entries++;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	if (is_open_elsewhere(search, &st) &&
	    (!search->found++ || strcmp(path, search->first) < 0)) {
		search->first = path;
		search->links = (unsigned)st.st_nlink;
	}
	if (S_ISDIR(st.st_mode))
		look_into(search, dir, name, path, depth);
}

static unsigned taken_by(const struct sbx_fs_point *point)
{
	return point->verb < SBX_FS_DENY || point->wild ? 0
							: point->rights & (SBX_READ | SBX_WRITE);
}

static void find_second_name(struct lint *lint, const struct rule_head *head,
			     const struct search *search)
{
	const char *what = "this file", *more = "";

	if (*search->first)
		what = arena_printf(lint->arena, "`%s` in it", search->first);
	if (search->found > 1)
		more = arena_printf(lint->arena, "; and so %s %u more",
				    search->found > 2 ? "have" : "has", search->found - 1);
	lint_find(lint, head, DIAG_L0501, "%s has %u names: by another one it may be %s%s", what,
		  search->links, search->taken & SBX_READ ? "open" : "written", more);
}

/* False: there may be what the user can show us. */
static bool say_what_is_unseen(struct lint *lint, const char *path, const struct search *search)
{
	if (search->cut)
		fprintf(stderr,
			"sbxc lint: --here: %s: not all of it was looked at: it is more than %u "
			"names, or %u directories deep\n",
			diag_escape(lint->arena, str_from(path)), ENTRIES_MAX, DEPTH_MAX);
	if (search->unread)
		fprintf(stderr, "sbxc lint: --here: %s%s%s: %s: what is in it was not looked at\n",
			diag_escape(lint->arena, str_from(path)), *search->unread ? "/" : "",
			diag_escape(lint->arena, str_from(search->unread)),
			strerror(search->error));
	return !search->unread;
}

bool lint_here(struct lint *lint)
{
	const struct view_options options = { .defines = lint->c->options.defines,
					      .define_count = lint->c->options.define_count };
	struct view view = { 0 };
	bool seen = true;
	const char *error = view_make(&view, lint->arena, &lint->blob, &options);

	if (error) {
		fprintf(stderr, "sbxc lint: --here: %s\n",
			diag_escape(lint->arena, str_from(error)));
		return false;
	}
	for (size_t i = 0; i < view.set.count; i++) {
		const struct sbx_fs_point *point = &view.set.points[i];
		struct search search = { .arena = lint->arena, .taken = taken_by(point) };

		if (!search.taken || point->rule >= SBX_COUNT(&lint->blob, FS))
			continue;
		look(&search, AT_FDCWD, point->path, "", 0);
		if (search.found)
			find_second_name(lint, lint_head(lint, SBX_SEC_FS, point->rule), &search);
		seen &= say_what_is_unseen(lint, point->path, &search);
	}
	return seen;
}
