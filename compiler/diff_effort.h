/*
 * compiler/diff_effort.h - how long a comparison goes on.
 *
 * What can tell two policies apart grows with what their rules can match together, so a
 * few hundred patterns may ask for more than any machine has.  The search is then given
 * up, and that is said; what it found by then holds.
 */
#ifndef SBX_COMPILER_DIFF_EFFORT_H
#define SBX_COMPILER_DIFF_EFFORT_H

#include <stdbool.h>
#include <time.h>

#include "base/arena.h"

#define EFFORT_SECONDS 5                   /* of processor time, for one part of a policy */
#define EFFORT_BYTES   ((size_t)512 << 20) /* the same */

struct effort {
	const struct arena *arena; /* that the search takes its memory from */
	clock_t start;
	size_t size;
	bool spent; /* and more was to be done */
};

static inline void effort_begin(struct effort *effort, const struct arena *arena)
{
	*effort = (struct effort){ arena, clock(), arena->size, false };
}

/* Asked where another step is to be taken. */
static inline bool effort_left(struct effort *effort)
{
	if (!effort->spent)
		effort->spent = clock() - effort->start > EFFORT_SECONDS * CLOCKS_PER_SEC ||
				effort->arena->size - effort->size > EFFORT_BYTES;
	return !effort->spent;
}

#endif
