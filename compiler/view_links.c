/*
 * compiler/view_links.c - links that a denied pattern matches here.
 *
 * Such a rule holds for what the link leads to as well, which no pattern tells:
 * so the trees in which patterns begin are looked through, as a launch does, for
 * links alone.  What a grant's pattern matches opens nothing elsewhere.
 */
#include "compiler/view.h"

#include <fts.h>
#include <string.h>
#include <unistd.h>

#include "blob/contest.h"

#define NAMES_MAX 100000 /* a question is answered at once, whatever lies around */

/* The directory before the first wildcard. */
static const char *beginning(struct arena *arena, const char *pattern)
{
	size_t length = strcspn(pattern, "*?[\\");

	while (length && pattern[length] != '/')
		length--;
	return length ? arena_copy(arena, pattern, length) : "/";
}

static bool takes(const struct sbx_fs_point *point)
{
	return point->wild && point->verb >= SBX_FS_DENY;
}

/* Where nothing can be reached, no rule has to hold. */
static bool is_granted(const struct view *view, const char *root)
{
	for (size_t i = 0; i < view->points.count; i++) {
		const struct sbx_fs_point *point = &view->points.items[i];

		if (point->verb == SBX_FS_GRANT && (sbx_path_beneath(root, point->path) >= 0 ||
						    sbx_path_beneath(point->path, root) >= 0))
			return true;
	}
	return false;
}

static void add_link(struct view *view, size_t patterns, const char *path)
{
	char target[1];

	for (size_t i = 0; i < patterns; i++) {
		struct sbx_fs_point point = view->points.items[i];

		if (!takes(&point) || !sbx_glob_match(point.path, path) ||
		    readlink(path, target, sizeof(target)) < 0)
			continue;
		point.path = view_real(view->arena, path);
		point.wild = false;
		*VEC_PUSH(view->arena, &view->points) = point;
	}
}

static void look_through(struct view *view, size_t patterns, const char *root)
{
	char *const roots[] = { arena_printf(view->arena, "%s", root), NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOSTAT | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	size_t names = 0;

	while (walk && names++ < NAMES_MAX && (entry = fts_read(walk)))
		if (entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE ||
		    entry->fts_info == FTS_NSOK)
			add_link(view, patterns, entry->fts_path);
	if (walk)
		fts_close(walk);
}

void view_find_links(struct view *view)
{
	size_t patterns = view->points.count;

	for (size_t i = 0; i < patterns; i++) {
		const char *root = takes(&view->points.items[i])
				       ? beginning(view->arena, view->points.items[i].path)
				       : NULL;
		bool seen = !root || !is_granted(view, root);

		for (size_t n = 0; n < i && !seen; n++)
			seen = takes(&view->points.items[n]) &&
			       sbx_path_beneath(
				   beginning(view->arena, view->points.items[n].path), root) >= 0;
		if (!seen)
			look_through(view, patterns, root);
	}
	view->set.points = view->points.items;
	view->set.count = view->points.count;
}
