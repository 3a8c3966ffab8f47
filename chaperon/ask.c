/*
 * chaperon/ask.c - see ask.h.
 */
#include "chaperon/ask.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct sbx_slurm_rule *rule_at(const struct ask *ask, uint32_t index)
{
	return SBX_AT(ask->blob, SLURM, sbx_slurm_rule, index);
}

/* ---- the sources ---------------------------------------------------------------------- */

static const char *in_environment(const struct ask *ask, const char *name)
{
	size_t length = strlen(name);

	for (const char *const *at = ask->environment; at && *at; at++)
		if (!strncmp(*at, name, length) && (*at)[length] == '=')
			return *at + length + 1;
	return NULL;
}

static bool has(const struct sbx_slurm_request *request, uint32_t option)
{
	for (unsigned i = 0; i < request->given_count; i++)
		if (request->given[i].option == option)
			return true;
	return false;
}

/* A flag is on for "" and "yes" and a number but 0, as Slurm reads it.
 * 1: on, 0: off, -1: neither. */
static int flag_value(const char *text)
{
	static const char *const on[] = { "", "1", "yes" }, *const off[] = { "0", "no" };

	for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++)
		if (!strcmp(text, on[i]))
			return 1;
	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
		if (!strcmp(text, off[i]))
			return 0;
	return -1;
}

