/*
 * compiler/view_links.c - links that a denied pattern matches here.
 *
 * Such a rule holds for what the link leads to as well, which no pattern tells:
 * so what is granted in the trees in which patterns begin is looked through, as a
 * launch does, for links alone.  What a grant's pattern matches opens nothing elsewhere.
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

struct roots {
	VEC_OF(const char *)
};

/* Where a launch begins to look: where the pattern does, or, where nothing is granted there,
 * at the grants beneath.  A link elsewhere is not looked for. */
static void add_roots(const struct view *view, const char *root, struct roots *roots)
{
	bool reached = false;

	for (unsigned right = SBX_READ; right <= SBX_EXEC; right <<= 1)
		reached |= sbx_fs_allows(&view->set, root, right);
	for (size_t i = 0; i < view->points.count; i++) {
		const struct sbx_fs_point *point = &view->points.items[i];

		if (point->verb != SBX_FS_GRANT || point->wild)
			continue;
		reached |= sbx_path_beneath(point->path, root) >= 0;
		if (sbx_path_beneath(root, point->path) >= 0)
			*VEC_PUSH(view->arena, roots) = point->path;
	}
	if (reached)
		*VEC_PUSH(view->arena, roots) = root;
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

/* What is closed as a whole is not entered. */
static bool is_closed(const struct view *view, size_t patterns, const char *path)
{
	for (size_t i = 0; i < patterns; i++) {
		const struct sbx_fs_point *point = &view->points.items[i];

		if (takes(point) && point->rights == (SBX_READ | SBX_WRITE | SBX_EXEC) &&
		    sbx_glob_match(point->path, path))
			return true;
	}
	return false;
}

static void look_through(struct view *view, size_t patterns, const char *root)
{
	char *const roots[] = { arena_printf(view->arena, "%s", root), NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOSTAT | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	size_t names = 0;

	while (walk && names++ < NAMES_MAX && (entry = fts_read(walk)))
		if (entry->fts_level == FTS_ROOTLEVEL)
			continue; /* it is there by another rule's name */
		else if (entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE ||
			 entry->fts_info == FTS_NSOK)
			add_link(view, patterns, entry->fts_path);
		else if (entry->fts_info == FTS_D && is_closed(view, patterns, entry->fts_path))
			fts_set(walk, entry, FTS_SKIP);
	if (walk)
		fts_close(walk);
}

void view_find_links(struct view *view)
{
	size_t patterns = view->points.count;
	struct roots roots = { 0 };

	for (size_t i = 0; i < patterns; i++)
		if (takes(&view->points.items[i]))
			add_roots(view, beginning(view->arena, view->points.items[i].path), &roots);
		else if (view->points.items[i].wild)
			*VEC_PUSH(view->arena, &roots) =
			    beginning(view->arena, view->points.items[i].path);
	for (size_t i = 0; i < roots.count; i++) {
		bool seen = false;

		for (size_t n = 0; n < roots.count && !seen; n++)
			seen = n != i && sbx_path_beneath(roots.items[n], roots.items[i]) >= 0 &&
			       (n < i || strcmp(roots.items[n], roots.items[i]) != 0);
		if (!seen)
			look_through(view, patterns, roots.items[i]);
	}
	view->set.points = view->points.items;
	view->set.count = view->points.count;
}
