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

static bool excepted(const struct sbx_fs_set *set, const struct sbx_fs_point *point,
		     const char *path)
{
	for (uint32_t i = 0; i < point->except_count; i++)
		if (sbx_path_beneath(set->excepts[point->except_first + i], path) >= 0)
			return true;
	return false;
}

/* Where a measured path ends, @path must end or go on with a slash. */
static bool cannot_cover(const struct sbx_fs_point *point, const char *path, size_t length)
{
	return point->length > 1 &&
	       (point->length > length || (path[point->length] && path[point->length] != '/'));
}

void sbx_fs_decide(const struct sbx_fs_set *set, const char *path, unsigned right,
		   struct sbx_fs_verdict *out)
{
	struct sbx_contest contest;
	size_t length = strlen(path);

	sbx_contest_init(&contest);
	for (size_t i = 0; i < set->count; i++) {
		const struct sbx_fs_point *point = &set->points[i];
		enum sbx_side side = point->verb == SBX_FS_DENY   ? SBX_SIDE_DENY
				     : point->verb == SBX_FS_SEAL ? SBX_SIDE_SEAL
								  : SBX_SIDE_GRANT;

		if (!(point->rights & right) || cannot_cover(point, path, length))
			continue;
		if (side == SBX_SIDE_SEAL && excepted(set, point, path))
			continue;
		sbx_contest_enter(&contest, side, (uint32_t)i, point->path, point->wild, path);
	}
	sbx_contest_decide(&contest, out);
}

bool sbx_fs_allows(const struct sbx_fs_set *set, const char *path, unsigned right)
{
	struct sbx_fs_verdict verdict;

	sbx_fs_decide(set, path, right, &verdict);
	return verdict.allowed;
}
