/*
 * compiler/lint_proof.c - what a policy claims of itself: summary, assertions, guards.
 */
#include <string.h>

#include "compiler/lint.h"

static void find_summary(struct lint *lint)
{
	if (!lint->policy->summary.ptr || !lint->policy->summary.len)
		lint_find(lint, &lint->policy->head, DIAG_L0305,
			  "no summary: say in one line what the policy is for");
}

/* ---- assertions -------------------------------------------------------------------------- */

/* The lines of the checklist that a policy can prove, and what does. */
enum claim { WORKS, HOME, SIBLING, ITSELF, KEYS, CLAIM_COUNT };

static const char *const wanted[CLAIM_COUNT] = {
	[WORKS] = "that its work can be done: `can write $workspace/notes.txt`",
	[HOME] = "that home stays as it is: `cannot write ~/anything`",
	[SIBLING] = "of the project next door: `cannot write $sibling/x`",
	[ITSELF] = "that the policy stays as it is: `cannot write $policy $launcher`",
	[KEYS] = "with `never`: name a key that must stay shut",
};

static bool starts_with(const struct tmpl *path, unsigned var)
{
	return path->count && path->segs[0].kind == SBX_SEG_VAR && path->segs[0].var == var;
}

static void note_claim(const struct assertion *claim, bool made[CLAIM_COUNT])
{
	made[KEYS] |= claim->polarity == SBX_NEVER;
	if (claim->action != SBX_DO_WRITE)
		return;
	if (claim->polarity == SBX_CAN) {
		made[WORKS] = true;
		return;
	}
	made[HOME] |= starts_with(&claim->path, SBX_VAR_HOME);
	made[SIBLING] |= starts_with(&claim->path, SBX_VAR_SIBLING);
	made[ITSELF] |= starts_with(&claim->path, SBX_VAR_POLICY);
}

static void find_unclaimed(struct lint *lint)
{
	/* Where nothing can be written there is nothing that must work. */
	bool made[CLAIM_COUNT] = { [WORKS] = !(lint->policy->workspace_rights & SBX_WRITE) };

	for (size_t i = 0; i < lint->policy->asserts.count; i++)
		if (lint->policy->asserts.items[i].head.main_file)
			note_claim(&lint->policy->asserts.items[i], made);
	for (unsigned i = 0; i < CLAIM_COUNT; i++)
		if (!made[i])
			lint_find(lint, &lint->policy->head, DIAG_L0302, "nothing is asserted %s",
				  wanted[i]);
}

/* ---- guards ------------------------------------------------------------------------------ */

enum { OWN_CODE, ENDPOINT, HOST_EXEC, LABEL_COUNT };

static const char *const labels[LABEL_COUNT] = { "own-code", "endpoint", "host-exec" };

struct labelled {
	bool found[LABEL_COUNT];
	bool proven[LABEL_COUNT]; /* an assertion speaks of what is guarded */
	bool main_file;           /* the policy itself labels a line */
};

static void note_label(const struct rule_head *head, struct labelled *out)
{
	if (!head->guards.ptr)
		return;
	out->main_file |= head->main_file;
	for (unsigned i = 0; i < LABEL_COUNT; i++)
		out->found[i] |= str_is(head->guards, labels[i]);
}

/* Which labels' files some assertion says cannot be written.  What is guarded in another
 * section has no path to ask about. */
static void note_proofs(struct lint *lint, struct labelled *labelled)
{
	for (uint32_t i = 0; i < SBX_COUNT(&lint->blob, ASSERTS); i++) {
		const struct sbx_assert *claim = SBX_AT(&lint->blob, ASSERTS, sbx_assert, i);
		const char *path = claim->head.verb != SBX_CAN && claim->action == SBX_DO_WRITE
				       ? lint_text(lint, claim->object)
				       : NULL;

		for (size_t j = 0; path && j < lint->set.count; j++) {
			const struct sbx_fs_point *point = &lint->set.points[j];
			const struct rule_head *head = lint_head(lint, SBX_SEC_FS, point->rule);

			for (unsigned l = 0; head->guards.ptr && l < LABEL_COUNT; l++)
				labelled->proven[l] |= str_is(head->guards, labels[l]) &&
						       sbx_fs_covers(point, path) >= 0;
		}
	}
}

/* Is what it runs a program that is known to be a coding agent? */
static bool runs_agent(struct lint *lint)
{
	static const char *const agents[] = { "claude", "codex", "gemini",       "opencode",
					      "aider",  "goose", "cursor-agent", "amp",
					      "crush",  "qwen" };
	const struct sbx_meta *meta = sbx_meta(&lint->blob);
	const char *word, *name;

	if (!meta->command_count)
		return false;
	word = lint_text(lint, *SBX_AT(&lint->blob, TMPLS, sbx_tmpl, meta->command_first));
	if (!word)
		return false;
	name = strrchr(word, '/') ? strrchr(word, '/') + 1 : word;
	for (size_t i = 0; i < sizeof(agents) / sizeof(*agents); i++)
		if (strcmp(name, agents[i]) == 0)
			return true;
	return false;
}

static void find_unguarded(struct lint *lint)
{
	const struct policy *policy = lint->policy;
	struct labelled labelled = { 0 };
	bool in_files[LABEL_COUNT];

	for (size_t i = 0; i < policy->fs.count; i++)
		note_label(&policy->fs.items[i].head, &labelled);
	memcpy(in_files, labelled.found, sizeof(in_files));
	for (size_t i = 0; i < policy->env.count; i++)
		note_label(&policy->env.items[i].head, &labelled);
	for (size_t i = 0; i < policy->sys.count; i++)
		note_label(&policy->sys.items[i].head, &labelled);
	for (size_t i = 0; i < policy->net.count; i++)
		note_label(&policy->net.items[i].head, &labelled);
	for (unsigned i = 0; i < LABEL_COUNT; i++)
		labelled.proven[i] = labelled.found[i] && !in_files[i];
	if (!labelled.main_file && !runs_agent(lint))
		return;
	note_proofs(lint, &labelled);
	for (unsigned i = 0; i < LABEL_COUNT; i++) {
		if (!labelled.found[i])
			lint_find(lint, &policy->head, DIAG_L0304,
				  "no rule guards %s: the checklist wants one in an agent's policy",
				  labels[i]);
		else if (!labelled.proven[i])
			lint_find(lint, &policy->head, DIAG_L0313,
				  "what guards %s is not asserted: say of one of its files that it "
				  "`cannot write` it",
				  labels[i]);
	}
}

void lint_proof(struct lint *lint)
{
	find_summary(lint);
	find_unclaimed(lint);
	find_unguarded(lint);
}
