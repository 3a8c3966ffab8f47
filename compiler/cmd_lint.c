/*
 * sbxc lint: policies against the checklist, for a person or for CI.
 *
 * Findings go to standard error like the compiler's messages; standard output
 * has what a reviewer reads: each hole that a policy makes, with its reason.
 * In a form for programs the findings are what standard output has.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/lint_fix.h"
#include "compiler/lint_target.h"
#include "compiler/load.h"
#include "compiler/render.h"
#include "compiler/report.h"
#include "compiler/stages.h"

static const char help[] =
    "usage: sbxc lint [OPTION ...] FILE ...\n"
    "\n"
    "Holds each policy against the hardening checklist (docs/lint.md has every check)\n"
    "and lists its holes: the statements with a compat reason or as best-effort, and\n"
    "what modules claim and an override lifts.\n"
    "\n"
    "  -q, --quiet      findings only\n"
    "      --fix        mend what is mechanical, in the file or, of `-`, on standard\n"
    "                   output; says what was done, and finds what is left\n"
    "      --format text|json|sarif|github\n"
    "                   of the findings: text goes to standard error, the others to\n"
    "                   standard output; waived ones are in json and sarif\n"
    "      --here       look at the files of this machine, too: which of those that are\n"
    "                   kept shut have a second name\n"
    "      --target BACKEND[@ABI][,...]\n"
    "                   against these backends too, with this Landlock ABI (without:\n"
    "                   this kernel's): what one does not hold, and the policy cannot\n"
    "                   do without, is an error; where none is named, against\n"
    "                   those that the policy requires\n"
    "  -I DIR           look for names that are not std/ in DIR, too\n"
    "  -D NAME=VALUE    set a param of the policy\n"
    "      --colour auto|always|never\n"
    "\n"
    "Exit status: 0 nothing found; 1 findings or errors; 2 usage.\n";

/* Is the rule from a module that is imported as best-effort? */
static bool is_soft(const struct compilation *c, enum sbx_section_id section, uint32_t rule)
{
	const struct rule_head *head = c->blob.heads[section] ? c->blob.heads[section][rule] : NULL;

	for (size_t i = 0; head && i < c->soft.count; i++)
		if (head->place.span.source == c->soft.items[i].module->ast->source)
			return true;
	return false;
}

static void list_hole(struct compilation *c, const struct sbx_blob *blob,
		      enum sbx_section_id section, uint32_t rule)
{
	const struct sbx_head *head = render_head(blob, section, rule);

	printf("  %s: %s%s\n", render_places(&c->arena, blob, head->loc),
	       diag_escape(&c->arena, str_from(render_rule(&c->arena, blob, section, rule, 4))),
	       head->flags & SBX_F_BEST_EFFORT ? ": not enforced where a backend cannot" : "");
}

/* Each as one line: a module has many statements. */
static unsigned list_soft(struct compilation *c)
{
	unsigned holes = 0;

	for (size_t i = 0; i < c->soft.count; i++) {
		const struct noted_import *import = &c->soft.items[i];
		struct line_column at = source_locate(import->span.source, import->span.start);

		if (import->module->firm)
			continue;
		printf("  %s:%u: import %s best-effort: what it denies of files is not enforced "
		       "where a backend cannot\n",
		       import->span.source->name, at.line, import->module->id);
		holes++;
	}
	return holes;
}

static unsigned list_section(struct compilation *c, const struct sbx_blob *blob,
			     enum sbx_section_id section)
{
	unsigned holes = 0;

	for (uint32_t i = 0; i < blob->section[section].count; i++) {
		const struct sbx_head *head = render_head(blob, section, i);

		if (!head || !(head->flags & (SBX_F_COMPAT | SBX_F_BEST_EFFORT)))
			continue;
		if (!(head->flags & SBX_F_COMPAT) && is_soft(c, section, i))
			continue;
		list_hole(c, blob, section, i);
		holes++;
	}
	return holes;
}

static void list_holes(struct compilation *c, const char *path)
{
	struct sbx_blob blob;
	unsigned holes = 0;

	if (sbx_blob_open(c->blob.data, c->blob.size, &blob))
		BUG("our own blob is refused");
	printf("%s: holes, and why:\n", diag_escape(&c->arena, str_from(path)));
	for (enum sbx_section_id section = 1; section < SBX_SEC_COUNT; section++)
		holes += list_section(c, &blob, section);
	holes += list_soft(c);
	if (sbx_meta(&blob)->net_mode_head.flags & SBX_F_COMPAT) {
		const struct sbx_head *head = &sbx_meta(&blob)->net_mode_head;
		uint32_t why = SBX_AT(&blob, NOTES, sbx_note, head->note)->compat;

		printf("  %s: net { mode host compat \"%s\" }\n",
		       render_places(&c->arena, &blob, head->loc),
		       diag_escape(&c->arena, str_from(sbx_string(&blob, why))));
		holes++;
	}
	if (!holes)
		puts("  none");
}

static void list_lifted(struct compilation *c)
{
	for (size_t i = 0; i < c->lifted.count; i++) {
		const struct lifted *lifted = &c->lifted.items[i];

		printf("  %s: `%s` is void: %s overrides it\n", lifted->place,
		       diag_escape(&c->arena, str_from(lifted->text)), lifted->override);
	}
}

