/*
 * blob/slurm_verdict.c - may this Slurm command line be run?
 *
 * Stricter than the clients' own parser, so that both read a line alike: an
 * option is spelled out, given once, and declared for its command; a value is
 * taken where the declaration says one is, whatever it looks like; the words
 * ":" (a second component) have no place.  Then the command must be allowed
 * and each option named by an allow whose `in` or `max`, if it has one, takes
 * the value; several allows add up, a deny or seal beats them.
 */
#include "blob/verdict.h"

#include <stdio.h>
#include <string.h>

#define LINE_SIZE 4096
#define WORD_MAX  128

enum { VALUE_NEVER, VALUE_NEEDED, VALUE_OPTIONAL }; /* sbx_slurm_rule.value_kind */
enum { OP_NONE, OP_IN, OP_MAX };                    /* sbx_slurm_rule.op */

struct request {
	const struct sbx_blob *blob;
	const struct sbx_vars *vars;
	struct sbx_slurm_verdict *out;
	char text[LINE_SIZE];
	const char *words[WORD_MAX];
	uint32_t seen[WORD_MAX]; /* declarations of the options so far */
	unsigned count, seen_count;
};

static bool refuse(struct request *request, uint32_t rule, const char *what, const char *word)
{
	request->out->allowed = false;
	request->out->rule = rule;
	snprintf(request->out->reason, sizeof(request->out->reason), "%s: %.120s", what, word);
	return false;
}

static bool split(struct request *request, const char *line)
{
	char *to = request->text, *end = to + sizeof(request->text) - 1, quote = 0;
	bool in_word = false;

	for (; *line; line++) {
		if (!quote && (*line == ' ' || *line == '\t')) {
			if (in_word)
				*to++ = '\0';
			in_word = false;
		} else {
			if (!in_word && request->count == WORD_MAX)
				return false;
			if (!in_word)
				request->words[request->count++] = to;
			in_word = true;
			if (quote ? *line == quote : *line == '"' || *line == '\'')
				quote = quote ? 0 : *line;
			else
				*to++ = *line;
		}
		if (to >= end)
			return false;
	}
	*to = '\0';
	return !quote;
}

/* Digits at *p as a number, or false; it moves behind them. */
static bool number(const char **p, uint64_t *out)
{
	const char *start = *p;

	for (*out = 0; **p >= '0' && **p <= '9'; ++*p) {
		if (*out > UINT32_MAX)
			return false;
		*out = *out * 10 + (uint64_t)(**p - '0');
	}
	return *p != start;
}

/* Slurm's times (sbatch(1) --time) in seconds: M, M:S, H:M:S, D-H[:M[:S]]. */
static bool slurm_time(const char *p, uint64_t *out)
{
	uint64_t part[3], days = 0;
	unsigned count = 0;
	bool has_days = false;

	if (!number(&p, &part[0]))
		return false;
	if (*p == '-') {
		has_days = true;
		days = part[0];
		p++;
		if (!number(&p, &part[0]))
			return false;
	}
	for (count = 1; *p == ':' && count < 3; count++) {
		p++;
		if (!number(&p, &part[count]))
			return false;
	}
	for (unsigned i = count; i < 3; i++)
		part[i] = 0;
	if (has_days || count == 3)
		*out = ((days * 24 + part[0]) * 60 + part[1]) * 60 + part[2];
	else
		*out = part[0] * 60 + part[1];
	return !*p;
}

/* A number, or one with a unit out of @units, each worth @worth. */
static bool with_unit(const char *p, const char *units, const uint64_t *worth, uint64_t none,
		      uint64_t *out)
{
	const char *unit;

	if (!number(&p, out))
		return false;
	if (!*p) {
		*out *= none;
		return none != 0;
	}
	unit = strchr(units, *p);
	if (!unit || p[1])
		return false;
	*out *= worth[unit - units];
	return true;
}

/* Is @value at most @limit?  What the limit is written as says what both are. */
static bool at_most(const char *value, const char *limit)
{
	static const uint64_t seconds[] = { 1, 60, 3600, 86400 };
	static const uint64_t kib[] = { 1, 1u << 10, 1u << 20, 1u << 30 };
	uint64_t have, most;

	if (with_unit(limit, "smhd", seconds, 0, &most) ||
	    (strpbrk(limit, ":-") && slurm_time(limit, &most)))
		return slurm_time(value, &have) && have <= most;
	if (with_unit(limit, "KMGT", kib, 0, &most)) /* --mem: megabytes where no unit is */
		return with_unit(value, "KMGT", kib, 1u << 10, &have) && have <= most;
	return with_unit(limit, "", NULL, 1, &most) && with_unit(value, "", NULL, 1, &have) &&
	       have <= most;
}

static bool takes(struct request *request, const struct sbx_slurm_rule *rule, const char *value)
{
	char text[512];
	uint32_t unset;
	bool wild;

	if (rule->op == OP_NONE)
		return true;
	for (uint32_t i = 0; value && i < rule->value_count; i++) {
		struct sbx_tmpl tmpl =
		    *SBX_AT(request->blob, TMPLS, sbx_tmpl, rule->value_first + i);

		if (sbx_expand(request->blob, tmpl, request->vars, text, sizeof(text), &wild,
			       &unset) < 0)
			continue;
		if (rule->op == OP_IN ? !strcmp(value, text) : at_most(value, text))
			return true;
	}
	return false;
}

