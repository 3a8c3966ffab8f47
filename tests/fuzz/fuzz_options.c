/*
 * Any bytes as sbx-exec's command line, an argument up to each NUL.  What is
 * accepted is read a second time, by the manual page.
 */
#include "tests/fuzz/launcher.h"

#include <string.h>

#include "stub/options.h"
#include "stub/out.h"

#define WORDS_MAX 200

struct line {
	char *argv[WORDS_MAX + 2];
	size_t count;
	struct options options;
};

static void parse(void *data)
{
	struct line *line = data;

	options_parse(line->argv, &line->options);
}

/* Each word in memory of its own, which ends where it ends. */
static void split(const uint8_t *data, size_t size, struct line *out)
{
	out->argv[out->count++] = strdup("sbx-exec");
	while (size && out->count < WORDS_MAX) {
		size_t length = strnlen((const char *)data, size);

		out->argv[out->count++] = strndup((const char *)data, length);
		length += length < size;
		data += length;
		size -= length;
	}
}

static bool is(const char *word, const char *name, const char *letter)
{
	return !strcmp(word, name) || (letter && !strcmp(word, letter));
}

/* Has @word its value in itself: --define=a=b, -Da=b? */
static bool holds_value(const char *word)
{
	static const char *const names[] = { "--backend=", "--workspace=", "--define=",
					     "--net-log=", "--slurm-log=", "--job=",
					     "--digest=" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(word, names[i], strlen(names[i])))
			return true;
	return !strncmp(word, "-D", 2) && word[2];
}

/* Every word before the policy is an option of the manual page, or the value of one. */
static void check_accepted(const struct line *line)
{
	const struct options *options = &line->options;
	bool dry_run = false, check = false, verbose = false, quiet = false;
	size_t at = 1, defines = 0;

	for (; at < options->end; at++) {
		const char *word = line->argv[at];

		dry_run |= is(word, "--dry-run", NULL);
		check |= is(word, "--check", NULL);
		verbose |= is(word, "--verbose", "-v");
		quiet |= is(word, "--quiet", "-q");
		defines += is(word, "--define", "-D") || !strncmp(word, "-D", 2) ||
			   !strncmp(word, "--define=", 9);
		if (is(word, "--backend", NULL) || is(word, "--workspace", NULL) ||
		    is(word, "--define", "-D") || is(word, "--net-log", NULL) ||
		    is(word, "--slurm-log", NULL) ||
		    is(word, "--job", NULL) || is(word, "--digest", NULL))
			at++;
		else if (!holds_value(word) && !is(word, "--dry-run", NULL) &&
			 !is(word, "--check", NULL) && !is(word, "--verbose", "-v") &&
			 !is(word, "--quiet", "-q"))
			fuzz_fault("the unknown option '%s' was accepted", word);
	}
	if (options->job && (!options->digest || options->blob || options->command || defines ||
			     options->workspace))
		fuzz_fault("a job that says more or less than which one");
	if (options->job)
		return;
	if (at != options->end || at >= line->count)
		fuzz_fault("the options end at %zu, not at %zu", at, options->end);
	at += !strcmp(line->argv[at], "--");
	if (options->blob != line->argv[at])
		fuzz_fault("the policy is '%s'", options->blob);
	if (dry_run != options->dry_run || check != options->check || verbose != options->verbose ||
	    quiet != options->quiet)
		fuzz_fault("an option was lost or gained");
	if (defines != options->define_count || !options->backends || (quiet && verbose))
		fuzz_fault("what was accepted contradicts itself");
	for (unsigned i = 0; i < options->define_count; i++)
		if (options->defines[i].value <= options->defines[i].name + 1 ||
		    options->defines[i].value[-1] != '=' ||
		    memchr(options->defines[i].name, '=',
			   (size_t)(options->defines[i].value - options->defines[i].name) - 1))
			fuzz_fault("-D %s", options->defines[i].name);
}

/* Neither help nor version is an answer to who did not ask for it. */
static void check_asked(const struct line *line)
{
	for (size_t i = 1; i < line->count; i++)
		if (is(line->argv[i], "--help", "-h") || is(line->argv[i], "--version", NULL))
			return;
	fuzz_fault("it ended with 0, and nobody asked for that");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line *line = calloc(1, sizeof(*line));
	int status;

	split(data, size, line);
	status = launcher_run(parse, line);
	if (status < 0)
		check_accepted(line);
	else if (!status)
		check_asked(line);
	else if (status != EXIT_REFUSED)
		fuzz_fault("it ended with %d", status);
	for (size_t i = 0; i < line->count; i++)
		free(line->argv[i]);
	free(line);
	return 0;
}
