/*
 * Any bytes as a command line of Slurm's clients, or as the script of a batch job: what
 * our reader lets pass, getopt_long of the C library reads into the same options, values
 * and operands.  It is what the clients read with; a script's lines are cut into words
 * here as sbatch cuts them, and all of them are one argument vector.
 *
 * The first byte says which command, or a script.  Arguments end at newlines.
 */
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chaperon/directives.h"
#include "chaperon/ids.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define fault(...)  (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), abort())
#define WORDS_MAX   256
#define OPTIONS_MAX 256

static struct sbx_blob blob;
static struct sbx_vars vars;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char data[1 << 20];
	FILE *made = popen("${O:-build}/sbxc -o - tests/slurm/open.pol", "r");
	size_t size = made ? fread(data, 1, sizeof(data), made) : 0;

	(void)argc;
	(void)argv;
	if (!made || pclose(made) || sbx_blob_open(data, size, &blob))
		fault("tests/slurm/open.pol does not compile");
	return 0;
}

/* ---- what the real clients read --------------------------------------------------------- */

struct table {
	struct option longs[OPTIONS_MAX];
	uint32_t declared[OPTIONS_MAX];
	char shorts[OPTIONS_MAX * 3];
	size_t count;
};

static void build(const char *command, struct table *table)
{
	char *at = table->shorts;

	memset(table, 0, sizeof(*table));
	if (!strcmp(command, "sbatch") || !strcmp(command, "srun"))
		*at++ = '+';
	for (uint32_t i = 0; i < SBX_COUNT(&blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = SBX_AT(&blob, SLURM, sbx_slurm_rule, i);
		const char *letter = sbx_string(&blob, rule->short_name);
		int has = rule->value_kind == SBX_TAKES_NOTHING    ? no_argument
			  : rule->value_kind == SBX_TAKES_OPTIONAL ? optional_argument
								   : required_argument;

		if (rule->head.verb != SBX_SLURM_OPTION ||
		    strcmp(sbx_string(&blob, rule->command), command))
			continue;
		table->longs[table->count] = (struct option){ sbx_string(&blob, rule->option) + 2,
							      has, NULL, 256 + (int)table->count };
		table->declared[table->count++] = i;
		if (letter[0]) {
			*at++ = letter[1];
			for (int colons = 0; colons < has; colons++)
				*at++ = ':';
		}
	}
}

static uint32_t option_of(const struct table *table, const char *command, int found)
{
	if (found >= 256)
		return table->declared[found - 256];
	for (size_t i = 0; i < table->count; i++) {
		const struct sbx_slurm_rule *rule =
		    SBX_AT(&blob, SLURM, sbx_slurm_rule, table->declared[i]);
		const char *letter = sbx_string(&blob, rule->short_name);

		if (letter[0] && letter[1] == found)
			return table->declared[i];
	}
	fault("getopt finds '%c' (%d) in %s", found, found, command);
}

static void compare(const char *command, const char **words, int count,
		    const struct sbx_slurm_request *request, bool operands)
{
	static struct table table;
	char *copy[WORDS_MAX + 1];
	unsigned seen = 0;
	int found;

	build(command, &table);
	for (int i = 0; i < count; i++)
		copy[i] = strdup(words[i]);
	copy[count] = NULL;
	opterr = 0;
	optind = 0; /* glibc: begin anew */
	while ((found = getopt_long(count, copy, table.shorts, table.longs, NULL)) != -1) {
		const struct sbx_slurm_given *ours = &request->given[seen];

		if (found == '?')
			fault("getopt refuses %s", copy[optind - 1]);
		if (seen++ >= request->given_count)
			fault("getopt sees one option more");
		if (option_of(&table, command, found) != ours->option)
			fault("another option: number %u", seen);
		if (!optarg != !ours->value || (optarg && strcmp(optarg, ours->value) != 0))
			fault("another value: %s, %s", optarg ? optarg : "-",
			      ours->value ? ours->value : "-");
	}
	if (seen != request->given_count)
		fault("getopt sees one option less");
	if (operands && (unsigned)(count - optind) != request->operand_count)
		fault("%d operands, we see %u", count - optind, request->operand_count);
	for (unsigned i = 0; operands && i < request->operand_count; i++)
		if (strcmp(copy[optind + (int)i], request->operands[i]) != 0)
			fault("operand %u is %s", i, copy[optind + (int)i]);
	if (!operands && optind != count)
		fault("a directive has a plain word");
	for (int i = 0; i < count; i++)
		free(copy[i]);
}

/* ---- a line -------------------------------------------------------------------------------- */

static void try_line(const char *command, char *text)
{
	static struct sbx_slurm_request request;
	const char *words[WORDS_MAX + 1], *kept[WORDS_MAX + 1];
	struct sbx_slurm_verdict verdict;
	unsigned count = 1;

	words[0] = command;
	for (char *at = strtok(text, "\n"); at && count < WORDS_MAX; at = strtok(NULL, "\n"))
		words[count++] = at;
	memcpy(kept, words, sizeof(kept));
	if (sbx_slurm_read(&blob, &vars, words, count, &request, &verdict, NULL)) {
		if (!strchr(request.command, '-'))
			compare(request.command, kept, (int)count, &request, true);
	} else if (!verdict.reason[0]) {
		fault("refused without a reason");
	}
}

/* ---- a script ------------------------------------------------------------------------------ */

static bool blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* One word as sbatch has it; false: the line ends here. */
static bool sbatch_word(const char **from, const char *end, char **to)
{
	char quote = 0, *start = *to;
	const char *at = *from;

	while (at < end && blank(*at))
		at++;
	for (; at < end && (quote || !blank(*at)); at++) {
		if (*at == '\\' && at + 1 < end)
			*(*to)++ = *++at;
		else if (quote ? *at == quote : *at == '"' || *at == '\'')
			quote = quote ? 0 : *at;
		else if (!quote && *at == '#')
			break;
		else
			*(*to)++ = *at;
	}
	if (*to == start)
		return false;
	*(*to)++ = '\0';
	*from = at;
	return true;
}

static void try_script(const char *script, size_t size)
{
	static struct directives ours;
	const char *words[WORDS_MAX], *end = script + size, *next;
	struct sbx_slurm_verdict verdict;
	char *text = malloc(2 * size + 1), *to = text;
	int count = 1;
	bool whole = directives_read(&blob, &vars, script, size, &ours, &verdict), full = false;
	bool good = whole && !ours.refused.count;

	words[0] = "sbatch";
	for (const char *line = script; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line)), *at = line;

		stop = stop ? stop : end;
		next = stop + 1;
		while (at < stop && blank(*at))
			at++;
		if (at < stop && *at != '#')
			break;
		if (stop - line < 7 || memcmp(line, "#SBATCH", 7))
			continue;
		at = line + 7;
		for (;;) {
			char *word = to;

			full = full || count == WORDS_MAX - 1;
			if (full || !sbatch_word(&at, stop, &to))
				break;
			words[count++] = word;
		}
	}
	if (good && !full)
		compare("sbatch", words, count, &ours.request, false);
	else if (!good && !(whole ? ours.refused.items[0].reason : verdict.reason)[0])
		fault("refused without a reason");
	free(ours.text);
	free(text);
}

