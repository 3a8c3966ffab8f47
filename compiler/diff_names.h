/*
 * compiler/diff_names.h - names that tell patterns apart.
 */
#ifndef SBX_COMPILER_DIFF_NAMES_H
#define SBX_COMPILER_DIFF_NAMES_H

#include "base/arena.h"
#include "base/str.h"
#include "compiler/diff_effort.h"
#include "compiler/map.h"

struct names {
	VEC_OF(const char *)
};

/*
 * One name for each set of @patterns (of one component, as blob/glob.c reads
 * them) that some name matches together while it matches none of the others; one
 * that matches none, too.  None of them is in @taken.  Where there are too many
 * such sets: for each two patterns of which one is among the @first ones, as long as @effort
 * is left.
 */
void names_tell_apart(struct arena *arena, const char *const *patterns, size_t count, size_t first,
		      const struct map *taken, struct effort *effort, struct names *out);

#endif
