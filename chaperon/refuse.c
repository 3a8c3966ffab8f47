/*
 * chaperon/refuse.c - refusals: the rule that refuses, or the line that would allow.
 *
 * A refusal that names neither leaves whoever reads it to search the policy.  The line
 * is the narrowest one: with the value that was given, where a rule can name values.
 */
#include "chaperon/ask.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct sbx_slurm_rule *rule_at(const struct ask *ask, uint32_t index)
{
	return SBX_AT(ask->blob, SLURM, sbx_slurm_rule, index);
}

/* Where the next one is written; past the last one nothing is kept, but it is counted. */
static struct ask_problem *next_problem(struct ask *ask)
{
	static struct ask_problem no_room;
	struct ask_problem *problem =
	    ask->problem_count < ASK_PROBLEMS ? &ask->problems[ask->problem_count] : &no_room;

	ask->problem_count++;
	*problem = (struct ask_problem){ .rule = SBX_NONE };
	return problem;
}

__attribute__((format(printf, 3, 0))) static void refuse(struct ask *ask, uint32_t rule,
							 const char *format, va_list arguments)
{
	struct ask_problem *problem = next_problem(ask);
	size_t length = strlen(ask->request.command);

	problem->rule = rule;
	if (rule != SBX_NONE)
		ask->rule = rule;
	vsnprintf(problem->reason, sizeof(problem->reason), format, arguments);
	/* "sbatch refused: ...": what, and why */
	if (!strncmp(problem->reason, ask->request.command, length) &&
	    !strncmp(problem->reason + length, " refused: ", 10)) {
		snprintf(problem->what, sizeof(problem->what), "%s", ask->request.command);
		memmove(problem->reason, problem->reason + length + 10,
			strlen(problem->reason + length + 10) + 1);
	}
	sbx_make_printable(problem->reason);
}

bool ask_refuse(struct ask *ask, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	refuse(ask, SBX_NONE, format, arguments);
	va_end(arguments);
	return false;
}

bool ask_refuse_by(struct ask *ask, uint32_t rule, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	refuse(ask, rule, format, arguments);
	va_end(arguments);
	return false;
}

void ask_notice(struct ask *ask, const char *format, ...)
{
	size_t used = strlen(ask->notice);
	char line[900];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	sbx_make_printable(line);
	if (used + strlen(line) + sizeof("\nsbx: ") <= sizeof(ask->notice))
		snprintf(ask->notice + used, sizeof(ask->notice) - used, "%ssbx: %s",
			 used ? "\n" : "", line);
}

bool ask_would(struct ask *ask, const char *format, ...)
{
	struct ask_problem *problem;
	va_list arguments;

	if (!ask->problem_count || ask->problem_count > ASK_PROBLEMS)
		return false;
	problem = &ask->problems[ask->problem_count - 1];
	va_start(arguments, format);
	vsnprintf(problem->line, sizeof(problem->line), format, arguments);
	va_end(arguments);
	sbx_make_printable(problem->line);
	return false;
}

void ask_rule_text(const struct ask *ask, uint32_t index, char *out, size_t size)
{
	static const char *const verbs[] = { "option", "scope", "allow",  "deny", "seal",
					     "force",  "add",   "budget", "show", "jobs" };
	static const char *const ops[] = { "", " in", " max" };
	const struct sbx_slurm_rule *rule = rule_at(ask, index);
	bool gives = rule->head.verb == SBX_SLURM_FORCE || rule->head.verb == SBX_SLURM_ADD;
	char place[256], value[128];
	size_t at;
	uint32_t unset;
	bool wild;

	at = (size_t)snprintf(
	    out, size, "%s%s%s%s%s%s%s", verbs[rule->head.verb],
	    rule->command == SBX_NONE ? "" : " ", sbx_string(ask->blob, rule->command),
	    rule->option == SBX_NONE ? "" : " ", sbx_string(ask->blob, rule->option), ops[rule->op],
	    gives && rule->value_count ? " =" : "");
	for (uint32_t i = 0; i < rule->value_count && at < size; i++)
		if (sbx_expand(ask->blob,
			       *SBX_AT(ask->blob, TMPLS, sbx_tmpl, rule->value_first + i),
			       ask->vars, value, sizeof(value), &wild, &unset) >= 0)
			at += (size_t)snprintf(out + at, size - at, " %s", value);
	sbx_place(ask->blob, rule->head.loc, place, sizeof(place));
	if (at < size)
		at += (size_t)snprintf(out + at, size - at, " (%s)", place);
	if (at < size && rule->head.note != SBX_NONE16) {
		uint32_t because = SBX_AT(ask->blob, NOTES, sbx_note, rule->head.note)->because;

		if (because != SBX_NONE)
			snprintf(out + at, size - at, ": %s", sbx_string(ask->blob, because));
	}
}

