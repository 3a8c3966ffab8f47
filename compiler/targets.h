/*
 * compiler/targets.h - backends that a question is about: --target.
 */
#ifndef SBX_COMPILER_TARGETS_H
#define SBX_COMPILER_TARGETS_H

#include "base/arena.h"
#include "base/str.h"
#include "blob/enforce.h"

struct target {
	enum sbx_backend backend;
	struct sbx_machine machine; /* complete once settled */
	const char *text;           /* "landlock (ABI 6)" */
};
struct targets {
	VEC_OF(struct target)
};

/* The Landlock ABI of this kernel; 0: it has none. */
unsigned targets_abi_here(void);

/* Adds "BACKEND[@ABI][,BACKEND[@ABI] ...]", by default with this kernel's ABI; NULL, or
 * what is wrong with it. */
const char *targets_add(struct arena *arena, struct targets *targets, const char *text);
/* For questions about @blob; where none was named, every backend on this kernel. */
void targets_settle(struct arena *arena, struct targets *targets, const struct sbx_blob *blob);

/* By what @target holds @duty; NULL: by nothing. */
const struct sbx_enforcer *target_holds(const struct target *target, enum sbx_duty duty);

#endif
