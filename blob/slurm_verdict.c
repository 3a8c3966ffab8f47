/*
 * blob/slurm_verdict.c - may this Slurm command line be run?
 *
 * Stricter than the clients' own parser, so that both read a line alike: an
 * option is spelled out, given once, and declared for its command; a value is
 * taken where the declaration says one is, whatever it looks like; a word ":"
 * (a second component) has no place anywhere: even as a value it makes the
 * clients' two passes read two lines.  Then the command must be allowed
 * and each option named by an allow whose `in` or `max`, if it has one, takes
 * the value; several allows add up, a deny or seal beats them.  An option that is
 * forced needs no allow: what was given for it is replaced.
 *
 * `scontrol show job` is the command scontrol-show-job where that is declared, and
 * what such a command takes as KEY=VALUE is its option --KEY.
 */
#include "blob/verdict.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { OP_NONE, OP_IN, OP_MAX }; /* sbx_slurm_rule.op */

struct reader {
	const struct sbx_blob *blob;
	const struct sbx_vars *vars;
	struct sbx_slurm_request *request;
	struct sbx_slurm_verdict *out;
	struct sbx_slurm_refusals *all; /* NULL: the first is enough */
	const char **words;
	unsigned count;
	bool in_script;
};

static bool refuse(struct reader *reader, uint32_t rule, const char *what, const char *word)
{
	reader->out->allowed = false;
	reader->out->rule = rule;
	snprintf(reader->out->reason, sizeof(reader->out->reason), "%s: %.120s", what, word);
	return false;
}

/* The refusal in @out among all.  True: there may be more. */
static bool keep(struct reader *reader)
{
	struct sbx_slurm_refusals *all = reader->all;

	if (!all)
		return false;
	if (all->count < SBX_SLURM_REFUSALS_MAX)
		all->items[all->count] = *reader->out;
	all->count++;
	return true;
}

/* The end: @whole, unless what was read last cannot be read past. */
static bool end(struct reader *reader, bool whole)
{
	struct sbx_slurm_refusals *all = reader->all;

	if (!all)
		return whole;
	all->whole = whole;
	if (!whole)
		keep(reader);
	else if (all->count)
		*reader->out = all->items[0];
	return !all->count;
}

/* Something that no declaration speaks of. */
static bool unknown(struct reader *reader, const char *what, const char *word)
{
	reader->out->option = NULL;
	return refuse(reader, SBX_NONE, what, word);
}

static const struct sbx_slurm_rule *rule_at(const struct reader *reader, uint32_t index)
{
	return SBX_AT(reader->blob, SLURM, sbx_slurm_rule, index);
}

static bool takes(const struct reader *reader, const struct sbx_slurm_rule *rule, unsigned kind,
		  const char *value)
{
	char text[512];
	uint32_t unset;
	bool wild;

	if (rule->op == OP_NONE)
		return true;
	for (uint32_t i = 0; value && i < rule->value_count; i++) {
		struct sbx_tmpl tmpl =
		    *SBX_AT(reader->blob, TMPLS, sbx_tmpl, rule->value_first + i);

		if (sbx_expand(reader->blob, tmpl, reader->vars, text, sizeof(text), &wild,
			       &unset) < 0)
			continue;
		if (rule->op == OP_IN ? !strcmp(value, text) : sbx_slurm_at_most(kind, value, text))
			return true;
	}
	return false;
}

