/*
 * compiler/cmd_diff.c - sbxc diff and sbxc check: what one policy allows and another
 * does not.
 *
 *	widened   files        write /home/u/w/x
 *	    old   refused      deny write $workspace   old.pol:9
 *	    new   allowed      workspace $cwd          new.pol:3
 */
#include <stdio.h>
#include <string.h>

#include "compiler/diff.h"
#include "compiler/stages.h"

/* By direction; 1 and 2 are SBXC_ERRORS and SBXC_USAGE. */
enum { EXIT_NARROWED = 3, EXIT_WIDENED = 4, EXIT_BOTH = 5, EXIT_CUT = 6 };

struct request {
	struct compile_options options;
	const char *path[DIFF_SIDES];
	unsigned path_count;
	const char *within;
	void (*print)(const struct diff *diff, FILE *out); /* NULL: text */
	bool quiet;
};

static const char diff_help[] =
    "usage: sbxc diff [-q] [--format text|json|sarif] [--sarif] [-I DIR] OLD NEW\n"
    "OLD and NEW are policies or blobs; one of them may be `-`.  Says what NEW allows\n"
    "and OLD does not (widened), and what only OLD allows (narrowed): each with a witness\n"
    "on which they decide differently, and the rules that decide it.\n"
    "  -q              the exit status alone\n"
    "  --format FORMAT text, json, or sarif for code review; --sarif is short for it\n"
    "Exit status: 0 they allow the same; 3 only narrowed; 4 only widened; 5 both;\n"
    "6 too much to compare: there may be more; 1 one of them cannot be read; 2 usage.\n";

static const char check_help[] =
    "usage: sbxc check [-q] [--format text|json|sarif] [--sarif] [-I DIR]\n"
    "                  --within SITE POLICY\n"
    "Does POLICY allow anything that SITE does not?  Each is a policy or a blob, SITE an\n"
    "upper bound; one of them may be `-`.  Shows a witness for all that goes outside.\n"
    "  -q              the exit status alone\n"
    "  --format FORMAT text, json, or sarif for code review; --sarif is short for it\n"
    "Exit status: 0 all is within; 1 something is not, or one of them cannot be read;\n"
    "6 too much to compare: there may be something; 2 usage.\n";

static bool set_format(struct request *request, const char *name)
{
	if (!strcmp(name, "text"))
		request->print = NULL;
	else if (!strcmp(name, "json"))
		request->print = diff_print_json;
	else if (!strcmp(name, "sarif"))
		request->print = diff_print_sarif;
	else
		return false;
	return true;
}

static int bad_format(const char *name)
{
	struct arena arena = { 0 };

	fprintf(stderr, "sbxc: --format is text, json or sarif, not `%s`\n",
		diag_escape(&arena, str_from(name)));
	arena_free(&arena);
	return SBXC_USAGE;
}

static int run(const struct request *request)
{
	struct compilation side[DIFF_SIDES];
	struct sbx_blob blob[DIFF_SIDES];
	struct arena arena = { 0 };
	struct diff diff = { .arena = &arena, .within = request->within };
	int status = SBXC_ERRORS;
	bool good = true;

	for (unsigned i = 0; i < DIFF_SIDES; i++) {
		compilation_init(&side[i], &request->options);
		good &= open_blob_or_compile(&side[i], request->path[i], &blob[i]);
		diff.side[i].blob = &blob[i];
	}
	if (good) {
		diff_run(&diff);
		if (!request->quiet && request->print)
			request->print(&diff, stdout);
		else if (!request->quiet)
			diff_print_text(&diff, stdout, colour_on(stdout));
		status = (int)diff_directions(&diff);
		if (status)
			status = request->within ? SBXC_ERRORS : status + EXIT_NARROWED - 1;
		/* What was found holds, and that something is outside is an answer. */
		if (diff.cut && !(request->within && status))
			status = EXIT_CUT;
	}
	if (good && diff.cut)
		fprintf(stderr, "sbxc: too much to compare, so not compared further: %s\n",
			diff.cut);
	for (unsigned i = 0; i < DIFF_SIDES; i++)
		compilation_free(&side[i]);
	arena_free(&arena);
	return finish_output(status);
}

/* One command line of either; @is_check takes --within. */
static int parse(int argc, char **argv, bool is_check, struct request *request, struct arena *arena)
{
	static const char *const known[] = { "--quiet",  "--format", "--sarif",
					     "--colour", "--help",   "--within" };
	bool words_only = false;

	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];

		if (words_only || word[0] != '-' || !word[1]) {
			if (request->path_count == DIFF_SIDES)
				return -1;
			request->path[request->path_count++] = word;
		} else if (!strcmp(word, "--")) {
			words_only = true;
		} else if (common_option(argc, argv, &i, &request->options, arena)) {
			continue;
		} else if (!strcmp(word, "-q") || !strcmp(word, "--quiet")) {
			request->quiet = true;
		} else if (!strcmp(word, "--sarif")) {
			set_format(request, "sarif");
		} else if (!strncmp(word, "--format=", 9) ||
			   (!strcmp(word, "--format") && argv[i + 1])) {
			const char *name = word[8] ? word + 9 : argv[++i];

			if (!set_format(request, name))
				return bad_format(name);
		} else if (is_check && !strcmp(word, "--within") && argv[i + 1]) {
			request->within = argv[++i];
		} else {
			return usage_unknown("option", word, known,
					     sizeof(known) / sizeof(*known) - !is_check);
		}
	}
	return SBXC_OK;
}

static bool asks_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (is_help(argv[i]))
			return true;
	return false;
}

static int compare(int argc, char **argv, bool is_check)
{
	const char *help = is_check ? check_help : diff_help;
	struct request request = { 0 };
	struct arena arena = { 0 };
	int status;

	if (asks_help(argc, argv))
		return usage_print(stdout, help);
	status = parse(argc, argv, is_check, &request, &arena);
	if (is_check && !status && request.within) {
		request.path_count++;
		request.path[1] = request.path_count == DIFF_SIDES ? request.path[0] : NULL;
		request.path[0] = request.within;
	}
	if (status == SBXC_OK &&
	    (request.path_count != DIFF_SIDES || is_check != !!request.within || !request.path[1]))
		status = -1;
	if (status == SBXC_OK && !strcmp(request.path[0], "-") && !strcmp(request.path[1], "-")) {
		fputs("sbxc: only one of the two can be standard input\n", stderr);
		status = SBXC_USAGE;
	}
	if (status == SBXC_OK)
		status = run(&request);
	else if (status < 0)
		status = usage_print(stderr, help);
	arena_free(&arena);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	return compare(argc, argv, false);
}

int cmd_check(int argc, char **argv)
{
	return compare(argc, argv, true);
}
