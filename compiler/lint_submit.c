/*
 * compiler/lint_submit.c - lines about Slurm's commands that do not do what they seem to.
 *
 * `max` and `in` bind an option that is given.  One that is not, gets the cluster's own
 * value: another partition, no time limit, as many nodes as the tasks fill.  And a line
 * about a command that nothing allows, or about columns that `show` rules out, says nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "chaperon/judge.h"
#include "compiler/lint.h"
#include "compiler/render.h"
#include "compiler/text.h"

static bool is_about(const struct slurm_rule *rule, const struct slurm_rule *other)
{
	return str_equal(rule->command, other->command) && str_equal(rule->option, other->option);
}

static const struct slurm_rule *rules(const struct lint *lint, size_t *count)
{
	*count = lint->policy->slurm.count;
	return lint->policy->slurm.items;
}

static const struct command *command_of(struct lint *lint, const struct slurm_rule *rule)
{
	return judge_find(str_cstr(lint->arena, rule->command));
}

static bool is_allowed(const struct lint *lint, struct str command)
{
	size_t count;
	const struct slurm_rule *all = rules(lint, &count);

	for (size_t i = 0; i < count; i++)
		if (all[i].verb == SBX_SLURM_ALLOW && !all[i].option.ptr &&
		    str_equal(all[i].command, command))
			return true;
	return false;
}

static unsigned kind_of(const struct lint *lint, const struct slurm_rule *rule)
{
	size_t count;
	const struct slurm_rule *all = rules(lint, &count);

	for (size_t i = 0; i < count; i++)
		if (all[i].verb == SBX_SLURM_OPTION && is_about(&all[i], rule))
			return all[i].value_kind;
	return SBX_TAKES_NOTHING;
}

/* ---- limits ------------------------------------------------------------------------------ */

/* Left unsaid, does the cluster choose it?  Of tasks, gpus and the like it is one, or none. */
static bool has_default(unsigned kind)
{
	return kind == SBX_TAKES_TIME || kind == SBX_TAKES_MEMORY || kind == SBX_TAKES_NODES ||
	       kind == SBX_TAKES_VALUE || kind == SBX_TAKES_HOSTS;
}

/* Time and memory have several options, of which one is enough: with two some clients
 * refuse the line. */
static bool is_bound(const struct lint *lint, const struct slurm_rule *rule, unsigned kind)
{
	bool any = kind == SBX_TAKES_TIME || kind == SBX_TAKES_MEMORY;
	size_t count;
	const struct slurm_rule *all = rules(lint, &count);

	for (size_t i = 0; i < count; i++) {
		const struct slurm_rule *other = &all[i];

		if (!str_equal(other->command, rule->command))
			continue;
		if (other->verb == SBX_SLURM_ALLOW && is_about(other, rule) && !other->values.count)
			return true; /* it is no limit, since any value is allowed */
		if ((other->verb == SBX_SLURM_FORCE || other->verb == SBX_SLURM_ADD) &&
		    (is_about(other, rule) || (any && kind_of(lint, other) == kind)))
			return true;
	}
	return false;
}

static bool is_unbound(struct lint *lint, const struct slurm_rule *rule)
{
	const struct command *command;
	unsigned kind;

	if (rule->verb != SBX_SLURM_ALLOW || !rule->option.ptr || !rule->values.count)
		return false;
	command = command_of(lint, rule);
	kind = kind_of(lint, rule);
	return command && command->class <= COMMAND_STEP && is_allowed(lint, rule->command) &&
	       has_default(kind) && !is_bound(lint, rule, kind);
}

/* The first value, as it is written. */
static const char *first_value(struct lint *lint, const struct slurm_rule *rule)
{
	uint32_t index = 0;

	while (lint_head(lint, SBX_SEC_SLURM, index) != &rule->head)
		index++;
	return render_tmpl(lint->arena, &lint->blob,
			   *SBX_AT(&lint->blob, TMPLS, sbx_tmpl,
				   SBX_AT(&lint->blob, SLURM, sbx_slurm_rule, index)->value_first));
}