/* @option NULL: the command itself. */
static bool permitted(struct reader *reader, const char *option, unsigned kind, const char *value,
		      bool *forced)
{
	uint32_t allowed_by = SBX_NONE, near = SBX_NONE;
	const char *command = reader->request->command;

	for (uint32_t i = 0; i < SBX_COUNT(reader->blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = rule_at(reader, i);

		if (strcmp(sbx_string(reader->blob, rule->command), command) ||
		    strcmp(sbx_string(reader->blob, rule->option), option ? option : ""))
			continue;
		if (rule->head.verb == SBX_SLURM_DENY || rule->head.verb == SBX_SLURM_SEAL) {
			reader->out->why = SBX_SLURM_AGAINST;
			return refuse(reader, i, "denied", option ? option : command);
		}
		*forced |= rule->head.verb == SBX_SLURM_FORCE;
		if (rule->head.verb == SBX_SLURM_FORCE)
			allowed_by = i;
		if (rule->head.verb != SBX_SLURM_ALLOW)
			continue;
		near = i;
		if (!*forced && takes(reader, rule, kind, value))
			allowed_by = i;
	}
	if (allowed_by == SBX_NONE) {
		reader->out->why = near == SBX_NONE ? SBX_SLURM_NOBODY : SBX_SLURM_VALUE;
		return refuse(reader, near,
			      near == SBX_NONE ? "nothing allows" : "value not allowed",
			      option ? option : command);
	}
	reader->out->rule = allowed_by;
	return true;
}

/* The declaration of a long option, or of the short one that is @letter. */
static uint32_t declared(const struct reader *reader, const char *name, size_t length, char letter)
{
	for (uint32_t i = 0; i < SBX_COUNT(reader->blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = rule_at(reader, i);
		const char *text = sbx_string(reader->blob, name ? rule->option : rule->short_name);

		if (rule->head.verb != SBX_SLURM_OPTION ||
		    strcmp(sbx_string(reader->blob, rule->command), reader->request->command))
			continue;
		if (name ? strlen(text) == length && !memcmp(text, name, length)
			 : text[0] == '-' && text[1] == letter && !text[2])
			return i;
	}
	return SBX_NONE;
}

/* Others are nobody's business here, whatever a policy allows. */
static bool is_self(const struct reader *reader, const char *value)
{
	const char *name = reader->vars->value[SBX_VAR_USER];
	const char *number = reader->vars->value[SBX_VAR_UID];

	return (name && !strcmp(value, name)) || (number && !strcmp(value, number));
}

/* One option with its value, found to be declared at @index. */
static bool give_one(struct reader *reader, uint32_t index, const char *value)
{
	struct sbx_slurm_request *request = reader->request;
	const struct sbx_slurm_rule *rule = rule_at(reader, index);
	const char *name = sbx_string(reader->blob, rule->option), *wrong;
	bool forced = false;

	reader->out->option = name;
	reader->out->value = value;
	reader->out->takes = rule->value_kind;
	for (unsigned i = 0; i < request->given_count; i++)
		if (request->given[i].option == index)
			return refuse(reader, index, "given twice", name);
	if (request->given_count == SBX_SLURM_GIVEN_MAX)
		return refuse(reader, index, "too many options", name);
	request->given[request->given_count++] = (struct sbx_slurm_given){ index, value };
	if (reader->in_script && rule->flags & SBX_SLURM_NO_SCRIPT)
		return refuse(reader, index, "has no effect in a script", name);
	if (rule->value_kind == SBX_TAKES_NOTHING && value)
		return refuse(reader, index, "takes no value", name);
	if (rule->value_kind != SBX_TAKES_NOTHING && rule->value_kind != SBX_TAKES_OPTIONAL &&
	    !value)
		return refuse(reader, index, "needs a value", name);
	if (!permitted(reader, name, rule->value_kind, value, &forced))
		return false;
	wrong = value && !forced ? sbx_slurm_objection(rule->value_kind, value) : NULL;
	if (rule->value_kind == SBX_TAKES_USER && !is_self(reader, value))
		wrong = "is not the user of the session";
	return !wrong || refuse(reader, index, wrong, value);
}

static bool give(struct reader *reader, uint32_t index, const char *value)
{
	bool given = give_one(reader, index, value);

	if (!given && keep(reader)) {
		*reader->out = (struct sbx_slurm_verdict){ .allowed = true, .rule = SBX_NONE };
		return true;
	}
	return given;
}

/* The value that is the next word, where there is one. */
static const char *next_word(struct reader *reader, unsigned *at)
{
	return *at + 1 < reader->count ? reader->words[++*at] : NULL;
}

static bool needs_value(const struct reader *reader, uint32_t index)
{
	unsigned kind = rule_at(reader, index)->value_kind;

	return kind != SBX_TAKES_NOTHING && kind != SBX_TAKES_OPTIONAL;
}

static bool long_option(struct reader *reader, unsigned *at)
{
	const char *word = reader->words[*at], *value = strchr(word, '=');
	size_t length = value ? (size_t)(value++ - word) : strlen(word);
	uint32_t index = declared(reader, word, length, 0);

	if (index == SBX_NONE)
		return unknown(reader, "not an option of this command", word);
	if (!value && needs_value(reader, index))
		value = next_word(reader, at);
	return give(reader, index, value);
}

static bool short_options(struct reader *reader, unsigned *at)
{
	const char *word = reader->words[*at];

	for (const char *p = word + 1; *p; p++) {
		uint32_t index = declared(reader, NULL, 0, *p);
		const char *value = NULL;

		if (index == SBX_NONE)
			return unknown(reader, "not an option of this command", word);
		if (rule_at(reader, index)->value_kind != SBX_TAKES_NOTHING && p[1])
			value = p + 1;
		else if (needs_value(reader, index))
			value = next_word(reader, at);
		if (!give(reader, index, value))
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

/* As scontrol reads its keys: jobid is JobId. */
static uint32_t declared_key(const struct reader *reader, const char *key)
{
	for (uint32_t i = 0; i < SBX_COUNT(reader->blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = rule_at(reader, i);

		if (rule->head.verb == SBX_SLURM_OPTION &&
		    !strcmp(sbx_string(reader->blob, rule->command), reader->request->command) &&
		    !strcasecmp(sbx_string(reader->blob, rule->option), key))
			return i;
	}
	return SBX_NONE;
}

/* KEY=VALUE of a command of two words; any other plain word is an operand. */
static bool plain_word(struct reader *reader, const char *word)
{
	const char *equals = strchr(reader->request->command, '-') ? strchr(word, '=') : NULL;
	char key[64];
	uint32_t index;

	if (!equals) {
		reader->request->operands[reader->request->operand_count++] = word;
		return true;
	}
	snprintf(key, sizeof(key), "--%.*s", (int)(equals - word), word);
	index = declared_key(reader, key);
	return index == SBX_NONE ? unknown(reader, "not a key of this command", word)
				 : give(reader, index, equals + 1);
}

/* The words from @at on.  Operands are gathered where they stand: never more than words read. */
static bool read_words(struct reader *reader, unsigned at)
{
	struct sbx_slurm_request *request = reader->request;
	bool options = true;

	request->operands = reader->words + at;
	for (unsigned i = at; i < reader->count; i++)
		if (!strcmp(reader->words[i], ":"))
			return refuse(reader, SBX_NONE, "a second component", ":");
	for (unsigned i = at; i < reader->count; i++) {
		const char *word = reader->words[i];

		if (options && !strcmp(word, "--")) {
			if (reader->in_script) /* it would end all directives that follow */
				return refuse(reader, SBX_NONE, "not an option", word);
			options = false;
			continue;
		}
		if (!options || word[0] != '-' || !word[1]) {
			if (!reader->in_script && runs_a_program(request->command)) {
				request->operands = reader->words + i;
				request->operand_count = reader->count - i;
				return true;
			}
			if (!plain_word(reader, word))
				return false;
		} else if (!(word[1] == '-' ? long_option(reader, &i)
					    : short_options(reader, &i))) {
			return false;
		}
	}
	return true;
}

static bool is_command(const struct reader *reader, const char *name)
{
	for (uint32_t i = 0; i < SBX_COUNT(reader->blob, SLURM); i++)
		if (rule_at(reader, i)->head.verb == SBX_SLURM_OPTION &&
		    !strcmp(sbx_string(reader->blob, rule_at(reader, i)->command), name))
			return true;
	return false;
}

/* Which command is it?  With the plain words that belong to its name taken away. */
static void find_command(struct reader *reader)
{
	char name[sizeof(reader->request->command)];
	unsigned at = 1, used = 0;

	snprintf(reader->request->command, sizeof(reader->request->command), "%s",
		 reader->words[0]);
	while (at < reader->count && reader->words[at][0] == '-')
		at++;
	for (unsigned more = 1; more <= 2 && at + more <= reader->count; more++) {
		snprintf(name, sizeof(name), "%s-%s%s%s", reader->words[0], reader->words[at],
			 more > 1 ? "-" : "", more > 1 ? reader->words[at + 1] : "");
		if (is_command(reader, name)) {
			strcpy(reader->request->command, name);
			used = more;
		}
	}
	if (!used)
		return;
	reader->count -= used;
	memmove(&reader->words[at], &reader->words[at + used],
		(reader->count - at) * sizeof(*reader->words));
}

bool sbx_slurm_read(const struct sbx_blob *blob, const struct sbx_vars *vars,
		    const char **arguments, unsigned count, struct sbx_slurm_request *request,
		    struct sbx_slurm_verdict *out, struct sbx_slurm_refusals *all)
{
	struct reader reader = { .blob = blob,
				 .vars = vars,
				 .request = request,
				 .out = out,
				 .all = all,
				 .words = arguments,
				 .count = count };
	uint32_t rule;
	bool forced = false;

	*out = (struct sbx_slurm_verdict){ .allowed = true, .rule = SBX_NONE };
	request->command[0] = '\0';
	request->given_count = request->operand_count = 0;
	if (!count)
		return end(&reader, refuse(&reader, SBX_NONE, "not a command line", ""));
	find_command(&reader);
	if (!permitted(&reader, NULL, 0, NULL, &forced))
		return end(&reader, false);
	rule = out->rule;
	if (!end(&reader, read_words(&reader, 1)))
		return false;
	if (!request->given_count)
		out->rule = rule;
	return true;
}

bool sbx_slurm_read_directive(const struct sbx_blob *blob, const struct sbx_vars *vars,
			      const char **words, unsigned count, struct sbx_slurm_request *request,
			      struct sbx_slurm_verdict *out, struct sbx_slurm_refusals *all)
{
	struct reader reader = { .blob = blob,
				 .vars = vars,
				 .request = request,
				 .out = out,
				 .all = all,
				 .words = words,
				 .count = count,
				 .in_script = true };

	*out = (struct sbx_slurm_verdict){ .allowed = true, .rule = SBX_NONE };
	request->operand_count = 0;
	return end(&reader, read_words(&reader, 0) &&
				(!request->operand_count ||
				 refuse(&reader, SBX_NONE, "not an option", request->operands[0])));
}

bool sbx_slurm_give(const struct sbx_blob *blob, const struct sbx_vars *vars, uint32_t option,
		    const char *value, struct sbx_slurm_request *request,
		    struct sbx_slurm_verdict *out)
{
	struct reader reader = { .blob = blob, .vars = vars, .request = request, .out = out };

	*out = (struct sbx_slurm_verdict){ .allowed = true, .rule = SBX_NONE };
	return give(&reader, option, value);
}

bool sbx_slurm_split(const char *line, char text[SBX_SLURM_LINE_SIZE],
		     const char *words[SBX_SLURM_WORD_MAX], unsigned *count)
{
	char *to = text, *end = to + SBX_SLURM_LINE_SIZE - 1, quote = 0;
	bool in_word = false;

	for (*count = 0; *line; line++) {
		if (!quote && (*line == ' ' || *line == '\t')) {
			if (in_word)
				*to++ = '\0';
			in_word = false;
		} else {
			if (!in_word && *count == SBX_SLURM_WORD_MAX)
				return false;
			if (!in_word)
				words[(*count)++] = to;
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

void sbx_slurm_decide(const struct sbx_blob *blob, const struct sbx_vars *vars, const char *line,
		      struct sbx_slurm_verdict *out)
{
	struct sbx_slurm_request request;
	char text[SBX_SLURM_LINE_SIZE];
	const char *words[SBX_SLURM_WORD_MAX];
	unsigned count;

	if (!sbx_slurm_split(line, text, words, &count) || !count) {
		*out = (struct sbx_slurm_verdict){ .rule = SBX_NONE };
		snprintf(out->reason, sizeof(out->reason), "not a command line: %.120s", line);
		return;
	}
	sbx_slurm_read(blob, vars, words, count, &request, out, NULL);
	out->option = NULL; /* of @text, which ends here */
	out->value = NULL;
}
