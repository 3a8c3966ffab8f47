/*
 * stub/direct.h - the backend "landlock": no namespace, no mount.
 */
#ifndef SBX_STUB_DIRECT_H
#define SBX_STUB_DIRECT_H

#include <stdbool.h>

#include "stub/mem.h"
#include "stub/plan.h"

struct launch;
struct node;
/* What only this backend needs of a launch. */
struct direct {
	VEC(struct plan_rule) rules; /* the host's files that Landlock would open */
	bool ruled;                  /* they are found */
	const char *tmp;             /* the session's own directory (TMPDIR), or NULL */
	int tmp_dir, tmp_record;     /* it, and what says so to later sessions */
	const char *tmp_name;        /* of the record */
};

/* direct_rules.c: fills launch->direct.rules, which no order of duties or backends
 * changes. */
void direct_find_rules(struct launch *launch);
/* What Landlock opens of the host's @path. */
unsigned direct_granted(const struct launch *launch, const char *path);
/* direct_holes.c: can @node's file be left out of what is granted around it? */
bool direct_is_hole(const struct launch *launch, const struct node *node);
/* Leaves out all such files.  Once this backend is chosen. */
void direct_make_holes(struct launch *launch);
/* Assertions about files that hold of the policy and not on this backend: what is
 * said of them, or NULL. */
const char *direct_broken_claims(const struct launch *launch);

/* direct_tmp.c: for `tmp /tmp`.  Chooses the directory's name; makes it, and removes
 * what dead sessions left; removes it with all that is in it. */
void direct_tmp_plan(struct launch *launch);
void direct_tmp_make(struct launch *launch);
void direct_tmp_remove(struct launch *launch);

#endif
