/*
 * sbxc: the subcommands.  A first word that is none of them is a policy to
 * compile, so `sbxc agents/claude.pol` does what a reader expects.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler/stages.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "compile", cmd_compile, "compile a policy (also: sbxc FILE)" },
	{ "lint", cmd_lint, "hold policies against the checklist" },
	{ "fmt", cmd_fmt, "lay out policy sources in the one way" },
	{ "explain", cmd_explain, "say what a policy decides, and which line does" },
	{ "show", cmd_show, "draw the whole policy, as a tree or as a page" },
	{ "diff", cmd_diff, "say what one policy allows and another does not" },
	{ "check", cmd_check, "say whether a policy stays within another" },
	{ "prove", cmd_prove, "try each claim of a policy inside the sandbox" },
	{ "proof-status", cmd_proof_status, "say whether the last proof still covers a policy" },
	{ "init", cmd_init, "write a first policy for a project, each line explained" },
	{ "install", cmd_install, "put a policy and a script that starts it in place" },
	{ "dump", cmd_dump, "print a compiled policy" },
	{ "verbs", cmd_verbs, "print every statement of the language" },
	{ "backends", cmd_backends, "print what each backend holds, and by what" },
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static int print_help(FILE *out)
{
	fputs("usage: sbxc [COMMAND] [OPTION ...] FILE\n\n", out);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].help);
	fputs("\nsbxc COMMAND --help says more; --version prints the version.\n", out);
	return out == stdout ? finish_output(SBXC_OK) : SBXC_USAGE;
}

/* A bare word that looks like a misspelled subcommand, and is no file either. */
static bool is_misspelled(const char *word)
{
	const char *names[COMMAND_COUNT];

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		names[i] = commands[i].name;
	if (strpbrk(word, "/.") || access(word, F_OK) == 0 ||
	    !suggest(str_from(word), names, COMMAND_COUNT))
		return false;
	usage_unknown("command", word, names, COMMAND_COUNT);
	return true;
}

int main(int argc, char **argv)
{
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error like others */
	if (argc < 2)
		return print_help(stderr);
	if (is_help(argv[1]) || strcmp(argv[1], "help") == 0)
		return print_help(stdout);
	if (strcmp(argv[1], "--version") == 0) {
		puts("sbxc " SBX_VERSION);
		return finish_output(SBXC_OK);
	}
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	}
	if (argv[1][0] != '-' && is_misspelled(argv[1]))
		return SBXC_USAGE;
	return cmd_compile(argc, argv);
}
