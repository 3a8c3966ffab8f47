/*
 * blob/fs_verdict.c - who decides for a path.
 *
 *	1. a seal that covers the path and does not except it refuses;
 *	2. else the heaviest statement decides.  A deny weighs the depth of the
 *	   longest part of the path it matches, a grant the depth of its
 *	   literal beginning, so a wildcard never reaches through a deny below
 *	   it.  At equal weight a literal beats a pattern, then deny a grant;
 *	3. no statement: refused.
 *
 * A tmp or a copy is not the host's: a grant beneath opens the host's own there, with its
 * rights alone, and what a seal excepts of a tmp is not there.
 *
 * The same contest serves path sockets (net_verdict.c).
 */
#include "blob/contest.h"

#include <string.h>

/* Most pairs part within a few bytes, so it is one loop without a call. */
int sbx_path_beneath(const char *ancestor, const char *path)
{
	int depth = 0;

	for (; *ancestor && *ancestor == *path; ancestor++, path++)
		depth += *path == '/';
	if (!*ancestor) {
		bool slash = depth && ancestor[-1] == '/';

		if (slash)
			depth--;
		return slash || !*path || *path == '/' ? depth : -1;
	}
	return *ancestor == '/' && !ancestor[1] && !*path ? depth : -1;
}

void sbx_contest_init(struct sbx_contest *contest)
{
	for (unsigned side = 0; side <= SBX_SIDE_SEAL; side++) {
		contest->best[side].weight = -1;
		contest->best[side].literal = false;
		contest->best[side].index = SBX_NONE;
	}
}

void sbx_contest_enter(struct sbx_contest *contest, enum sbx_side side, uint32_t index,
		       const char *pattern, bool wild, const char *path)
{
	int weight = wild ? sbx_glob_longest(pattern, path) : sbx_path_beneath(pattern, path);

	if (weight < 0)
		return;
	if (wild && side == SBX_SIDE_GRANT)
		weight = sbx_glob_literal_depth(pattern);
	if (weight < contest->best[side].weight ||
	    (weight == contest->best[side].weight && (wild || contest->best[side].literal)))
		return;
	contest->best[side].weight = weight;
	contest->best[side].literal = !wild;
	contest->best[side].index = index;
}

void sbx_contest_decide(const struct sbx_contest *contest, struct sbx_fs_verdict *out)
{
	int grant =
	    2 * contest->best[SBX_SIDE_GRANT].weight + contest->best[SBX_SIDE_GRANT].literal;
	int deny = 2 * contest->best[SBX_SIDE_DENY].weight + contest->best[SBX_SIDE_DENY].literal;
	enum sbx_side winner = SBX_SIDE_DENY, loser = SBX_SIDE_GRANT;

	out->why = SBX_WHY_DENY;
	if (contest->best[SBX_SIDE_SEAL].weight >= 0) {
		winner = SBX_SIDE_SEAL;
		out->why = SBX_WHY_SEAL;
	} else if (grant > deny) {
		winner = SBX_SIDE_GRANT;
		loser = SBX_SIDE_DENY;
		out->why = SBX_WHY_GRANT;
	} else if (deny < 0) {
		out->why = SBX_WHY_NOTHING;
	}
	out->allowed = out->why == SBX_WHY_GRANT;
	out->point = contest->best[winner].index;
	out->loser = contest->best[loser].index;
}

int sbx_fs_covers(const struct sbx_fs_point *point, const char *path)
{
	return point->wild ? sbx_glob_longest(point->path, path)
			   : sbx_path_beneath(point->path, path);
}

/* The length of the longest exception of @point that @path lies in; 0: in none. */
static size_t excepted(const struct sbx_fs_set *set, const struct sbx_fs_point *point,
		       const char *path)
{
	size_t longest = 0;

	for (uint32_t i = 0; i < point->except_count; i++) {
		const char *except = set->excepts[point->except_first + i];
		size_t length = strlen(except);

		if (length > longest && sbx_path_beneath(except, path) >= 0)
			longest = length;
	}
	return longest;
}