/* ---- the line that would allow it ------------------------------------------------------- */

/* A value as a policy can have it behind `in`; false: not in a line that is read at once. */
static bool quoted(const char *value, char out[100])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_.-";
	size_t length = strlen(value);

	if (!length || length > 96)
		return false;
	for (const char *at = value; *at; at++)
		if (*at < ' ' || strchr("\"\\$~*?[]{}", *at)) /* (bytes past ASCII, too) */
			return false;
	snprintf(out, 100, strspn(value, plain) == length ? "%s" : "\"%s\"", value);
	return true;
}

static bool takes_values(unsigned takes)
{
	return takes == SBX_TAKES_VALUE || takes == SBX_TAKES_OPTIONAL ||
	       (takes >= SBX_TAKES_TIME && takes <= SBX_TAKES_GPUS);
}

/* Of a client that is declared as several commands of two words, as scontrol is: those. */
static bool several(const struct ask *ask, char *out, size_t size)
{
	size_t length = strlen(ask->request.command), at = 0;
	const char *last = "";

	for (uint32_t i = 0; i < SBX_COUNT(ask->blob, SLURM) && at < size; i++) {
		const char *name = sbx_string(ask->blob, rule_at(ask, i)->command);

		if (rule_at(ask, i)->head.verb != SBX_SLURM_OPTION || !strcmp(name, last) ||
		    strncmp(name, ask->request.command, length) != 0 || name[length] != '-')
			continue;
		last = name;
		at += (size_t)snprintf(out + at, size - at, "%s%s", at ? ", " : "",
				       name + length + 1);
	}
	for (size_t i = 0; i < at && i < size; i++)
		if (out[i] == '-')
			out[i] = ' ';
	return at;
}

static void allowing_line(const struct ask *ask, const struct sbx_slurm_verdict *verdict, char *out,
			  size_t size)
{
	const char *command = ask->request.command, *value = verdict->value, *most = value;
	char text[100], tasks[24];
	uint64_t amount;

	if (verdict->why != SBX_SLURM_NOBODY && verdict->why != SBX_SLURM_VALUE)
		return;
	if (!verdict->option) {
		snprintf(out, size, "allow %s", command);
		return;
	}
	snprintf(out, size, "allow %s %s", command, verdict->option);
	if (!value || !takes_values(verdict->takes))
		return;
	if (verdict->takes == SBX_TAKES_ARRAY && sbx_slurm_amount(verdict->takes, value, &amount)) {
		snprintf(tasks, sizeof(tasks), "%llu", (unsigned long long)amount);
		most = tasks;
	}
	if (verdict->takes >= SBX_TAKES_TIME && sbx_slurm_at_most(verdict->takes, value, most) &&
	    quoted(most, text))
		snprintf(out, size, "allow %s %s max %s", command, verdict->option, text);
	else if (quoted(value, text))
		snprintf(out, size, "allow %s %s in %s", command, verdict->option, text);
}

bool ask_refuse_for(struct ask *ask, const struct sbx_slurm_verdict *verdict, const char *where)
{
	struct ask_problem *problem = next_problem(ask);
	char known[200];

	if (ask->problem_count == 1)
		ask->rule = verdict->rule;
	problem->rule = verdict->rule;
	snprintf(problem->what, sizeof(problem->what), "%s%s%s%.64s%s%.160s", ask->request.command,
		 where, verdict->option ? " " : "", verdict->option ? verdict->option : "",
		 verdict->option && verdict->value ? "=" : "",
		 verdict->option && verdict->value ? verdict->value : "");
	if (verdict->why == SBX_SLURM_NOBODY && !verdict->option &&
	    several(ask, known, sizeof(known))) {
		snprintf(problem->reason, sizeof(problem->reason), "of %.64s there are: %s",
			 ask->request.command, known);
	} else {
		snprintf(problem->reason, sizeof(problem->reason), "%s", verdict->reason);
		allowing_line(ask, verdict, problem->line, sizeof(problem->line));
	}
	sbx_make_printable(problem->what);
	sbx_make_printable(problem->reason);
	sbx_make_printable(problem->line);
	return false;
}

void ask_problem_text(const struct ask *ask, unsigned index, char out[ASK_TEXT_SIZE])
{
	const struct ask_problem *problem = &ask->problems[index];
	char rule[512] = "";

	if (problem->rule != SBX_NONE)
		ask_rule_text(ask, problem->rule, rule, sizeof(rule));
	snprintf(out, ASK_TEXT_SIZE, "sbx: %s%s%s%s%s%s%s", problem->what,
		 *problem->what ? " refused: " : "", problem->reason, *rule ? ", by " : "", rule,
		 *problem->line ? "; to allow it: " : "", problem->line);
	sbx_make_printable(out);
}
