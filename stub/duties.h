/*
 * stub/duties.h - what this launch asks of a backend.
 *
 * From the plan and the blob: one entry a rule and kind of thing.  Which
 * backend holds it, by what, is blob/enforce.def's.
 */
#ifndef SBX_STUB_DUTIES_H
#define SBX_STUB_DUTIES_H

#include <stdbool.h>

#include "blob/blob.h"
#include "blob/enforce.h"

struct launch;
struct node;
struct duty {
	enum sbx_duty what;
	const struct sbx_head *head; /* the rule's; NULL: it goes without saying */
	const char *subject;         /* a path or a number, or NULL */
	uint32_t rule;               /* in SBX_SEC_FS, or SBX_NONE */
	bool shared;                 /* process { share ... }: it need not be held */
};

/* Fills launch->duties. */
void duties_find(struct launch *launch);
/* Is a rule that denies @node not best-effort? */
bool duty_insists(const struct launch *launch, const struct node *node);
/* This machine, as far as @kind needs it. */
void duties_machine(const struct launch *launch, struct sbx_machine *out);
/* May the launch go on though nothing holds @duty? */
static inline bool duty_is_optional(const struct duty *duty)
{
	return duty->shared || (duty->head && duty->head->flags & SBX_F_BEST_EFFORT);
}
/* How many duties @kind does not hold; *fatal: those that are not best-effort. */
unsigned duties_lacking(const struct launch *launch, enum sbx_backend kind,
			const struct sbx_machine *machine, unsigned *fatal);
/* Says what @kind does not hold and the policy can do without: one line, or under
 * -v one for each.  False: there is no such thing. */
bool duties_summary(const struct launch *launch, enum sbx_backend kind,
		    const struct sbx_machine *machine);
/* "a deny beneath a grant: ~/x (std/git.pol:12): Landlock takes nothing away ..." */
const char *duty_reason(const struct launch *launch, const struct duty *duty,
			enum sbx_backend kind);
/* The same, and ": use --backend bwrap", the remedy. */
const char *duty_complaint(const struct launch *launch, const struct duty *duty,
			   enum sbx_backend kind);
/* Does @kind hold @what at all on @machine? */
static inline bool duty_held(enum sbx_duty what, enum sbx_backend kind,
			     const struct sbx_machine *machine)
{
	return sbx_enforcer(what, kind, machine) != NULL;
}

#endif
