/*
 * chaperon/directives.c - see directives.h.
 *
 * sbatch reads directives up to the first line whose first byte that is not blank is no
 * "#", makes one argument vector of all of them and hands that to getopt.  So a value
 * may come from the next line, an empty word or a "#" within a word ends a line, and
 * "hetjob" drops what stands beside it: each of these is refused here instead.
 */
#include "chaperon/directives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORDS_MAX 128

static bool refuse(struct sbx_slurm_verdict *verdict, const char *why)
{
	*verdict = (struct sbx_slurm_verdict){ .rule = SBX_NONE };
	snprintf(verdict->reason, sizeof(verdict->reason), "%s", why);
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* One word at *from, copied to *to.  NULL, or why the line is refused. */
static const char *read_word(const char **from, const char *end, char **to)
{
	const char *at = *from;
	char quote = 0, *start = *to;

	for (; at < end && (quote || !is_blank(*at)); at++) {
		if (*at == '\\')
			return "a backslash in a directive";
		if ((unsigned char)*at < ' ' && *at != '\t')
			return "a control character in a directive";
		if (!quote && *at == '#')
			return "a # within a word, where sbatch ends the line";
		if (quote ? *at == quote : *at == '"' || *at == '\'')
			quote = quote ? 0 : *at;
		else
			*(*to)++ = *at;
	}
	if (quote)
		return "a quote that is not closed";
	if (*to == start)
		return "an empty word, where sbatch ends the line";
	*(*to)++ = '\0';
	*from = at;
	if (!strcasecmp(start, "hetjob") || !strcasecmp(start, "packjob"))
		return "a second component";
	return NULL;
}

/* The words of a line behind its #SBATCH. */
static const char *read_line(const char *at, const char *end, char **to, const char **words,
			     unsigned *count)
{
	const char *wrong;

	if (at < end && *at != '-' && !is_blank(*at))
		return "not a directive: #SBATCH and an option are wanted";
	for (*count = 0;;) {
		while (at < end && is_blank(*at))
			at++;
		if (at == end || *at == '#')
			return NULL;
		if (*count == WORDS_MAX)
			return "too many words in a line";
		words[(*count)++] = *to;
		wrong = read_word(&at, end, to);
		if (wrong)
			return wrong;
	}
}

static bool begins(const char *line, const char *end, const char *with)
{
	size_t length = strlen(with);

	return (size_t)(end - line) >= length && !memcmp(line, with, length);
}

/* What of the whole script makes slurmctld or sbatch refuse it, or read other lines. */
static const char *whole_script(const char *script, size_t size)
{
	if (size < 2 || memcmp(script, "#!", 2) != 0)
		return "a script begins with #! and its interpreter";
	if (memchr(script, '\0', size))
		return "the script has a NUL byte";
	for (const char *at = script; (at = memchr(at, '\r', size - (size_t)(at - script))); at++)
		if (at + 1 < script + size && at[1] == '\n')
			return "the script has DOS line breaks";
	return NULL;
}

static bool is_comment(const char *line, const char *end)
{
	while (line < end && is_blank(*line))
		line++;
	return line == end || *line == '#';
}

bool directives_read(const struct sbx_blob *blob, const struct sbx_vars *vars, const char *script,
		     size_t size, struct directives *out, struct sbx_slurm_verdict *verdict)
{
	const char *words[WORDS_MAX], *end = script + size, *next,
				      *wrong = whole_script(script, size);
	unsigned count, number = 0, before;
	char *to;

	*out = (struct directives){ .request.command = "sbatch" };
	if (wrong)
		return refuse(verdict, wrong);
	out->text = to = malloc(size + 1);
	if (!to)
		return refuse(verdict, "no memory");
	for (const char *line = script; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		next = stop + 1;
		out->line = ++number;
		if (!is_comment(line, stop))
			break;
		if (begins(line, stop, "#SLURM"))
			return refuse(verdict, "say #SBATCH, not #SLURM");
		if (!out->foreign && (begins(line, stop, "#PBS") || begins(line, stop, "#BSUB")))
			out->foreign = number;
		if (!begins(line, stop, "#SBATCH"))
			continue;
		wrong = read_line(line + strlen("#SBATCH"), stop, &to, words, &count);
		if (wrong)
			return refuse(verdict, wrong);
		before = out->refused.count;
		sbx_slurm_read_directive(blob, vars, words, count, &out->request, verdict,
					 &out->refused);
		for (unsigned i = before; i < out->refused.count && i < SBX_SLURM_REFUSALS_MAX; i++)
			out->refused_line[i] = number;
		if (!out->refused.whole) {
			out->refused.count--; /* that is @verdict */
			return false;
		}
	}
	out->line = 0;
	*verdict = (struct sbx_slurm_verdict){ .allowed = true, .rule = SBX_NONE };
	return true;
}