/* What is written anew is read again as the same ids, and no more; without brackets and
 * leading zeros it is the same text. */
static void try_ids(const char *text)
{
	struct job_ids ids = { 0 }, same = { 0 };
	bool good = !ids_read(&ids, text), plain = !strchr(text, '[');
	char *again = good ? ids_write(&ids, "") : NULL;

	for (const char *at = text; *at; at++)
		if (*at == '0' && at[1] >= '0' && at[1] <= '9' &&
		    (at == text || !strchr(".0123456789abcdefghijklmnopqrstuvwxyz", at[-1])))
			plain = false;
	if (again && plain && strcmp(text, again) != 0)
		fault("%s is written as %s", text, again);
	if (again && (strchr(again, '[') || ids_read(&same, again) || same.count != ids.count ||
		      memcmp(same.items, ids.items, ids.count * sizeof(*ids.items)) != 0))
		fault("%s is read as other ids than %s", again, text);
	free(again);
	ids_free(&ids);
	ids_free(&same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const commands[] = { "sbatch",  "srun",     "squeue",
						"scancel", "scontrol", "sacct" };
	char *text;

	if (!size)
		return 0;
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (data[0] < 6)
		try_line(commands[data[0]], text);
	else if (data[0] == 6)
		try_ids(text);
	else
		try_script(text, size - 1);
	free(text);
	return 0;
}
