/*
 * compiler/duties.h - what a policy asks of a backend, on paper.
 *
 * The launcher finds the same from the machine (stub/duties.c); here it comes
 * from the blob and the points of its file rules, so that a policy can be held
 * against a backend before it is run.  Where a pattern may match something,
 * it does.
 */
#ifndef SBX_COMPILER_DUTIES_H
#define SBX_COMPILER_DUTIES_H

#include "base/arena.h"
#include "base/str.h"
#include "blob/enforce.h"
#include "blob/verdict.h"

struct duty {
	enum sbx_duty what;
	enum sbx_section_id section; /* of the rule it comes from */
	uint32_t rule;               /* SBX_NONE: it goes without saying */
	bool optional;               /* best-effort, or shared: the launch goes on without */
};
struct duties {
	VEC_OF(struct duty)
};

/* @set: one point a rule. */
void duties_collect(struct arena *arena, const struct sbx_blob *blob, const struct sbx_fs_set *set,
		    struct duties *out);

/* The tmp or copy that what @verdict is about lies in, or NULL. */
const struct sbx_fs_point *point_made(const struct sbx_fs_set *set,
				      const struct sbx_fs_verdict *verdict);
/*
 * @set as landlock has it, where nothing is made and best-effort lets that pass: no such tmp
 * is there, a copy is read in place, and what a grant above covers is the host's own.  Points
 * keep their indices.  False: there is none.
 */
bool fs_set_unmade(struct arena *arena, const struct sbx_blob *blob, const struct sbx_fs_set *set,
		   struct sbx_fs_set *out);
/* Does landlock leave out what @point denies, of what is granted around it?  On paper a
 * program of the system's, which is a file in directories of root's; stub/direct_holes.c
 * looks. */
bool duty_left_out(const struct sbx_blob *blob, const struct sbx_fs_set *set,
		   const struct sbx_fs_point *point);
/* Which duty the answer @verdict about @right of @path is. */
enum sbx_duty duty_of_path(struct arena *arena, const struct sbx_fs_set *set, const char *path,
			   unsigned right, const struct sbx_fs_verdict *verdict);

#endif
