/*
 * sbxc compile: the stages, one after the other.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler/lower.h"
#include "compiler/stages.h"

void compilation_init(struct compilation *c, const struct compile_options *options)
{
	*c = (struct compilation){ .options = *options };
	c->diags = diags_new(&c->arena);
}

void compilation_free(struct compilation *c)
{
	if (c->jobs)
		compilation_free(c->jobs);
	arena_free(&c->arena);
}

static bool emit(struct compilation *c, bool strip, struct emitted *out)
{
	const char *reason = emit_policy(&c->arena, c->policy, strip, out);

	if (reason)
		diag_error(c->diags, DIAG_E0101, c->policy->head.place.span,
			   "cannot write this policy out: %s", reason);
	return !reason;
}

bool compile_path(struct compilation *c, const char *path)
{
	struct program *program;
	struct emitted blob;

	c->input = path;
	program = load_program(c, path);
	if (diag_errors(c->diags) || !program)
		return false;
	c->policy = lower_program(c, program);
	if (diag_errors(c->diags))
		return false;
	compile_jobs_policy(c, program);
	if (diag_errors(c->diags) || !emit(c, false, &blob))
		return false;
	check_claims(c, program, &blob);
	if (diag_errors(c->diags))
		return false;
	if ((c->options.strip || c->lifted.count) && !emit(c, c->options.strip, &blob))
		return false;
	c->blob = blob;
	return true;
}

/* ---- the command -------------------------------------------------------------------------- */

struct compile_command {
	struct compile_options options;
	const char *output; /* -o, or NULL */
	const char *input;
	bool check_only, verbose;
};

static const char help[] =
    "usage: sbxc [compile] [OPTION ...] FILE\n"
    "\n"
    "  -o OUT           write the blob to OUT (`-`: standard output);\n"
    "                   else to ~/.local/share/sbx/NAME.sbx\n"
    "  -n, --check      check only, write nothing\n"
    "  -v, --verbose    say where the blob went\n"
    "      --strip      leave the source locations out\n"
    "  -I DIR           look for names that are not std/ in DIR, too\n"
    "  -D NAME=VALUE    set a param of the policy\n"
    "      --colour auto|always|never\n"
    "\n"
    "FILE is a policy, `-` for standard input, or the name of an installed one.\n";

/* True: the option at *index was read; *status is set where that ends it all. */
static bool read_option(int argc, char **argv, int *index, struct compile_command *command,
			struct arena *arena, int *status)
{
	static const char *const known[] = { "--strip",  "--check",  "--verbose",
					     "--colour", "--output", "--help" };
	const char *word = argv[*index];

	if (common_option(argc, argv, index, &command->options, arena))
		return true;
	if (is_help(word)) {
		*status = usage_print(stdout, help);
	} else if (strcmp(word, "--strip") == 0) {
		command->options.strip = true;
	} else if (strcmp(word, "-n") == 0 || strcmp(word, "--check") == 0) {
		command->check_only = true;
	} else if (strcmp(word, "-v") == 0 || strcmp(word, "--verbose") == 0) {
		command->verbose = true;
	} else if (strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0) {
		if (*index + 1 >= argc) {
			fputs("sbxc: -o needs a file\n", stderr);
			*status = SBXC_USAGE;
		} else {
			command->output = argv[++*index];
		}
	} else if (strncmp(word, "-o", 2) == 0 && word[2]) {
		command->output = word + 2;
	} else {
		*status = usage_unknown("option", word, known, sizeof(known) / sizeof(known[0]));
	}
	return true;
}

/* SBXC_OK, or the status to exit with; @help is set when there is nothing to do. */
static int read_arguments(int argc, char **argv, struct compile_command *command,
			  struct arena *arena, bool *done)
{
	bool options = true;
	int status = -1;

	for (int i = 1; i < argc; i++) {
		if (options && strcmp(argv[i], "--") == 0) {
			options = false;
		} else if (options && argv[i][0] == '-' && argv[i][1]) {
			read_option(argc, argv, &i, command, arena, &status);
			*done = status >= 0;
			if (*done)
				return status;
		} else if (command->input) {
			fprintf(stderr, "sbxc: one file at a time: `%s` and `%s`\n",
				diag_escape(arena, str_from(command->input)),
				diag_escape(arena, str_from(argv[i])));
			return SBXC_USAGE;
		} else {
			command->input = argv[i];
		}
	}
	if (command->input)
		return SBXC_OK;
	return usage_print(stderr, help);
}

static int write_out(struct compilation *c, const struct compile_command *command)
{
	const char *path = command->output;

	if (command->check_only)
		return SBXC_OK;
	if (!path)
		path = output_default(&c->arena, c->policy->name, "-o");
	if (!path || output_is_input(c, path) || !output_write(path, c->blob.data, c->blob.size))
		return SBXC_ERRORS;
	if (strcmp(path, "-") != 0 &&
	    (command->verbose || (!command->output && isatty(STDERR_FILENO))))
		fprintf(stderr, "sbxc: wrote %s (%zu bytes)\n",
			diag_escape(&c->arena, str_from(path)), c->blob.size);
	return SBXC_OK;
}

int cmd_compile(int argc, char **argv)
{
	struct compile_command command = { 0 };
	struct arena arena = { 0 };
	struct compilation c;
	bool done = false;
	int status = read_arguments(argc, argv, &command, &arena, &done);

	if (done || status != SBXC_OK) {
		arena_free(&arena);
		return status;
	}
	compilation_init(&c, &command.options);
	bool good = compile_path(&c, command.input);
	diag_flush(c.diags, stderr, colour_on(stderr));
	status = good ? write_out(&c, &command) : SBXC_ERRORS;
	compilation_free(&c);
	arena_free(&arena);
	return status;
}
