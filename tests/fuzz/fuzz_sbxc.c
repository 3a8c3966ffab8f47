/*
 * Any bytes as the command line of `sbxc compile` and `sbxc explain`, an argument up to
 * each NUL: no word is taken for an option that is none, and what is said of a word
 * that is wrong writes to no terminal.  The first byte says which of the two.
 */
#include "tests/fuzz/launcher.h"

#include <stdbool.h>
#include <string.h>

static int say(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define fprintf(out, ...) say(__VA_ARGS__)
#define fputs(text, out)  ((void)(text), (void)(out), 0)
#define exit(status)      launcher_exit(status)
#include "compiler/options.c"
#define add_define  compile_add_define
#define read_option compile_read_option
#define help        compile_help
#include "compiler/compile.c"
#undef read_option
#undef help
#include "compiler/explain.c"
#undef fprintf
#undef fputs
#undef exit

#define WORDS_MAX 100

static int say(const char *format, ...)
{
	char *text;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	launcher_write(STDERR_FILENO, text, (size_t)length);
	free(text);
	return length;
}

struct line {
	char *argv[WORDS_MAX + 2];
	int argc;
	struct arena arena;
	struct compile_command command;
	struct request request;
	bool explain, accepted, done;
};

static void parse(void *data)
{
	struct line *line = data;

	if (line->explain)
		line->accepted = read_request(line->argc, line->argv, &line->request, &line->arena);
	else
		line->accepted = read_arguments(line->argc, line->argv, &line->command,
						&line->arena, &line->done) == SBXC_OK;
}

static bool takes_value(const struct line *line, const char *word)
{
	static const char *const both[] = { "-I", "-D", "--colour", "--color" };
	static const char *const one[] = { "-o", "--output" };
	static const char *const other[] = { "--workspace", "--home", "--target" };

	for (size_t i = 0; i < 4; i++)
		if (!strcmp(word, both[i]))
			return true;
	for (size_t i = 0; i < 3; i++)
		if (line->explain ? !strcmp(word, other[i]) : i < 2 && !strcmp(word, one[i]))
			return true;
	return false;
}

static bool is_known(const struct line *line, const char *word)
{
	static const char *const glued[] = { "-I", "-D", "--colour=", "--color=", "-o" };
	static const char *const compiles[] = { "--strip", "-n", "--check", "-v", "--verbose" };

	for (size_t i = 0; i < (line->explain ? 4 : 5); i++)
		if (!strncmp(word, glued[i], strlen(glued[i])))
			return true;
	for (size_t i = 0; !line->explain && i < 5; i++)
		if (!strcmp(word, compiles[i]))
			return true;
	return !strcmp(word, "--help") || !strcmp(word, "-h") ||
	       (line->explain && (!strcmp(word, "-q") || !strcmp(word, "--why-not")));
}

/* Where options may stand, there are none but those of the manual page. */
static void check_accepted(const struct line *line)
{
	int words = 0;

	for (int i = 1; i < line->argc && (!line->explain || words < 2); i++) {
		const char *word = line->argv[i];

		if (!line->explain && !strcmp(word, "--"))
			return;
		if (word[0] != '-' || (!word[1] && !(line->explain && words)))
			words++;
		else if (takes_value(line, word))
			i++;
		else if (!is_known(line, word))
			fuzz_fault("the unknown option '%s' was accepted", word);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line *line = calloc(1, sizeof(*line));

	line->argv[line->argc++] = strdup("sbxc");
	line->explain = size && data[0] == 'e';
	for (size_t at = 1; at < size && line->argc < WORDS_MAX;) {
		char *word = strndup((const char *)data + at, size - at);

		line->argv[line->argc++] = word;
		at += strlen(word) + 1;
	}
	launcher_run(parse, line);
	if (line->accepted && !line->done)
		check_accepted(line);
	for (int i = 0; i < line->argc; i++)
		free(line->argv[i]);
	arena_free(&line->arena);
	free(line);
	return 0;
}
