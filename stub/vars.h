/*
 * stub/vars.h - the values of the policy's variables.
 */
#ifndef SBX_STUB_VARS_H
#define SBX_STUB_VARS_H

#include "blob/verdict.h"

/* The system's roots of trust. */
#define CA_BUNDLE "/etc/ssl/certs/ca-certificates.crt"

struct launch;
/* Fills launch->vars, cwd and home_hops; refuses what cannot be. */
void vars_resolve(struct launch *launch);

/* Does anything in the policy, or --dry-run, ask for @var? */
bool vars_wanted(const struct launch *launch, enum sbx_var var);

/* Expands a template that must have a value.  NULL: a variable is unset (then
 * *unset says which). */
const char *vars_expand(const struct launch *launch, struct sbx_tmpl tmpl, bool *wild,
			uint32_t *unset);
/* The same, and refuses what is not an absolute path. */
const char *vars_expand_path(const struct launch *launch, struct sbx_tmpl tmpl, bool *wild,
			     uint32_t *unset);

/* Why @var has no value, to follow "has no value here"; "": it says so itself. */
const char *vars_why_unset(uint32_t var);

#endif
