/*
 * compiler/lower.h - from checked syntax trees to struct policy.
 *
 * lower_*.c turn the statements of one section into rules, file by file;
 * merge_*.c then apply the merging rules of the language to all of them.
 * Every rule keeps the place, the file and thereby the level it came from.
 */
#ifndef SBX_COMPILER_LOWER_H
#define SBX_COMPILER_LOWER_H

#include "compiler/load.h"
#include "compiler/map.h"
#include "compiler/words.h"

struct call_names;

struct lower {
	struct compilation *c;
	struct arena *arena;
	struct diags *diags;
	const struct program *program;
	struct policy *policy;
	const unsigned *levels;   /* by index of the file */
	const struct unit *unit;  /* the file being lowered */
	struct words words;       /* with its variables */
	struct call_names *calls; /* lower_calls.c */
	bool mode_missed;         /* that no `mode` is said was: one omission, one error */
};

/* NULL-free; errors are queued, and then the policy is not to be used. */
struct policy *lower_program(struct compilation *c, const struct program *program);

/* Flags and reasons of @stmt, for a rule that stands at @span. */
bool lower_head(struct lower *lower, const struct ast_stmt *stmt, struct span span,
		struct rule_head *head);
/* SBX_F_BEST_EFFORT where all that import the file being lowered say so, else 0. */
unsigned lower_softness(const struct lower *lower);
/* The level of the file a rule came from. */
unsigned lower_level(const struct lower *lower, const struct rule_head *head);
/* Do both come from one file?  One statement evaluated twice is not two. */
bool lower_same_file(const struct rule_head *a, const struct rule_head *b);
bool lower_same_place(const struct rule_head *a, const struct rule_head *b);
/* Adds @other's places to those of @head. */
void lower_add_places(struct lower *lower, struct rule_head *head, const struct rule_head *other);
/* "said twice in this file", with the other place. */
void lower_fail_twice(struct lower *lower, const struct rule_head *head,
		      const struct rule_head *first, const char *what);

/* "imported from here", for a message at a rule that a module may hold. */
void lower_note_chain(struct lower *lower, const struct rule_head *head);

/* One section's block, or one statement of the top level. */
void lower_fs(struct lower *lower, const struct ast_stmt *block);
void lower_workspace(struct lower *lower, const struct ast_stmt *stmt);
void lower_env(struct lower *lower, const struct ast_stmt *block);
void lower_syscalls(struct lower *lower, const struct ast_stmt *block);
void lower_net(struct lower *lower, const struct ast_stmt *block);
void lower_credential(struct lower *lower, const struct ast_stmt *stmt);
void lower_process(struct lower *lower, const struct ast_stmt *block);
void lower_limits(struct lower *lower, const struct ast_stmt *block);
void lower_require(struct lower *lower, const struct ast_stmt *block);
void lower_slurm(struct lower *lower, const struct ast_stmt *block);
void lower_assert(struct lower *lower, const struct ast_stmt *block);

/* All files are lowered: put them together. */
void merge_fs(struct lower *lower);
void merge_env(struct lower *lower);
void merge_syscalls(struct lower *lower);
void merge_net(struct lower *lower);
void merge_credentials(struct lower *lower);
void merge_process(struct lower *lower);
void merge_limits(struct lower *lower);
void merge_require(struct lower *lower);
void merge_slurm(struct lower *lower);
void merge_asserts(struct lower *lower);

/*
 * What two rules about the same thing are to each other.  The passes over
 * paths, names, hosts and calls share it.
 */
enum merge {
	MERGE_KEEP, /* both stand */
	MERGE_DROP, /* the second is the first once more: dropped */
};
/* For two statements that say the same: an error in one file, else one rule. */
enum merge lower_merge_same(struct lower *lower, struct rule_head *first,
			    const struct rule_head *second, const char *what);

#endif
