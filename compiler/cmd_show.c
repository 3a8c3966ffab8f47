/*
 * sbxc show: the whole policy, as a tree for a terminal or as a page.
 */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "compiler/render.h"
#include "compiler/show.h"
#include "compiler/stages.h"

#define WIDEST    100
#define NARROWEST 50

static const char help[] =
    "usage: sbxc show [-q] [--html FILE] [-I DIR] [-D NAME=VALUE] BLOB|POLICY\n"
    "\n"
    "Draws the whole policy: which files are visible, readable, writable, private,\n"
    "hidden or sealed, with the holes and their reasons; environment, network, system\n"
    "calls, limits, what each backend holds.  -q: shorter.  --html: one page that\n"
    "needs nothing else, written to FILE; - is standard output.\n"
    "Exit status: 0; 1 the file cannot be read as either, or not be written; 2 usage.\n";

static unsigned width_of_terminal(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col > WIDEST ||
	    size.ws_col < NARROWEST)
		return WIDEST;
	return size.ws_col;
}

/* @workspace: a job's, which is its session's; NULL: the policy's own. */
static void draw_policy(struct show *show, const char *workspace)
{
	model_vars(show->arena, show->blob, &show->vars);
	if (workspace)
		show->vars.value[SBX_VAR_WORKSPACE] = workspace;
	model_fs_set(show->arena, show->blob, &show->vars, &show->set);
	show_holes(show);
	show_files(show);
	show_environment(show);
	show_network(show);
	show_process(show);
	show_jobs(show);
	show_calls(show);
	if (show->blob->header->kind == SBX_POLICY)
		show_backends(show); /* a site policy is launched by none */
	show_claims(show);
}

/* The policy of jobs behind it, by the same parts. */
static void draw_jobs(struct show *show, struct sbx_blob *jobs)
{
	struct show of_jobs = { .arena = show->arena, .blob = jobs };

	if (!sbx_blob_jobs(show->blob, jobs))
		return;
	draw_policy(&of_jobs, show->vars.value[SBX_VAR_WORKSPACE]);
	for (size_t i = 0; i < of_jobs.parts.count; i++) {
		struct show_part *part = &of_jobs.parts.items[i];

		part->id = arena_printf(show->arena, "jobs-%s", part->id);
		part->title = arena_printf(show->arena, "Jobs: %s", part->title);
		*VEC_PUSH(show->arena, &show->parts) = *part;
	}
}

static bool draw(struct compilation *c, const struct sbx_blob *blob, const char *html, bool quiet)
{
	struct show show = { .arena = &c->arena, .blob = blob };
	struct sbx_blob jobs;
	struct text page;

	draw_policy(&show, NULL);
	draw_jobs(&show, &jobs);
	if (!html) {
		show_print(&show, quiet, colour_on(stdout), width_of_terminal());
		return true;
	}
	page = show_html(&show, quiet);
	if (!strcmp(html, "-"))
		return fwrite(page.bytes.items, 1, page.bytes.count, stdout) == page.bytes.count;
	return !output_is_input(c, html) && output_write(html, page.bytes.items, page.bytes.count);
}

int cmd_show(int argc, char **argv)
{
	static const char *const known[] = { "--html", "--quiet", "--colour", "--help" };
	struct compile_options options = { 0 };
	struct compilation compilation;
	struct arena arena = { 0 };
	const char *path = NULL, *html = NULL;
	struct sbx_blob blob;
	bool quiet = false, done;

	for (int i = 1; i < argc; i++) {
		if (common_option(argc, argv, &i, &options, &arena))
			continue;
		if (is_help(argv[i]))
			return usage_print(stdout, help);
		if (!strcmp(argv[i], "-q") || !strcmp(argv[i], "--quiet"))
			quiet = true;
		else if (!strcmp(argv[i], "--html") && i + 1 < argc)
			html = argv[++i];
		else if (!strncmp(argv[i], "--html=", 7) && argv[i][7])
			html = argv[i] + 7;
		else if (argv[i][0] == '-' && argv[i][1])
			return usage_unknown("option", argv[i], known,
					     sizeof(known) / sizeof(*known));
		else if (path)
			return usage_print(stderr, help);
		else
			path = argv[i];
	}
	if (!path)
		return usage_print(stderr, help);
	compilation_init(&compilation, &options);
	done = open_blob_or_compile(&compilation, path, &blob) &&
	       draw(&compilation, &blob, html, quiet);
	compilation_free(&compilation);
	arena_free(&arena);
	return finish_output(done ? SBXC_OK : SBXC_ERRORS);
}
