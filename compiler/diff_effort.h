/*
 * compiler/diff_effort.h - how long a comparison goes on.
 *
 * What can tell two policies apart grows with what their rules can match together, so a
 * few hundred patterns may ask for more than any machine has.  The search is then given
 * up, and that is said; what it found by then holds.
 *
 * It is given up by what is counted, never by a clock: two policies compare alike on a
 * laptop, on a busy machine in CI, and under a sanitizer.
 */
#ifndef SBX_COMPILER_DIFF_EFFORT_H
#define SBX_COMPILER_DIFF_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define EFFORT_STEPS UINT64_C(150000000)	 /* for one part of a policy: some seconds */
#define EFFORT_BYTES ((size_t)512 << 20) /* the same */

struct effort {
	const struct arena *arena; /* that the search takes its memory from */
	uint64_t steps;
	size_t size;
	bool spent; /* and more was to be done */
};

static inline void effort_begin(struct effort *effort, const struct arena *arena)
{
	*effort = (struct effort){ arena, 0, arena->size, false };
}

/* Asked where another piece of work is to be done, which looks at so many rules or parts of
 * patterns. */
static inline bool effort_left(struct effort *effort, size_t steps)
{
	effort->steps += steps;
	if (!effort->spent)
		effort->spent = effort->steps > EFFORT_STEPS ||
				effort->arena->size - effort->size > EFFORT_BYTES;
	return !effort->spent;
}

#endif
