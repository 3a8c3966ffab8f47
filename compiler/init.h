/*
 * compiler/init.h - a first policy for a project, from what is there.
 *
 * init_table.c reads stdlib/init.table and says which of its entries are
 * there; init_policy.c writes the policy; init_check.c asks the launcher what
 * each backend makes of it.  Strings are raw, in the arena.
 */
#ifndef SBX_COMPILER_INIT_H
#define SBX_COMPILER_INIT_H

#include "compiler/compiler.h"
#include "compiler/text.h"

struct init_line {
	struct str section, text;
};
struct init_names {
	VEC_OF(const char *)
};
struct init_entry {
	const char *kind, *name;
	bool there;            /* one of its `when` lines holds */
	bool whole;            /* of an agent: no `base` beside it */
	struct init_names has; /* of an agent: languages that its policy has already */
	struct {
		VEC_OF(struct init_line)
	} lines;
};
struct init {
	struct arena *arena;
	const char *project; /* its real path */
	const char *name;    /* of the policy */
	struct {
		VEC_OF(struct init_entry)
	} entries;
	const struct init_entry *agent;
	struct init_names findings; /* of the machine: lines of the comment at the head */
	struct init_names keys;     /* what a person has to do first: no key is there */
	bool any_key;               /* one of these is enough */
};

/* False after a message: no table, or one that is broken. */
bool init_read_table(struct init *init);
/* Chooses the agent: @wanted, or the first that is there; false after a message. */
bool init_choose_agent(struct init *init, const char *wanted);
bool init_is(const struct init_entry *entry, const char *kind);

/* The policy as it is written. */
struct text init_policy(struct init *init);

/* init_policy with as many empty findings as init_check will find: the lines that a backend
 * names in this text are those of the file. */
struct str init_draft(struct init *init);
/*
 * Adds to @init what kernel and backends make of this policy, by the name @path; which of
 * the names that it seals are there, and which keys are not.  False: it does not compile,
 * which is a fault of the table, and is said.
 */
bool init_check(struct init *init, struct str policy, const char *path);
/* As `sbxc fmt` would: the first edit then changes what was edited alone. */
struct str init_lay_out(struct init *init, struct text policy);

#endif
