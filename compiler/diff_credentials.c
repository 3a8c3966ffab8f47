/*
 * compiler/diff_credentials.c - credentials, and what -D may change.
 */
#include <stdlib.h>
#include <string.h>

#include "blob/contest.h"
#include "compiler/diff.h"
#include "compiler/text.h"

static const struct sbx_credential *credential_at(const struct diff *diff, unsigned side,
						  uint32_t index)
{
	return SBX_AT(diff->side[side].blob, CREDENTIALS, sbx_credential, index);
}

static uint32_t credential_of(const struct diff *diff, unsigned side, const char *name)
{
	const struct sbx_blob *blob = diff->side[side].blob;

	for (uint32_t i = 0; i < SBX_COUNT(blob, CREDENTIALS); i++)
		if (!strcmp(sbx_string(blob, credential_at(diff, side, i)->name), name))
			return i;
	return SBX_NONE;
}

static bool sent_to(const struct diff *diff, unsigned side, uint32_t index, const char *host)
{
	const struct sbx_credential *credential;

	if (index == SBX_NONE)
		return false;
	credential = credential_at(diff, side, index);
	for (uint32_t i = 0; i < credential->host_count; i++)
		if (!strcmp(diff_words(diff, side, credential->host_first + i, 1), host))
			return true;
	return false;
}

/* A site says of a credential what it says of its host. */
static bool site_lets(const struct diff *diff, const char *host)
{
	const char *colon = strrchr(host, ':');
	struct sbx_net_verdict verdict;

	if (!colon)
		return false;
	sbx_net_decide(diff->side[DIFF_OLD].blob,
		       arena_copy(diff->arena, host, (size_t)(colon - host)),
		       (unsigned)strtoul(colon + 1, NULL, 10), &verdict);
	return verdict.allowed;
}

static void compare_host(struct diff *diff, const char *name, const char *host)
{
	struct diff_rank ranks[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		uint32_t index = credential_of(diff, side, name);
		bool sent = diff->within && side == DIFF_OLD ? site_lets(diff, host)
							     : sent_to(diff, side, index, host);

		ranks[side] =
		    (struct diff_rank){ sent, sent ? "allowed" : "refused",
					sent && !(diff->within && side == DIFF_OLD) ? index
										    : SBX_NONE };
	}
	diff_ranks(diff, "credentials", arena_printf(diff->arena, "send %s to %s", name, host),
		   SBX_SEC_CREDENTIALS, "no rule sends it there", ranks);
}

/* Where the value comes from and how it is sent. */
static const char *way_of(const struct diff *diff, unsigned side, uint32_t index)
{
	static const char *const sources[] = { "file", "env", "exec" };
	const struct sbx_blob *blob = diff->side[side].blob;
	const struct sbx_credential *credential = credential_at(diff, side, index);
	struct text text = { .arena = diff->arena };

	text_add(&text, "%s %s", sources[credential->source],
		 diff_words(diff, side, credential->source_first, credential->source_count));
	if (credential->json != SBX_NONE)
		text_add(&text, " json %s", sbx_string(blob, credential->json));
	if (credential->header != SBX_NONE)
		text_add(&text, ", header %s", sbx_string(blob, credential->header));
	if (credential->scheme != SBX_SCHEME_RAW)
		text_add(&text, " %s",
			 credential->scheme == SBX_SCHEME_BEARER ? "bearer" : "basic");
	if (credential->basic_user != SBX_NONE)
		text_add(&text, " %s", sbx_string(blob, credential->basic_user));
	if (credential->head.flags & SBX_F_OPTIONAL)
		text_add(&text, ", where it is there");
	return text_end(&text);
}

static struct diff_rank time_rank(const struct diff *diff, uint32_t seconds, uint32_t index)
{
	struct text text = { .arena = diff->arena };

	if (!seconds)
		return (struct diff_rank){ UINT64_MAX, "any", index };
	text_time(&text, seconds);
	return (struct diff_rank){ seconds, text_end(&text), index };
}

static void compare_ways(struct diff *diff, const char *name, const uint32_t index[DIFF_SIDES])
{
	struct diff_rank refresh[DIFF_SIDES], lifetime[DIFF_SIDES];
	const char *way[DIFF_SIDES];
	struct diff_says says[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct sbx_credential *credential = credential_at(diff, side, index[side]);

		way[side] = way_of(diff, side, index[side]);
		says[side] =
		    diff_says(diff, side, way[side], SBX_SEC_CREDENTIALS, index[side], NULL);
		refresh[side] = time_rank(diff, credential->refresh_s, index[side]);
		lifetime[side] = time_rank(diff, credential->lifetime_s, index[side]);
	}
	if (strcmp(way[0], way[1]))
		diff_add(diff, "credentials", DIFF_CHANGED, name,
			 arena_printf(diff->arena, "%s from %s", name, way[1]), says);
	diff_ranks(diff, "credentials", arena_printf(diff->arena, "%s refresh", name),
		   SBX_SEC_CREDENTIALS, NULL, refresh);
	diff_ranks(diff, "credentials", arena_printf(diff->arena, "%s lifetime", name),
		   SBX_SEC_CREDENTIALS, NULL, lifetime);
}

