/*
 * compiler/diff_slurm.c - Slurm command lines, what is added to them, and how much.
 *
 * Each option is decided alone (blob/slurm_verdict.c), so the candidates are the
 * bare commands, and each with one option and each value that a rule of either
 * side names for it.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/diff.h"
#include "compiler/text.h"

static const struct sbx_slurm_rule *rule_at(const struct diff *diff, unsigned side, uint32_t index)
{
	return SBX_AT(diff->side[side].blob, SLURM, sbx_slurm_rule, index);
}

static void compare_line(struct diff *diff, const char *what, const char *line)
{
	struct sbx_slurm_verdict verdict[DIFF_SIDES];
	struct diff_says says[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		sbx_slurm_decide(diff->side[side].blob, &diff->side[side].vars, line,
				 &verdict[side]);
		says[side] =
		    diff_says(diff, side, verdict[side].allowed ? "allowed" : "refused",
			      SBX_SEC_SLURM, verdict[side].rule,
			      verdict[side].rule == SBX_NONE
				  ? arena_printf(diff->arena, "%s",
						 verdict[side].allowed ? "nothing to forbid it"
								       : verdict[side].reason)
				  : NULL);
	}
	if (verdict[0].allowed != verdict[1].allowed)
		diff_add(diff, "slurm", diff_order(verdict[0].allowed, verdict[1].allowed), what,
			 arena_printf(diff->arena, "submit \"%s\"", line), says);
}

/* "90m" and "2G" as sbatch(1) takes them: a time is minutes and seconds. */
static const char *as_given(struct arena *arena, const char *text)
{
	static const struct {
		char unit;
		unsigned seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	char *end;
	unsigned long long number = strtoull(text, &end, 10);

	for (size_t i = 0; end != text && *end && !end[1] && i < 4; i++)
		if (*end == units[i].unit)
			return arena_printf(arena, "%llu:%02llu", number * units[i].seconds / 60,
					    number * units[i].seconds % 60);
	return text;
}

/* A little more than @text, so that one value is past every bound. */
static const char *more_than(struct arena *arena, const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits && digits < 9
		   ? arena_printf(arena, "%llu%s", strtoull(text, NULL, 10) + 1, text + digits)
		   : text;
}

static void compare_option(struct diff *diff, const char *command, const char *option)
{
	const char *start = arena_printf(diff->arena, "%s %s", command, option);

	compare_line(diff, start, start);
	compare_line(diff, start, arena_printf(diff->arena, "%s=x", start));
	compare_line(diff, start, arena_printf(diff->arena, "%s=1", start));
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		for (uint32_t i = 0; i < SBX_COUNT(diff->side[side].blob, SLURM); i++) {
			const struct sbx_blob *blob = diff->side[side].blob;
			const struct sbx_slurm_rule *rule = rule_at(diff, side, i);

			if (strcmp(sbx_string(blob, rule->command), command) ||
			    strcmp(sbx_string(blob, rule->option), option) ||
			    rule->head.verb == SBX_SLURM_FORCE || rule->head.verb == SBX_SLURM_ADD)
				continue;
			if (rule->short_name != SBX_NONE)
				compare_line(diff, start,
					     arena_printf(diff->arena, "%s %s1", command,
							  sbx_string(blob, rule->short_name)));
			for (uint32_t v = 0; v < rule->value_count; v++) {
				const char *value = as_given(
				    diff->arena, diff_words(diff, side, rule->value_first + v, 1));

				if (strpbrk(value, " \t'\""))
					value = arena_printf(diff->arena, "'%s'", value);
				compare_line(diff, start,
					     arena_printf(diff->arena, "%s=%s", start, value));
				compare_line(diff, start,
					     arena_printf(diff->arena, "%s=%s", start,
							  more_than(diff->arena, value)));
			}
		}
}

/* ---- rules that are no verdict ------------------------------------------------------ */

/* What such a rule is about: the same thing on both sides. */
static const char *about(const struct diff *diff, unsigned side, const struct sbx_slurm_rule *rule)
{
	static const char *const verbs[] = { "option", "scope", "allow",  "deny", "seal",
					     "force",  "add",   "budget", "show", "jobs" };
	const struct sbx_blob *blob = diff->side[side].blob;
	struct text text = { .arena = diff->arena };

	if (rule->head.verb == SBX_SLURM_BUDGET) {
		text_add(&text, "budget %s%s%s", sbx_string(blob, rule->command),
			 rule->command == SBX_NONE ? "" : " ", sbx_string(blob, rule->option));
		if (rule->period_s) {
			text_add(&text, " for ");
			text_time(&text, rule->period_s);
		}
		text_byte(&text, ':');
		return text_end(&text);
	}
	return arena_printf(diff->arena, "%s%s%s%s%s", verbs[rule->head.verb],
			    rule->command == SBX_NONE ? "" : " ", sbx_string(blob, rule->command),
			    rule->option == SBX_NONE ? "" : " ", sbx_string(blob, rule->option));
}

static uint32_t rule_about(const struct diff *diff, unsigned side, const char *what)
{
	for (uint32_t i = 0; i < SBX_COUNT(diff->side[side].blob, SLURM); i++)
		if (!strcmp(about(diff, side, rule_at(diff, side, i)), what))
			return i;
	return SBX_NONE;
}

static const char *values_of(const struct diff *diff, unsigned side, uint32_t index)
{
	const struct sbx_slurm_rule *rule = rule_at(diff, side, index);

	return diff_words(diff, side, rule->value_first, rule->value_count);
}

/* More of a budget, a wider scope and one column more are more; nothing said is the most,
 * but for a scope: then it is the session. */
static uint64_t rank_of(const struct diff *diff, unsigned side, unsigned verb, uint32_t index)
{
	const char *values;

	if (index == SBX_NONE)
		return verb == SBX_SLURM_BUDGET ? UINT64_MAX : 0;
	values = values_of(diff, side, index);
	if (verb == SBX_SLURM_SCOPE)
		return !strcmp(values, "user") ? 2 : !strcmp(values, "project");
	return strtoull(values, NULL, 10);
}

static void compare_rule(struct diff *diff, unsigned verb, const char *what)
{
	bool ranked = verb == SBX_SLURM_SCOPE || verb == SBX_SLURM_BUDGET;
	struct diff_says says[DIFF_SIDES];
	struct diff_rank ranks[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		uint32_t index = rule_about(diff, side, what);
		const char *values = index == SBX_NONE ? "not said" : values_of(diff, side, index);

		ranks[side] = (struct diff_rank){ rank_of(diff, side, verb, index), values, index };
		says[side] = diff_says(diff, side, *values ? values : "set", SBX_SEC_SLURM, index,
				       index == SBX_NONE ? "no rule says it" : NULL);
	}
	if (ranked)
		diff_ranks(diff, "slurm", what, SBX_SEC_SLURM, "no rule says it", ranks);
	else if (strcmp(says[0].verdict, says[1].verdict))
		diff_add(diff, "slurm", DIFF_CHANGED, what,
			 arena_printf(diff->arena, "%s %s", what,
				      says[says[1].rule != SBX_NONE].verdict),
			 says);
}

void diff_slurm(struct diff *diff)
{
	struct map known = { 0 };

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		for (uint32_t i = 0; i < SBX_COUNT(diff->side[side].blob, SLURM); i++) {
			const struct sbx_blob *blob = diff->side[side].blob;
			const struct sbx_slurm_rule *rule = rule_at(diff, side, i);
			const char *command = sbx_string(blob, rule->command);
			const char *option = sbx_string(blob, rule->option);
			bool decides = rule->head.verb == SBX_SLURM_OPTION ||
				       (rule->head.verb >= SBX_SLURM_ALLOW &&
					rule->head.verb <= SBX_SLURM_SEAL);
			const char *key = decides
					      ? arena_printf(diff->arena, "%s %s", command, option)
					      : about(diff, side, rule);
			void **slot = map_put(diff->arena, &known, str_from(key));

			/* What a policy of jobs is called allows nothing: see diff_jobs.c. */
			if (*slot || rule->head.verb == SBX_SLURM_JOBS)
				continue;
			*slot = &known;
			if (!decides)
				compare_rule(diff, rule->head.verb, key);
			else if (*option)
				compare_option(diff, command, option);
			else
				compare_line(diff, command, command);
		}
}
