/*
 * blob/env_verdict.c - who decides for an environment variable.
 *
 * A seal refuses.  Else an exact name beats a pattern; at equal rank deny
 * beats set and set beats pass.  The placeholder of a credential counts as an
 * exact `set`; a variable that is the source of one is never passed.
 */
#include "blob/match.h"

#include <string.h>

enum { RANK_NONE, RANK_PASS, RANK_SET, RANK_DENY, RANK_EXACT = 4, RANK_SEAL = 8 };

static int rank_of(const struct sbx_env_rule *rule, const char *pattern, const char *name)
{
	int exact = strchr(pattern, '*') ? 0 : RANK_EXACT;

	if (exact ? strcmp(pattern, name) : !sbx_star_match(pattern, name))
		return RANK_NONE;
	switch (rule->head.verb) {
	case SBX_ENV_PASS:
		return RANK_PASS + exact;
	case SBX_ENV_SET:
		return RANK_SET + exact;
	case SBX_ENV_DENY:
		return RANK_DENY + exact;
	}
	return RANK_SEAL;
}

static bool is_source(const struct sbx_blob *blob, const char *name)
{
	for (uint32_t i = 0; i < SBX_COUNT(blob, CREDENTIALS); i++) {
		const struct sbx_credential *credential =
		    SBX_AT(blob, CREDENTIALS, sbx_credential, i);

		if (credential->source == SBX_SOURCE_ENV &&
		    !strcmp(
			sbx_string(blob,
				   SBX_AT(blob, TMPLS, sbx_tmpl, credential->source_first)->text),
			name))
			return true;
	}
	return false;
}

void sbx_env_decide(const struct sbx_blob *blob, const char *name, struct sbx_env_verdict *out)
{
	int best = RANK_NONE;

	out->rule = out->credential = SBX_NONE;
	out->visible = out->set = false;
	if (!*name || strchr(name, '='))
		return;
	for (uint32_t i = 0; i < SBX_COUNT(blob, ENV); i++) {
		const struct sbx_env_rule *rule = SBX_AT(blob, ENV, sbx_env_rule, i);
		int rank = rank_of(rule, sbx_string(blob, rule->name), name);

		if (rank > best) {
			best = rank;
			out->rule = i;
		}
	}
	for (uint32_t i = 0; i < SBX_COUNT(blob, CREDENTIALS); i++) {
		const struct sbx_credential *credential =
		    SBX_AT(blob, CREDENTIALS, sbx_credential, i);

		if (best < RANK_EXACT + RANK_SET &&
		    !strcmp(sbx_string(blob, credential->name), name)) {
			best = RANK_EXACT + RANK_SET;
			out->rule = SBX_NONE;
			out->credential = i;
		}
	}
	out->set = best != RANK_SEAL && best % RANK_EXACT == RANK_SET;
	out->visible = out->set || (best != RANK_SEAL && best % RANK_EXACT == RANK_PASS);
	if (out->visible && !out->set && is_source(blob, name)) {
		out->visible = false;
		out->rule = SBX_NONE;
	}
}