/* Where a measured path ends, @path must end or go on with a slash. */
static bool cannot_cover(const struct sbx_fs_point *point, const char *path, size_t length)
{
	return point->length > 1 &&
	       (point->length > length || (path[point->length] && path[point->length] != '/'));
}

static bool is_made(const struct sbx_fs_point *point)
{
	return point->verb == SBX_FS_TMP || point->verb == SBX_FS_COPY;
}

/* What is made at the name of the point at @index: `exec /tmp` beside `tmp /tmp` is of the
 * tmpfs, too.  Of a tmp and a copy, which links may bring together, it is the tmp. */
static const struct sbx_fs_point *made_at(const struct sbx_fs_set *set, uint32_t index)
{
	const struct sbx_fs_point *made = NULL;

	for (size_t i = 0; i < set->count; i++)
		if (is_made(&set->points[i]) && (!made || made->verb == SBX_FS_COPY) &&
		    !strcmp(set->points[i].path, set->points[index].path))
			made = &set->points[i];
	return made;
}

/* A seal that does not refuse, since it excepts the path. */
struct opened {
	uint32_t seal;
	size_t length; /* of the exception */
};

/* @out allows, and a tmp or a copy covers @path: is it what is made there that is asked
 * about? */
static void look_into_made(const struct sbx_fs_set *set, const char *path, unsigned right,
			   const struct opened *opened, struct sbx_fs_verdict *out)
{
	const struct sbx_fs_point *made = made_at(set, out->point);
	struct sbx_fs_verdict read;

	if (made && is_made(&set->points[out->point]))
		out->point = (uint32_t)(made - set->points);
	if (made && made->verb == SBX_FS_TMP && strlen(made->path) < opened->length) {
		*out = (struct sbx_fs_verdict){ false, SBX_WHY_SEAL, opened->seal, out->point };
		return;
	}
	if (right == SBX_READ)
		return;
	sbx_fs_decide(set, path, SBX_READ, &read);
	if (!read.allowed && opened->length && read.point == opened->seal)
		*out = read;
	else if (read.allowed && made && strcmp(set->points[read.point].path, made->path) &&
		 !made_at(set, read.point))
		*out = (struct sbx_fs_verdict){ false, SBX_WHY_NOTHING, read.point, out->point };
}

void sbx_fs_decide(const struct sbx_fs_set *set, const char *path, unsigned right,
		   struct sbx_fs_verdict *out)
{
	struct opened opened = { SBX_NONE, 0 };
	struct sbx_contest contest;
	size_t length = strlen(path);
	bool made = false;

	sbx_contest_init(&contest);
	for (size_t i = 0; i < set->count; i++) {
		const struct sbx_fs_point *point = &set->points[i];
		enum sbx_side side = point->verb == SBX_FS_DENY   ? SBX_SIDE_DENY
				     : point->verb == SBX_FS_SEAL ? SBX_SIDE_SEAL
								  : SBX_SIDE_GRANT;
		size_t except;

		if (cannot_cover(point, path, length))
			continue;
		made |= is_made(point);
		if (!(point->rights & right))
			continue;
		except = side == SBX_SIDE_SEAL ? excepted(set, point, path) : 0;
		if (!except)
			sbx_contest_enter(&contest, side, (uint32_t)i, point->path, point->wild,
					  path);
		else if (except > opened.length && sbx_fs_covers(point, path) >= 0)
			opened = (struct opened){ (uint32_t)i, except };
	}
	sbx_contest_decide(&contest, out);
	if (made && out->allowed)
		look_into_made(set, path, right, &opened, out);
}

bool sbx_fs_allows(const struct sbx_fs_set *set, const char *path, unsigned right)
{
	struct sbx_fs_verdict verdict;

	sbx_fs_decide(set, path, right, &verdict);
	return verdict.allowed;
}
