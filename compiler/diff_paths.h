/*
 * compiler/diff_paths.h - paths that tell two sets of rules apart.
 */
#ifndef SBX_COMPILER_DIFF_PATHS_H
#define SBX_COMPILER_DIFF_PATHS_H

#include "base/arena.h"
#include "blob/verdict.h"
#include "compiler/diff_effort.h"

/*
 * Calls @look with a path, and of each set the points that cover it, for each combination of points that can decide together,
 * as long as one of them is on one side only.  Points of the two sides are the
 * same when all that they say is.  It ends early where @effort does.
 */
void paths_tell_apart(struct arena *arena, const struct sbx_fs_set sets[2],
		      void (*look)(void *context, const char *path,
				   const struct sbx_fs_set covering[2]),
		      void *context, struct effort *effort);

#endif
