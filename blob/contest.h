/*
 * blob/contest.h - the precedence rule for paths, one statement at a time.
 *
 * A contest is over one right on one path.  Each statement that covers the
 * path is entered; at the end the heaviest of each side is known.  The order
 * of entries never matters but for naming one of two equals.
 */
#ifndef SBX_BLOB_CONTEST_H
#define SBX_BLOB_CONTEST_H

#include "blob/match.h"

enum sbx_side { SBX_SIDE_GRANT, SBX_SIDE_DENY, SBX_SIDE_SEAL };

struct sbx_contest {
	struct {
		int weight; /* components; -1: nobody */
		bool literal;
		uint32_t index; /* what the caller gave */
	} best[SBX_SIDE_SEAL + 1];
};

void sbx_contest_init(struct sbx_contest *contest);
/* @pattern is a path, or with @wild a pattern; it covers @path or is ignored. */
void sbx_contest_enter(struct sbx_contest *contest, enum sbx_side side, uint32_t index,
		       const char *pattern, bool wild, const char *path);
void sbx_contest_decide(const struct sbx_contest *contest, struct sbx_fs_verdict *out);

/* Is @path @ancestor or beneath it?  Both plain; components of @ancestor, or -1. */
int sbx_path_beneath(const char *ancestor, const char *path);

#endif
