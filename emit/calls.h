/*
 * emit/calls.h - what is to happen for each system call of one architecture.
 */
#ifndef SBX_EMIT_CALLS_H
#define SBX_EMIT_CALLS_H

#include "base/arena.h"
#include "ir/policy.h"

/* The statements in the order they are written: the default is number 0 and
 * not among them, order[i] is number i + 1. */
const size_t *calls_order(struct arena *arena, const struct policy *policy);

/* Statements to try in turn; the last has no condition. */
struct call {
	uint32_t nr;
	struct str name;
	const struct sys_stmt *const *tries;
	size_t count;
};
/* Sorted by number.  @default_stmt ends the tries where nothing else does;
 * @flag: SBX_F_SHARED, for the statements that have it, or 0 for the others. */
const struct call *calls_plan(struct arena *arena, const struct policy *policy,
			      const struct sys_stmt *default_stmt, unsigned flag,
			      enum sbx_arch arch, size_t *count);

/* The seccomp return value that a statement stands for. */
uint32_t calls_answer(const struct sys_stmt *stmt);

#endif
