/*
 * prove/claims_env.c - variables: handed on, set, kept outside.
 *
 * All of them are set outside, to the same bait.
 */
#include <string.h>

#include "compiler/text.h"
#include "prove/prove.h"

/* A name that the pattern @name matches. */
static const char *witness(struct arena *arena, const char *name)
{
	struct text out = { .arena = arena };

	for (; *name; name++)
		if (*name == '*')
			text_add(&out, "SBXPROVE");
		else
			text_byte(&out, *name);
	return text_end(&out);
}

static struct claim *add(struct prove *prove, enum sbx_section_id section, uint32_t rule,
			 const char *name)
{
	struct claim *claim = claim_add(prove, section, rule);
	struct sbx_env_verdict verdict;
	bool wild;

	sbx_env_decide(&prove->blob, name, &verdict);
	claim->through = verdict.visible;
	claim->object = name;
	claim->tried = arena_printf(prove->arena, "see %s", name);
	claim->request = arena_printf(prove->arena, "env %s", claim_escaped(prove->arena, name));
	if (verdict.set && verdict.rule != SBX_NONE)
		claim->value = claim_expand(
		    prove, SBX_AT(&prove->blob, ENV, sbx_env_rule, verdict.rule)->value, &wild);
	else if (verdict.visible && strcmp(name, "PWD"))
		claim->value = BAIT_VALUE;
	/* A backend without a private /tmp points these to its own place. */
	if (prove->target.backend == SBX_LANDLOCK && claim->value && verdict.set)
		claim->value = NULL;
	return claim;
}

void claims_env(struct prove *prove)
{
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, ENV); i++) {
		const struct sbx_env_rule *rule = SBX_AT(&prove->blob, ENV, sbx_env_rule, i);
		bool takes = rule->head.verb >= SBX_ENV_DENY;
		struct claim *claim =
		    add(prove, SBX_SEC_ENV, i,
			witness(prove->arena, sbx_string(&prove->blob, rule->name)));

		if (claim->through == takes)
			claim->why =
			    takes ? "another rule lets it in" : "another rule keeps it out";
	}
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, ASSERTS); i++) {
		const struct sbx_assert *said = SBX_AT(&prove->blob, ASSERTS, sbx_assert, i);

		/* Of section ENV all the same: it has to be among the baits. */
		if (said->action == SBX_DO_SEE) {
			struct claim *claim = add(prove, SBX_SEC_ASSERTS, i,
						  sbx_string(&prove->blob, said->object.text));

			claim->section = SBX_SEC_ENV;
		}
	}
}