struct lint_command {
	struct compile_options options;
	struct targets targets;
	struct report report;
	const char **paths;
	size_t count;
	bool quiet, fix;
};

static bool compile_and_lint(struct compilation *c, const char *path)
{
	return compile_path(c, path) && lint_policy(c);
}

static bool lint_file(struct lint_command *command, const char *path)
{
	/* The holes are for a person: the other forms have a place for findings alone. */
	bool quiet = command->quiet || command->report.form != REPORT_TEXT || command->fix;
	struct compilation c;
	bool clean, written = true;

	compilation_init(&c, &command->options);
	clean = compile_and_lint(&c, path);
	if (command->fix)
		written = lint_fix(&c, path, compile_and_lint, clean);
	if (c.blob.size && !quiet) {
		list_holes(&c, path);
		list_lifted(&c);
	}
	if (clean) {
		struct targets targets = command->targets;

		if (!targets.count)
			targets_required(&c.arena, &targets, c.policy);
		if (targets.count)
			lint_targets(&c, &targets, quiet);
	}
	clean &= diag_warnings(c.diags) == 0 && diag_errors(c.diags) == 0;
	report_add(&command->report, c.diags);
	compilation_free(&c);
	return clean && written;
}

/* ---- the command line ------------------------------------------------------------------ */

static bool set_quiet(struct lint_command *command, struct arena *arena, const char *value)
{
	(void)arena, (void)value;
	return command->quiet = true;
}

static bool set_fix(struct lint_command *command, struct arena *arena, const char *value)
{
	(void)arena, (void)value;
	return command->fix = true;
}

static bool set_here(struct lint_command *command, struct arena *arena, const char *value)
{
	(void)arena, (void)value;
	return command->options.here = true;
}

static bool set_target(struct lint_command *command, struct arena *arena, const char *value)
{
	const char *wrong = targets_add(arena, &command->targets, value);

	if (wrong)
		usage_wrong("lint", wrong);
	return !wrong;
}

static bool set_format(struct lint_command *command, struct arena *arena, const char *value)
{
	if (report_form_named(value, &command->report.form))
		return true;
	fprintf(stderr, "sbxc lint: --format is text, json, sarif or github, not `%s`\n",
		diag_escape(arena, str_from(value)));
	return false;
}

static const struct option {
	const char *name, *short_name;
	bool takes_value;
	bool (*set)(struct lint_command *command, struct arena *arena, const char *value);
} own_options[] = {
	{ "--quiet", "-q", false, set_quiet },  { "--fix", NULL, false, set_fix },
	{ "--here", NULL, false, set_here },    { "--target", NULL, true, set_target },
	{ "--format", NULL, true, set_format },
};

#define OPTION_COUNT (sizeof(own_options) / sizeof(own_options[0]))

static int unknown_option(const char *word)
{
	const char *known[OPTION_COUNT + 2] = { "--colour", "--help" };

	for (size_t i = 0; i < OPTION_COUNT; i++)
		known[i + 2] = own_options[i].name;
	return usage_unknown("option", word, known, OPTION_COUNT + 2);
}

/* -1, or the status to exit with. */
static int read_option(struct lint_command *command, struct arena *arena, int argc, char **argv,
		       int *index)
{
	const char *word = argv[*index];

	if (common_option(argc, argv, index, &command->options, arena))
		return -1;
	if (is_help(word))
		return usage_print(stdout, help);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option *option = &own_options[i];
		size_t length = strlen(option->name);
		bool glued = option->takes_value && strncmp(word, option->name, length) == 0 &&
			     word[length] == '=';
		const char *value = glued ? word + length + 1 : NULL;

		if (!glued && strcmp(word, option->name) != 0 &&
		    (!option->short_name || strcmp(word, option->short_name) != 0))
			continue;
		if (option->takes_value && !value) {
			if (*index + 1 >= argc)
				return usage_print(stderr, help);
			value = argv[++*index];
		}
		return option->set(command, arena, value) ? -1 : SBXC_USAGE;
	}
	return unknown_option(word);
}

/* -1, or the status to exit with. */
static int read_arguments(struct lint_command *command, struct arena *arena, int argc, char **argv)
{
	bool words_only = false;

	command->paths = arena_array(arena, (size_t)argc, sizeof(*command->paths));
	for (int i = 1; i < argc; i++) {
		int status = -1;

		if (words_only || argv[i][0] != '-' || !argv[i][1])
			command->paths[command->count++] = argv[i];
		else if (strcmp(argv[i], "--") == 0)
			words_only = true;
		else
			status = read_option(command, arena, argc, argv, &i);
		if (status >= 0)
			return status;
	}
	return command->count ? -1 : usage_print(stderr, help);
}

int cmd_lint(int argc, char **argv)
{
	struct lint_command command = { .report.out = stdout };
	struct arena arena = { 0 };
	int status = read_arguments(&command, &arena, argc, argv);

	if (status < 0) {
		bool clean = true;

		report_begin(&command.report);
		for (size_t i = 0; i < command.count; i++)
			clean &= lint_file(&command, command.paths[i]);
		report_end(&command.report);
		status = finish_output(clean ? SBXC_OK : SBXC_ERRORS);
	}
	arena_free(&arena);
	return status;
}
