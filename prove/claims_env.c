/*
 * prove/claims_env.c - variables: handed on, set, kept outside.
 *
 * All of them are set outside, to the same bait.
 */
#include <string.h>

#include "blob/contest.h"
#include "compiler/text.h"
#include "prove/prove.h"

static bool allows_slurm(const struct sbx_blob *blob)
{
	for (uint32_t i = 0; i < SBX_COUNT(blob, SLURM); i++)
		if (SBX_AT(blob, SLURM, sbx_slurm_rule, i)->head.verb == SBX_SLURM_ALLOW)
			return true;
	return false;
}

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
		claim->value = strcmp(name, "PATH") ? BAIT_VALUE : BAIT_PATH;
	claim->given = verdict.set || verdict.credential != SBX_NONE;
	/* These are other ones in each session: roots of trust, placeholders of keys. */
	if (verdict.credential != SBX_NONE ||
	    (sbx_meta(&prove->blob)->net_mode == SBX_NET_PROXY && claim->value &&
	     prove->view.vars.value[SBX_VAR_CA_BUNDLE] &&
	     !strcmp(claim->value, prove->view.vars.value[SBX_VAR_CA_BUNDLE])))
		claim->value = NULL;
	/* The directory of Slurm's clients comes before it. */
	if (!strcmp(name, "PATH") && allows_slurm(&prove->blob))
		claim->value = NULL;
	/* A backend without a private /tmp points these to its own place. */
	if (prove->target.backend == SBX_LANDLOCK && claim->value && verdict.set &&
	    (!strncmp(name, "TMP", 3) || !strcmp(name, "TEMP") ||
	     sbx_path_beneath("/tmp", claim->value) >= 0 ||
	     sbx_path_beneath("/var/tmp", claim->value) >= 0))
		claim->value = NULL;
	return claim;
}

/* What the pattern @takes keeps out of what @gives lets in: "LC_*" and "*_KEY" both match
 * "LC_SBXPROVE_KEY", where alone @takes shows.  NULL: no such name is easily made. */
static const char *witness_of_both(struct arena *arena, const char *gives, const char *takes)
{
	const char *star = strchr(gives, '*');

	if (!star || star[1] || *takes != '*')
		return NULL;
	return arena_printf(arena, "%.*s%s", (int)(star - gives), gives, witness(arena, takes));
}

static void add_meetings(struct prove *prove, uint32_t index, const char *takes)
{
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, ENV); i++) {
		const struct sbx_env_rule *gives = SBX_AT(&prove->blob, ENV, sbx_env_rule, i);
		const char *name = witness_of_both(prove->arena,
						   sbx_string(&prove->blob, gives->name), takes);
		struct sbx_env_verdict verdict;

		if (gives->head.verb != SBX_ENV_PASS || !name)
			continue;
		sbx_env_decide(&prove->blob, name, &verdict);
		if (verdict.rule == index)
			add(prove, SBX_SEC_ENV, index, name);
	}
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
		if (takes)
			add_meetings(prove, i, sbx_string(&prove->blob, rule->name));
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