/* A value within the limit, as Slurm reads it. */
static const char *value_within(struct lint *lint, const struct slurm_rule *rule, unsigned kind)
{
	static const struct {
		char unit;
		unsigned seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	const char *text = first_value(lint, rule);
	char *end;
	unsigned long long number = strtoull(text, &end, 10);

	if (kind == SBX_TAKES_NODES)
		return "1";
	for (size_t i = 0; kind == SBX_TAKES_TIME && end != text && *end && !end[1] && i < 4; i++)
		if (*end == units[i].unit)
			return arena_printf(
			    lint->arena,
			    number * units[i].seconds % 60 ? "\"%llu:%02llu\"" : "%llu",
			    number * units[i].seconds / 60, number * units[i].seconds % 60);
	return text;
}

/* The commands of one statement have one line. */
static void find_unbound(struct lint *lint, size_t index)
{
	size_t count;
	const struct slurm_rule *all = rules(lint, &count), *rule = &all[index];
	struct text commands = { .arena = lint->arena };
	const char *line;

	for (size_t i = 0; i < count; i++) {
		if (!str_equal(all[i].option, rule->option) ||
		    all[i].head.place.span.source != rule->head.place.span.source ||
		    all[i].head.place.span.start != rule->head.place.span.start ||
		    !is_unbound(lint, &all[i]))
			continue;
		if (i < index)
			return; /* said there */
		text_add(&commands, "%.*s ", STR_ARG(all[i].command));
	}
	line = arena_printf(lint->arena, "add %s%.*s = %s", text_end(&commands),
			    STR_ARG(rule->option), value_within(lint, rule, kind_of(lint, rule)));
	lint_find(lint, &rule->head, DIAG_L0408,
		  "a job that does not say %.*s gets what the cluster chooses, which this does not "
		  "bind: `%s`",
		  STR_ARG(rule->option), line);
	lint_fix_follow(lint, &rule->head, line);
}

/* ---- lines that say nothing ---------------------------------------------------------------- */

static bool has_show(const struct lint *lint, struct str command)
{
	size_t count;
	const struct slurm_rule *all = rules(lint, &count);

	for (size_t i = 0; i < count; i++)
		if (all[i].verb == SBX_SLURM_SHOW && str_equal(all[i].command, command))
			return true;
	return false;
}

/* Of a module's lines some are for policies that allow more than this one. */
static void find_dead(struct lint *lint, const struct slurm_rule *rule)
{
	bool gives = rule->verb == SBX_SLURM_FORCE || rule->verb == SBX_SLURM_ADD ||
		     rule->verb == SBX_SLURM_SHOW ||
		     (rule->verb == SBX_SLURM_ALLOW && rule->option.ptr);
	const struct command *command;

	if (!gives || !rule->head.main_file)
		return;
	if (!is_allowed(lint, rule->command)) {
		lint_find(
		    lint, &rule->head, DIAG_L0409,
		    "says nothing, since `%.*s` is not allowed: `allow %.*s`, or leave it out",
		    STR_ARG(rule->command), STR_ARG(rule->command));
		return;
	}
	command = command_of(lint, rule);
	if (rule->verb == SBX_SLURM_ALLOW && command && command->columns &&
	    kind_of(lint, rule) == SBX_TAKES_COLUMNS && has_show(lint, rule->command) &&
	    !str_is(rule->option, command->columns))
		lint_find(lint, &rule->head, DIAG_L0409,
			  "says nothing beside `show %.*s`, whose columns %s alone can name: allow "
			  "that, or leave out `show`",
			  STR_ARG(rule->command), command->columns);
}

void lint_submit(struct lint *lint)
{
	size_t count;
	const struct slurm_rule *all = rules(lint, &count);

	for (size_t i = 0; i < count; i++) {
		if (is_unbound(lint, &all[i]))
			find_unbound(lint, i);
		find_dead(lint, &all[i]);
	}
}