/* @option NULL: the command itself. */
static bool permitted(struct request *request, const char *option, const char *value)
{
	const struct sbx_blob *blob = request->blob;
	uint32_t allowed_by = SBX_NONE, near = SBX_NONE;

	for (uint32_t i = 0; i < SBX_COUNT(blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = SBX_AT(blob, SLURM, sbx_slurm_rule, i);

		if (strcmp(sbx_string(blob, rule->command), request->words[0]) ||
		    strcmp(sbx_string(blob, rule->option), option ? option : ""))
			continue;
		if (rule->head.verb == SBX_SLURM_DENY || rule->head.verb == SBX_SLURM_SEAL)
			return refuse(request, i, "denied", option ? option : request->words[0]);
		if (rule->head.verb != SBX_SLURM_ALLOW)
			continue;
		near = i;
		if (takes(request, rule, value))
			allowed_by = i;
	}
	if (allowed_by == SBX_NONE)
		return refuse(request, near,
			      near == SBX_NONE ? "nothing allows" : "value not allowed",
			      option ? option : request->words[0]);
	request->out->rule = allowed_by;
	return true;
}

/* The declaration of a long option, or of the short one that is @letter. */
static const struct sbx_slurm_rule *declared(struct request *request, const char *name,
					     size_t length, char letter, uint32_t *index)
{
	const struct sbx_blob *blob = request->blob;

	for (*index = 0; *index < SBX_COUNT(blob, SLURM); ++*index) {
		const struct sbx_slurm_rule *rule = SBX_AT(blob, SLURM, sbx_slurm_rule, *index);
		const char *text = sbx_string(blob, name ? rule->option : rule->short_name);

		if (rule->head.verb != SBX_SLURM_OPTION ||
		    strcmp(sbx_string(blob, rule->command), request->words[0]))
			continue;
		if (name ? strlen(text) == length && !memcmp(text, name, length)
			 : text[0] == '-' && text[1] == letter && !text[2])
			return rule;
	}
	return NULL;
}

/* One option with its value, found to be declared at @index. */
static bool give(struct request *request, const struct sbx_slurm_rule *rule, uint32_t index,
		 const char *value)
{
	const char *name = sbx_string(request->blob, rule->option);

	for (unsigned i = 0; i < request->seen_count; i++)
		if (request->seen[i] == index)
			return refuse(request, index, "given twice", name);
	if (request->seen_count == WORD_MAX)
		return refuse(request, index, "too many options", name);
	request->seen[request->seen_count++] = index;
	if (rule->value_kind == VALUE_NEVER && value)
		return refuse(request, index, "takes no value", name);
	if (rule->value_kind == VALUE_NEEDED && !value)
		return refuse(request, index, "needs a value", name);
	return permitted(request, name, value);
}

/* The value that is the next word, where there is one. */
static const char *next_word(struct request *request, unsigned *at)
{
	return *at + 1 < request->count ? request->words[++*at] : NULL;
}

static bool long_option(struct request *request, unsigned *at)
{
	const char *word = request->words[*at], *value = strchr(word, '=');
	size_t length = value ? (size_t)(value++ - word) : strlen(word);
	uint32_t index;
	const struct sbx_slurm_rule *rule = declared(request, word, length, 0, &index);

	if (!rule)
		return refuse(request, SBX_NONE, "not an option of this command", word);
	if (!value && rule->value_kind == VALUE_NEEDED)
		value = next_word(request, at);
	return give(request, rule, index, value);
}

static bool short_options(struct request *request, unsigned *at)
{
	const char *word = request->words[*at];

	for (const char *p = word + 1; *p; p++) {
		uint32_t index;
		const struct sbx_slurm_rule *rule = declared(request, NULL, 0, *p, &index);
		const char *value = NULL;

		if (!rule)
			return refuse(request, SBX_NONE, "not an option of this command", word);
		if (rule->value_kind != VALUE_NEVER && p[1])
			value = p + 1;
		else if (rule->value_kind == VALUE_NEEDED)
			value = next_word(request, at);
		if (!give(request, rule, index, value))
			return false;
		if (value)
			break;
	}
	return true;
}

/* Clients whose first plain word is a program with arguments of its own; the
 * others look for options to the end of the line. */
static bool runs_a_program(const char *command)
{
	return !strcmp(command, "sbatch") || !strcmp(command, "srun") || !strcmp(command, "salloc");
}

void sbx_slurm_decide(const struct sbx_blob *blob, const struct sbx_vars *vars, const char *line,
		      struct sbx_slurm_verdict *out)
{
	struct request request = { .blob = blob, .vars = vars, .out = out };

	*out = (struct sbx_slurm_verdict){ true, SBX_NONE, "" };
	if (!split(&request, line) || !request.count) {
		refuse(&request, SBX_NONE, "not a command line", line);
		return;
	}
	if (!permitted(&request, NULL, NULL))
		return;
	for (unsigned i = 1; i < request.count; i++) {
		const char *word = request.words[i];
		bool fine = true;

		if (!strcmp(word, "--"))
			return;
		if (!strcmp(word, ":"))
			fine = refuse(&request, SBX_NONE, "a second component", word);
		else if (word[0] == '-' && word[1] == '-')
			fine = long_option(&request, &i);
		else if (word[0] == '-' && word[1])
			fine = short_options(&request, &i);
		else if (runs_a_program(request.words[0]))
			return;
		if (!fine)
			return;
	}
}
