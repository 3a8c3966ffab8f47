/*
 * tests/mutants/calls.h - do two blobs' filters give the same answer to every call?
 */
#ifndef SBX_TESTS_MUTANTS_CALLS_H
#define SBX_TESTS_MUTANTS_CALLS_H

#include "base/arena.h"
#include "blob/blob.h"

/* By running them.  With @both the second program stands beside the first, as on a backend
 * without namespaces, and what one refuses the other need not. */
bool same_calls(struct arena *arena, const struct sbx_blob blobs[2], bool both);

#endif
