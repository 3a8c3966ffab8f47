/*
 * What the subcommands share on their command lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/stages.h"

enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
static enum colour colour; /* set by --colour, once, before anything is printed */

bool colour_on(FILE *stream)
{
	const char *no_colour = getenv("NO_COLOR");

	if (colour != COLOUR_AUTO)
		return colour == COLOUR_ALWAYS;
	return isatty(fileno(stream)) && !(no_colour && *no_colour);
}

_Noreturn static void fail_usage(const char *message, const char *word)
{
	struct arena arena = { 0 };

	fprintf(stderr, "sbxc: %s%s\n", message, diag_escape(&arena, str_from(word)));
	arena_free(&arena);
	exit(SBXC_USAGE);
}

/* The value of -I, -D or --colour: glued, after `=`, or the next argument. */
static const char *option_value(int argc, char **argv, int *index, const char *option)
{
	size_t len = strlen(option);
	const char *word = argv[*index];

	if (word[len])
		return word + len + (word[len] == '=' && word[1] == '-');
	if (*index + 1 >= argc)
		fail_usage("a value is missing after ", option);
	return argv[++*index];
}

static void set_colour(const char *value)
{
	if (strcmp(value, "auto") == 0)
		colour = COLOUR_AUTO;
	else if (strcmp(value, "always") == 0)
		colour = COLOUR_ALWAYS;
	else if (strcmp(value, "never") == 0)
		colour = COLOUR_NEVER;
	else
		fail_usage("--colour is auto, always or never, not ", value);
}

static void add_include(struct compile_options *options, const char *dir, struct arena *arena)
{
	const char **dirs = arena_array(arena, options->include_dir_count + 1, sizeof(*dirs));

	for (size_t i = 0; i < options->include_dir_count; i++)
		dirs[i] = options->include_dirs[i];
	dirs[options->include_dir_count++] = dir;
	options->include_dirs = dirs;
}

static void add_define(struct compile_options *options, const char *text, struct arena *arena)
{
	struct define *defines = arena_array(arena, options->define_count + 1, sizeof(*defines));
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		fail_usage("-D takes NAME=VALUE, not ", text);
	for (size_t i = 0; i < options->define_count; i++)
		defines[i] = options->defines[i];
	defines[options->define_count++] = (struct define){
		.name = arena_copy(arena, text, (size_t)(equals - text)),
		.value = equals + 1,
	};
	options->defines = defines;
}

bool common_option(int argc, char **argv, int *index, struct compile_options *options,
		   struct arena *arena)
{
	const char *word = argv[*index];

	if (strncmp(word, "-I", 2) == 0)
		add_include(options, option_value(argc, argv, index, "-I"), arena);
	else if (strncmp(word, "-D", 2) == 0)
		add_define(options, option_value(argc, argv, index, "-D"), arena);
	else if (strcmp(word, "--colour") == 0 || strncmp(word, "--colour=", 9) == 0)
		set_colour(option_value(argc, argv, index, "--colour"));
	else if (strcmp(word, "--color") == 0 || strncmp(word, "--color=", 8) == 0)
		set_colour(option_value(argc, argv, index, "--color"));
	else
		return false;
	return true;
}

bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

int usage_print(FILE *out, const char *help)
{
	fputs(help, out);
	return out == stdout ? finish_output(SBXC_OK) : SBXC_USAGE;
}

int usage_wrong(const char *command, const char *wrong)
{
	struct arena arena = { 0 };

	fprintf(stderr, "sbxc %s: %s\n", command, diag_escape(&arena, str_from(wrong)));
	arena_free(&arena);
	return SBXC_USAGE;
}

int usage_end(const char *command, const char *wrong, bool asked, const char *help)
{
	if (wrong && !asked)
		return usage_wrong(command, wrong);
	return usage_print(asked ? stdout : stderr, help);
}

int read_markdown(int argc, char **argv, bool *markdown)
{
	static const char *const known[] = { "--markdown", "--help" };

	for (int i = 1; i < argc; i++) {
		if (is_help(argv[i])) {
			printf("usage: sbxc %s [--markdown]\n", argv[0]);
			return finish_output(SBXC_OK);
		}
		if (strcmp(argv[i], "--markdown") != 0)
			return usage_unknown("option", argv[i], known, 2);
		*markdown = true;
	}
	return -1;
}

int usage_unknown(const char *what, const char *word, const char *const *known, size_t count)
{
	const char *near = suggest(str_from(word), known, count);
	struct arena arena = { 0 };

	fprintf(stderr, "sbxc: unknown %s `%s`\n", what, diag_escape(&arena, str_from(word)));
	if (near)
		fprintf(stderr, "sbxc: did you mean `%s`?\n", near);
	arena_free(&arena);
	return SBXC_USAGE;
}
