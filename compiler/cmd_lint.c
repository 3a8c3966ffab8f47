/*
 * sbxc lint: policies against the checklist, for a person or for CI.
 *
 * Findings go to standard error like the compiler's messages; standard output
 * has what a reviewer reads: each hole that a policy makes, with its reason.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/lint_target.h"
#include "compiler/load.h"
#include "compiler/render.h"
#include "compiler/stages.h"

static int usage(FILE *out)
{
	fputs("usage: sbxc lint [-q] [--target BACKEND[@ABI]] [-I DIR] [-D NAME=VALUE] FILE ...\n"
	      "\n"
	      "Holds each policy against the hardening checklist and lists its holes: the\n"
	      "statements with a compat reason or as best-effort, and what modules claim and\n"
	      "an override lifts.  -q: findings only.  --target: and against that backend, with\n"
	      "this Landlock ABI (without: this kernel's): what it does not hold, and the policy\n"
	      "cannot do without, is an error.\n"
	      "Exit status: 0 nothing found; 1 findings or errors; 2 usage.\n",
	      out);
	return out == stdout ? finish_output(SBXC_OK) : SBXC_USAGE;
}

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

static bool lint_file(const struct compile_options *options, struct targets *targets,
		      const char *path, bool quiet)
{
	struct compilation c;
	bool clean;

	compilation_init(&c, options);
	clean = compile_path(&c, path);
	if (clean)
		lint_policy(&c);
	if (c.blob.size && !quiet) {
		list_holes(&c, path);
		list_lifted(&c);
	}
	if (clean && targets->count)
		lint_targets(&c, targets, quiet);
	clean &= diag_warnings(c.diags) == 0 && diag_errors(c.diags) == 0;
	diag_flush(c.diags, stderr, colour_on(stderr));
	compilation_free(&c);
	return clean;
}

int cmd_lint(int argc, char **argv)
{
	static const char *const known[] = { "--quiet", "--target", "--colour", "--help" };
	struct targets targets = { 0 };
	struct compile_options options = { 0 };
	struct arena arena = { 0 };
	const char **paths = arena_array(&arena, (size_t)argc, sizeof(*paths));
	size_t count = 0;
	bool quiet = false, clean = true, words_only = false;

	for (int i = 1; i < argc; i++) {
		if (words_only || argv[i][0] != '-' || !argv[i][1])
			paths[count++] = argv[i];
		else if (strcmp(argv[i], "--") == 0)
			words_only = true;
		else if (common_option(argc, argv, &i, &options, &arena))
			continue;
		else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return usage(stdout);
		else if (strcmp(argv[i], "-q") == 0 || strcmp(argv[i], "--quiet") == 0)
			quiet = true;
		else if (strcmp(argv[i], "--target") == 0 && i + 1 < argc) {
			const char *wrong = targets_add(&arena, &targets, argv[++i]);

			if (!wrong)
				continue;
			fprintf(stderr, "sbxc lint: %s\n", diag_escape(&arena, str_from(wrong)));
			arena_free(&arena);
			return SBXC_USAGE;
		} else
			return usage_unknown("option", argv[i], known,
					     sizeof(known) / sizeof(*known));
	}
	if (!count)
		return usage(stderr);
	for (size_t i = 0; i < count; i++)
		clean &= lint_file(&options, &targets, paths[i], quiet);
	arena_free(&arena);
	return finish_output(clean ? SBXC_OK : SBXC_ERRORS);
}