/* The variables that the table names, for what the line does not say. */
static void read_variables(struct ask *ask)
{
	struct sbx_slurm_verdict verdict;
	char where[128];

	for (uint32_t i = 0; i < SBX_COUNT(ask->blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = rule_at(ask, i);
		const char *name = sbx_string(ask->blob, rule->env), *value;

		if (rule->head.verb != SBX_SLURM_OPTION || !*name ||
		    strcmp(sbx_string(ask->blob, rule->command), ask->request.command) != 0 ||
		    has(&ask->request, i))
			continue;
		value = in_environment(ask, name);
		if (!value)
			continue;
		snprintf(where, sizeof(where), " (variable %.100s)", name);
		if (rule->value_kind == SBX_TAKES_NOTHING) {
			int on = flag_value(value);

			if (on < 0)
				ask_refuse(ask, "%s%s refused: it is neither 1 nor 0",
					   ask->request.command, where);
			if (on <= 0)
				continue;
			value = NULL;
		}
		if (!sbx_slurm_give(ask->blob, ask->vars, i, value, &ask->request, &verdict))
			ask_refuse_for(ask, &verdict, where);
	}
}

/* ---- what the policy gives ----------------------------------------------------------------------- */

static struct sbx_slurm_given *find(struct ask *ask, uint32_t option)
{
	for (unsigned i = 0; i < ask->request.given_count; i++)
		if (ask->request.given[i].option == option)
			return &ask->request.given[i];
	return NULL;
}

static bool put(struct ask *ask, uint32_t option, const char *value)
{
	if (ask->request.given_count == SBX_SLURM_GIVEN_MAX)
		return ask_refuse(ask, "%s refused: too many options", ask->request.command);
	ask->request.given[ask->request.given_count++] = (struct sbx_slurm_given){ option, value };
	return true;
}

/* The declaration of what a rule speaks of. */
static uint32_t declaration(const struct ask *ask, const struct sbx_slurm_rule *rule)
{
	for (uint32_t i = 0; i < SBX_COUNT(ask->blob, SLURM); i++) {
		const struct sbx_slurm_rule *other = rule_at(ask, i);

		if (other->head.verb == SBX_SLURM_OPTION &&
		    !strcmp(sbx_string(ask->blob, other->option),
			    sbx_string(ask->blob, rule->option)) &&
		    !strcmp(sbx_string(ask->blob, other->command),
			    sbx_string(ask->blob, rule->command)))
			return i;
	}
	return SBX_NONE;
}

/* The value of a rule. */
static bool rule_value(struct ask *ask, const struct sbx_slurm_rule *rule, const char **value)
{
	char *text = ask->values + ask->values_used;
	size_t room = sizeof(ask->values) - ask->values_used;
	uint32_t unset;
	bool wild;
	int length;

	*value = NULL;
	if (!rule->value_count)
		return true;
	length = sbx_expand(ask->blob, *SBX_AT(ask->blob, TMPLS, sbx_tmpl, rule->value_first),
			    ask->vars, text, room, &wild, &unset);
	if (length < 0)
		return ask_refuse(ask, "%s refused: the policy's value of %s is not known",
				  ask->request.command, sbx_string(ask->blob, rule->option));
	ask->values_used += (size_t)length + 1;
	*value = text;
	return true;
}

/* What the policy forces: said, where it is not what was asked for. */
static void replace(struct ask *ask, struct sbx_slurm_given *given, uint32_t rule,
		    const char *value)
{
	const char *old = given->value ? given->value : "";
	char text[512];

	given->value = value;
	if (!strcmp(old, value ? value : ""))
		return;
	ask_rule_text(ask, rule, text, sizeof(text));
	ask_notice(ask, "%s%s%.160s is replaced, by %s", ask_name(ask, given), *old ? "=" : "", old,
		   text);
}

static bool apply(struct ask *ask, enum sbx_slurm_verb verb)
{
	for (uint32_t i = 0; i < SBX_COUNT(ask->blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = rule_at(ask, i);
		struct sbx_slurm_given *given;
		uint32_t option;
		const char *value;

		if (rule->head.verb != verb ||
		    strcmp(sbx_string(ask->blob, rule->command), ask->request.command) != 0)
			continue;
		option = declaration(ask, rule);
		given = find(ask, option);
		if (option == SBX_NONE || (verb == SBX_SLURM_ADD && (given || ask->step)))
			continue;
		if (!rule_value(ask, rule, &value))
			return false;
		if (given)
			replace(ask, given, i, value);
		else if (!put(ask, option, value))
			return false;
	}
	return true;
}

/* Of the script what the policy forces is replaced as well. */
static void say_replaced(struct ask *ask, struct sbx_slurm_given *given)
{
	for (uint32_t i = 0; i < SBX_COUNT(ask->blob, SLURM); i++)
		if (rule_at(ask, i)->head.verb == SBX_SLURM_FORCE &&
		    declaration(ask, rule_at(ask, i)) == given->option)
			replace(ask, given, i, find(ask, given->option)->value);
}

/* ---- all together ---------------------------------------------------------------------- */

bool ask_line(struct ask *ask, const struct sbx_blob *blob, const struct sbx_vars *vars,
	      const char **arguments, unsigned count, const char *const *environment)
{
	struct sbx_slurm_refusals all = { 0 };
	struct sbx_slurm_verdict verdict;
	bool good;

	memset(ask, 0, offsetof(struct ask, problems));
	ask->blob = blob;
	ask->vars = vars;
	ask->environment = environment;
	good = sbx_slurm_read(blob, vars, arguments, count, &ask->request, &verdict, &all);
	for (unsigned i = 0; i < all.count; i++)
		ask_refuse_for(ask, &all.items[i < SBX_SLURM_REFUSALS_MAX ? i : 0], "");
	if (!all.whole)
		return false;
	if (good)
		ask->rule = verdict.rule;
	read_variables(ask);
	/* Before the script is looked for: --chdir and --wrap may be among them. */
	return ask->problem_count || apply(ask, SBX_SLURM_FORCE);
}

bool ask_script(struct ask *ask, const char *script, size_t size)
{
	struct sbx_slurm_verdict verdict;
	char where[64] = " (script)";
	bool whole = directives_read(ask->blob, ask->vars, script, size, &ask->script, &verdict);

	for (unsigned i = 0; i < ask->script.refused.count; i++) {
		unsigned kept = i < SBX_SLURM_REFUSALS_MAX ? i : 0;

		snprintf(where, sizeof(where), " (script, line %u)", ask->script.refused_line[kept]);
		ask_refuse_for(ask, &ask->script.refused.items[kept], where);
	}
	if (whole) {
		if (ask->script.foreign)
			ask_notice(ask, "line %u of the script: only #SBATCH lines are read",
				   ask->script.foreign);
		return true;
	}
	if (ask->script.line)
		snprintf(where, sizeof(where), " (script, line %u)", ask->script.line);
	return ask_refuse_for(ask, &verdict, where);
}

bool ask_settle(struct ask *ask)
{
	struct sbx_slurm_request *script = &ask->script.request;

	if (ask->problem_count)
		return false;
	for (unsigned i = 0; i < script->given_count; i++) {
		if (has(&ask->request, script->given[i].option))
			say_replaced(ask, &script->given[i]);
		else if (!put(ask, script->given[i].option, script->given[i].value))
			return false;
	}
	return apply(ask, SBX_SLURM_ADD);
}

void ask_free(struct ask *ask)
{
	free(ask->script.text);
	ask->script.text = NULL;
}

/* ---- looking ------------------------------------------------------------------------------ */

enum sbx_slurm_takes ask_takes(const struct ask *ask, const struct sbx_slurm_given *given)
{
	return rule_at(ask, given->option)->value_kind;
}

const char *ask_name(const struct ask *ask, const struct sbx_slurm_given *given)
{
	return sbx_string(ask->blob, rule_at(ask, given->option)->option);
}

const struct sbx_slurm_given *ask_option(const struct ask *ask, const char *name)
{
	for (unsigned i = 0; i < ask->request.given_count; i++)
		if (!strcmp(ask_name(ask, &ask->request.given[i]), name))
			return &ask->request.given[i];
	return NULL;
}

const char *ask_value(const struct ask *ask, enum sbx_slurm_takes takes)
{
	for (unsigned i = 0; i < ask->request.given_count; i++)
		if (ask_takes(ask, &ask->request.given[i]) == takes)
			return ask->request.given[i].value ? ask->request.given[i].value : "";
	return NULL;
}
