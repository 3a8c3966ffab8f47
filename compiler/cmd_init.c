/*
 * sbxc init: a first policy for a project.
 *
 * It goes to ~/.config/sbx, which std/secrets seals: a policy in the project
 * could be rewritten by the program that it is for.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blob/contest.h"
#include "compiler/init.h"
#include "compiler/stages.h"

struct request {
	const char *output, *agent, *dir;
	bool force;
};

static const char help[] =
    "usage: sbxc init [--agent NAME] [--force] [-o FILE] [DIR]\n"
    "\n"
    "Looks at this machine and at the project in DIR (else: here), and writes a policy\n"
    "for it in which each line is explained, to ~/.config/sbx/NAME.pol.\n"
    "  --agent NAME  for this one and not the first found on PATH: claude, codex, gemini,\n"
    "                opencode, aider, or shell, which is none\n"
    "  --force       overwrite the file\n"
    "  -o FILE       write it there; - is standard output\n"
    "Names are looked at, no contents.  Exit status: 0; 1 not written; 2 usage.\n";

static bool fail(struct arena *arena, const char *path, const char *what)
{
	fprintf(stderr, "sbxc: %s: %s\n", diag_escape(arena, str_from(path)), what);
	return false;
}

/* The last part of the project's path, as far as it makes a name. */
static const char *name_of(struct arena *arena, const char *project)
{
	struct text name = { .arena = arena };

	for (const char *at = strrchr(project, '/') + 1; *at; at++) {
		bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
			     (*at >= '0' && *at <= '9');

		if (plain || (name.bytes.count && name.bytes.count < 60 && strchr("-_.", *at)))
			text_byte(&name, *at);
	}
	return name.bytes.count ? text_end(&name) : "project";
}

/* The launcher takes no workspace that is or holds the home directory. */
static bool holds_home(const struct init *init)
{
	const char *home = home_dir(init->arena);
	char *real = home ? realpath(home, NULL) : NULL;
	bool held = real && sbx_path_beneath(init->project, real) >= 0;

	free(real);
	return held;
}

static const char *default_file(struct init *init)
{
	const char *dir = output_home(init->arena, ".config/sbx", "policy", "-o");

	return dir ? arena_printf(init->arena, "%s/%s.pol", dir, init->name) : NULL;
}

static bool in_project(const struct init *init, const char *path)
{
	char *real = realpath(path, NULL);
	bool in = real && sbx_path_beneath(init->project, real) >= 0;

	free(real);
	return in;
}

/* What has to be there before it starts, and what sbxc install would not refuse. */
static void say_next(struct init *init, const char *path)
{
	bool in = in_project(init, path);
	const char *shown = diag_escape(init->arena, str_from(path));

	printf("%s\n", shown);
	if (init->keys.count)
		printf("No key is there yet%s:\n",
		       init->any_key && init->keys.count > 1 ? "; one of these is enough" : "");
	for (size_t i = 0; i < init->keys.count; i++)
		printf("  %s\n", diag_escape(init->arena, str_from(init->keys.items[i])));
	printf("Read it, then: ");
	if (in)
		printf("move it out of the project, whose programs could change it there, and: ");
	printf("sbxc install %s && %s-sbx\n", in ? "FILE" : shown, init->name);
	printf(
	    "  Start %s-sbx in the project; it is put into ~/.local/bin, which PATH has to hold\n",
	    init->name);
}

/* By which name backends speak of it; none of the library's by that name is meant. */
static const char *place_of(const struct init *init, const char *path, bool out)
{
	if (out)
		return arena_printf(init->arena, "./%s.pol", init->name);
	return strchr("/.", *path) ? path : arena_printf(init->arena, "./%s", path);
}

static bool write_policy(struct init *init, const struct request *request)
{
	const char *path = request->output ? request->output : default_file(init);
	bool out = path && !strcmp(path, "-"), there;
	struct str policy;
	struct stat st;

	if (!path)
		return false;
	if (!out && !request->force && lstat(path, &st) == 0)
		return fail(init->arena, path, "is there already: --force overwrites it");
	if (!init_check(init, init_draft(init), place_of(init, path, out)))
		return false;
	policy = init_lay_out(init, init_policy(init)); /* now with what was found */
	if (out)
		return fwrite(policy.ptr, 1, policy.len, stdout) == policy.len;
	if (request->force) {
		if (!output_write(path, policy.ptr, policy.len))
			return false;
	} else if (!output_create(path, policy.ptr, policy.len, &there)) {
		/* It was not, before the backends were asked, which takes its time. */
		return there && fail(init->arena, path,
				     "another sbxc was first: --force overwrites what it wrote");
	}
	say_next(init, path);
	return true;
}

static bool make(struct init *init, const struct request *request)
{
	const char *dir = request->dir ? request->dir : ".";
	char *real = realpath(dir, NULL);
	struct stat st;

	if (!real || stat(real, &st) != 0 || !S_ISDIR(st.st_mode)) {
		fail(init->arena, dir, real ? strerror(ENOTDIR) : strerror(errno));
		free(real);
		return false;
	}
	init->project = arena_copy(init->arena, real, strlen(real));
	init->name = name_of(init->arena, init->project);
	free(real);
	if (holds_home(init))
		return fail(init->arena, init->project,
			    "your home directory is no project: go to one, or name it");
	return init_read_table(init) && init_choose_agent(init, request->agent) &&
	       write_policy(init, request);
}

int cmd_init(int argc, char **argv)
{
	static const char *const known[] = { "--agent", "--force", "--help" };
	struct request request = { 0 };
	struct arena arena = { 0 };
	struct init init = { .arena = &arena };
	bool done;

	for (int i = 1; i < argc; i++) {
		if (is_help(argv[i]))
			return usage_print(stdout, help);
		if (!strcmp(argv[i], "--force"))
			request.force = true;
		else if (!strcmp(argv[i], "--agent") && i + 1 < argc)
			request.agent = argv[++i];
		else if (!strcmp(argv[i], "-o") && i + 1 < argc)
			request.output = argv[++i];
		else if (argv[i][0] == '-')
			return usage_unknown("option", argv[i], known,
					     sizeof(known) / sizeof(*known));
		else if (request.dir)
			return usage_print(stderr, help);
		else
			request.dir = argv[i];
	}
	done = make(&init, &request);
	arena_free(&arena);
	return finish_output(done ? SBXC_OK : SBXC_ERRORS);
}
