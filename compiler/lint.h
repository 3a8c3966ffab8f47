/*
 * compiler/lint.h - what the checks of sbxc lint share.
 *
 * lint.c runs them; lint_files.c, lint_sources.c, lint_calls.c, lint_reach.c, lint_rules.c,
 * lint_slurm.c, lint_submit.c, lint_jobs.c, lint_proof.c and lint_here.c hold them, by what they look at.
 * docs/lint.md has a section for each code.
 */
#ifndef SBX_COMPILER_LINT_H
#define SBX_COMPILER_LINT_H

#include "blob/verdict.h"
#include "compiler/compiler.h"

struct lint {
	struct compilation *c;
	struct arena *arena;
	const struct policy *policy;
	struct sbx_blob blob; /* what was just made: it is asked, not the model */
	struct sbx_vars vars;
	struct sbx_fs_set set; /* one point a rule */
};

/* The waiver of @code on @head, which is thereby used; NULL: there is none. */
struct waiver *lint_waiver(const struct rule_head *head, enum diag_code code);

/* A finding at the rule @head, unless it waives it.  What a policy lacks is found at
 * its own line, `policy->head`. */
void lint_find(struct lint *lint, const struct rule_head *head, enum diag_code code,
	       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* After lint_find(): the rule's word goes, and the statement with its last one. */
void lint_fix_remove(struct lint *lint, const struct rule_head *head);
/* After lint_find(): @text goes in after the last word of the rule's statement. */
void lint_fix_append(struct lint *lint, const struct rule_head *head, const char *text);
/* After lint_find(): @line is a statement of its own behind that of the rule. */
void lint_fix_follow(struct lint *lint, const struct rule_head *head, const char *line);

bool lint_may(struct lint *lint, const char *path, unsigned right, struct sbx_fs_verdict *verdict);
/* The model's rule that a verdict rests on. */
const struct fs_rule *lint_fs_rule(struct lint *lint, const struct sbx_fs_verdict *verdict);
/* The rule number @index of a section of the blob. */
const struct rule_head *lint_head(struct lint *lint, enum sbx_section_id section, uint32_t index);
/* "std/git.pol:12" */
const char *lint_place(struct lint *lint, const struct rule_head *head);
/* A template's text on the model's machine; NULL: it has none. */
const char *lint_text(struct lint *lint, struct sbx_tmpl tmpl);

/* The checks, one function for each file; they find whatever they find. */
void lint_files(struct lint *lint);
void lint_sources(struct lint *lint);
void lint_calls(struct lint *lint);
void lint_reach(struct lint *lint);
void lint_rules(struct lint *lint);
void lint_slurm(struct lint *lint);
void lint_proof(struct lint *lint);
void lint_submit(struct lint *lint);
void lint_jobs(struct lint *lint);
/* Of --here: a finding for each rule that keeps a file of this machine from being read or
 * written which has a second name.  False, after a message on standard error: it cannot be
 * asked here, or not of all.  More files than are looked at are only said. */
bool lint_here(struct lint *lint);

#endif
