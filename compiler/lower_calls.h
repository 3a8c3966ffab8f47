/*
 * compiler/lower_calls.h - what names in `syscalls` mean: calls, groups,
 * signatures, constants, errnos.  All files contribute; all files see them.
 */
#ifndef SBX_COMPILER_LOWER_CALLS_H
#define SBX_COMPILER_LOWER_CALLS_H

#include "compiler/lower.h"

#define CALL_ARGS 6

struct call { /* one system call, interned */
	struct str name;
	uint16_t nr[SBX_ARCH_COUNT];
	unsigned stamp; /* lower_syscalls.c: seen in this statement */
};
struct call_list {
	VEC_OF(struct call *)
};
struct signature {
	struct str name;
	struct span span;
	struct {
		struct str name;
		unsigned width; /* 0: a pointer, not to be compared */
		bool is_signed;
	} args[CALL_ARGS];
	size_t count;
};

struct call_names *calls_new(struct arena *arena);
/* Takes in `const`, `signature`, `number` and `group` of one file. */
void calls_collect(struct lower *lower, const struct ast_stmt *stmts);
/* Once all files are in: flattens the groups. */
void calls_finish(struct lower *lower);

/* The call a word names; a message and NULL where no machine of ours has it. */
struct call *calls_find(struct lower *lower, const struct ast_word *word, struct str name);
/* The calls of "@name"; a message and NULL when there is no such group. */
const struct call_list *calls_group(struct lower *lower, const struct ast_word *word,
				    struct str name);
/* NULL when there is none: no message. */
const struct signature *calls_signature(struct lower *lower, struct str name);
/* A number, or a constant of this file or any other. */
bool calls_value(struct lower *lower, const struct ast_word *word, int64_t *out);
/* EPERM -> 1; a message and false when it is unknown. */
bool calls_errno(struct lower *lower, const struct ast_word *word, unsigned *out);

/* errno_names.c: 0 when there is none; the nearest name, or NULL. */
unsigned errno_by_name(struct str name);
const char *errno_suggest(struct str name);

/* merge_shared.c: `without ...` statements that have nothing to do in @policy: first
 * by its network, then, once all is merged, by what is refused at any rate. */
void shared_drop_void(struct policy *policy);
void shared_drop_refused(struct policy *policy);

#endif