void diff_credentials(struct diff *diff)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct sbx_blob *blob = diff->side[side].blob;

		for (uint32_t i = 0; i < SBX_COUNT(blob, CREDENTIALS); i++) {
			const struct sbx_credential *credential = credential_at(diff, side, i);
			const char *name = sbx_string(blob, credential->name);
			const uint32_t index[] = { credential_of(diff, 0, name),
						   credential_of(diff, 1, name) };

			for (uint32_t n = 0; n < credential->host_count; n++)
				compare_host(diff, name,
					     diff_words(diff, side, credential->host_first + n, 1));
			if (!side && index[1] != SBX_NONE && !diff->within)
				compare_ways(diff, name, index);
		}
	}
}

/* ---- params ------------------------------------------------------------------------- */

static const struct sbx_param *param_of(const struct diff *diff, unsigned side, const char *name,
					uint32_t *index)
{
	const struct sbx_blob *blob = diff->side[side].blob;

	for (*index = 0; *index < SBX_COUNT(blob, PARAMS); ++*index) {
		const struct sbx_param *param = SBX_AT(blob, PARAMS, sbx_param, *index);

		if (!strcmp(sbx_string(blob, param->name), name))
			return param;
	}
	*index = SBX_NONE;
	return NULL;
}

/* May -D give the param this value?  The bounds alone; a type is no bound. */
static bool takes(const struct diff *diff, unsigned side, const struct sbx_param *param,
		  const char *value)
{
	const char *under;
	bool wild;

	if (!param)
		return false;
	under = diff_expand(diff, side, param->under, &wild);
	if (under && *value == '/' && sbx_path_beneath(under, value) < 0)
		return false;
	for (uint32_t i = 0; i < param->choice_count; i++)
		if (!strcmp(diff_words(diff, side, param->choice_first + i, 1), value))
			return true;
	return !param->choice_count;
}

static void compare_value(struct diff *diff, const char *name, const char *value)
{
	struct diff_rank ranks[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		uint32_t index;
		const struct sbx_param *param = param_of(diff, side, name, &index);
		bool can = takes(diff, side, param, value);

		ranks[side] = (struct diff_rank){ can, can ? "allowed" : "refused", index };
	}
	if (ranks[0].rank != ranks[1].rank)
		diff_ranks(diff, "params", arena_printf(diff->arena, "-D %s=%s", name, value),
			   SBX_SEC_PARAMS, "no such param", ranks);
}

static void compare_param(struct diff *diff, unsigned side, const struct sbx_param *param)
{
	const char *name = sbx_string(diff->side[side].blob, param->name), *path;
	const struct sbx_param *both[DIFF_SIDES];
	struct diff_rank most[DIFF_SIDES];
	bool wild;

	for (uint32_t i = 0; i < param->choice_count; i++)
		compare_value(diff, name, diff_words(diff, side, param->choice_first + i, 1));
	path = diff_expand(diff, side, param->under, &wild);
	if (path)
		compare_value(diff, name, path);
	if (param->type == SBX_PARAM_PATH)
		compare_value(diff, name, "/elsewhere");
	else
		compare_value(diff, name, param->type == SBX_PARAM_STRING ? "other" : "0");
	for (unsigned i = 0; i < DIFF_SIDES; i++) {
		both[i] = param_of(diff, i, name, &most[i].rule);
		if (!both[i])
			return;
		most[i].rank = both[i]->max;
		most[i].text =
		    both[i]->max == UINT64_MAX
			? "any"
			: arena_printf(diff->arena, "%llu", (unsigned long long)both[i]->max);
	}
	diff_ranks(diff, "params", arena_printf(diff->arena, "-D %s at most", name), SBX_SEC_PARAMS,
		   NULL, most);
}

void diff_params(struct diff *diff)
{
	for (unsigned side = 0; !diff->within && side < DIFF_SIDES; side++) {
		const struct sbx_blob *blob = diff->side[side].blob;

		for (uint32_t i = 0; i < SBX_COUNT(blob, PARAMS); i++)
			compare_param(diff, side, SBX_AT(blob, PARAMS, sbx_param, i));
	}
}
