/*
 * compiler/lint_here.c - sbxc lint --here: what only this machine can show.
 *
 * A mask lies on a name.  A file that has two (a hard link) is open by the
 * other, wherever that is; sbx-exec refuses to start where both may be in reach.
 * Here the files beneath each rule that takes reading are looked at, without
 * opening one, so that it is known before.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/lint.h"
#include "compiler/stages.h"
#include "compiler/view.h"

#define ENTRIES_MAX 100000 /* of one rule: profiles of browsers are large */
#define DEPTH_MAX   40

struct search {
	struct arena *arena;
	const char *first; /* a file with a second name, below the rule's path; "": that */
	unsigned links, found, entries;
};

static void look(struct search *search, int dir, const char *name, const char *path, unsigned depth)
{
	struct stat st;
	struct dirent *entry;
	DIR *stream;
	int fd;

	if (search->entries++ >= ENTRIES_MAX || depth > DEPTH_MAX ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	/* The first by name: in a directory there is no order. */
	if (S_ISREG(st.st_mode) && st.st_nlink > 1 &&
	    (!search->found++ || strcmp(path, search->first) < 0)) {
		search->first = path;
		search->links = (unsigned)st.st_nlink;
	}
	if (!S_ISDIR(st.st_mode))
		return;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(stream)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			look(search, dirfd(stream), entry->d_name,
			     arena_printf(search->arena, "%s%s%s", path, *path ? "/" : "",
					  entry->d_name),
			     depth + 1);
	closedir(stream);
}

static bool keeps_shut(const struct sbx_fs_point *point)
{
	return point->verb >= SBX_FS_DENY && point->rights & SBX_READ && !point->wild;
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
	lint_find(lint, head, DIAG_L0501, "%s has %u names: by another one it may be open%s", what,
		  search->links, more);
}

bool lint_here(struct lint *lint)
{
	const struct view_options options = { .defines = lint->c->options.defines,
					      .define_count = lint->c->options.define_count };
	struct view view = { 0 };
	const char *error = view_make(&view, lint->arena, &lint->blob, &options);

	if (error) {
		fprintf(stderr, "sbxc lint: --here: %s\n",
			diag_escape(lint->arena, str_from(error)));
		return false;
	}
	for (size_t i = 0; i < view.set.count; i++) {
		const struct sbx_fs_point *point = &view.set.points[i];
		struct search search = { .arena = lint->arena };

		if (!keeps_shut(point) || point->rule >= SBX_COUNT(&lint->blob, FS))
			continue;
		look(&search, AT_FDCWD, point->path, "", 0);
		if (search.found)
			find_second_name(lint, lint_head(lint, SBX_SEC_FS, point->rule), &search);
	}
	return true;
}
