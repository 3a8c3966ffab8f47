/*
 * stub/options.c - one table of options: it parses and it is the help.
 */
#include "stub/options.h"

#include <string.h>
#include <unistd.h>

#include "blob/enforce.h"
#include "stub/out.h"

enum option_id {
	OPTION_BACKEND,
	OPTION_WORKSPACE,
	OPTION_DEFINE,
	OPTION_NET_LOG,
	OPTION_SLURM_LOG,
	OPTION_JOB,
	OPTION_DIGEST,
	OPTION_DRY_RUN,
	OPTION_CHECK,
	OPTION_VERBOSE,
	OPTION_QUIET,
	OPTION_HELP,
	OPTION_VERSION,
};
/* In the order of enum option_id: name, letter, what follows, help.  One text and
 * not a table of pointers, each of which would have to be adjusted at the start. */
static const char table[] =
    "--backend\0\0NAME,...\0auto, or those of bwrap, firejail, landlock that may be taken\0"
    "--workspace\0\0DIR\0instead of the policy's workspace\0"
    "--define\0-D\0NAME=VALUE\0give a parameter of the policy a value\0"
    "--net-log\0\0FILE\0append what the proxy decides to it, a JSON line each\0"
    "--slurm-log\0\0FILE\0the same for what is decided about Slurm\0"
    "--job\0\0DIR\0run the job in it\0"
    "--digest\0\0SHA256\0of that job\0"
    "--dry-run\0\0\0print the plan and start nothing\0"
    "--check\0\0\0can this machine enforce the policy, and how?\0"
    "--verbose\0-v\0\0say what was skipped, and why\0"
    "--quiet\0-q\0\0only errors\0"
    "--help\0-h\0\0this text\0"
    "--version\0\0\0the version\0";
struct option {
	const char *name, *letter, *value, *help; /* "": none */
};

/* The option at *@at; moves it to the next.  False: that was the last. */
static bool next_option(const char **at, struct option *out)
{
	const char **words[] = { &out->name, &out->letter, &out->value, &out->help };

	if (!**at)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		*words[i] = *at;
		*at += strlen(*at) + 1;
	}
	return true;
}

static _Noreturn void print_help(void)
{
	const char *at = table;
	struct option option;

	out_print(
	    STDOUT_FILENO,
	    "usage: sbx-exec [OPTION...] BLOB|NAME [--] [COMMAND [ARGUMENT...]]\n"
	    "Runs COMMAND (or the policy's own) in the current directory, inside the policy.\n\n"
	    "BLOB is a path with a / or the suffix .sbx; NAME is looked for as\n"
	    "~/.local/share/sbx/NAME.sbx, /usr/local/share/sbx/blobs/NAME.sbx and\n"
	    "/usr/share/sbx/blobs/NAME.sbx.\n\n");
	while (next_option(&at, &option)) {
		char left[64];
		size_t length = out_text(left, sizeof(left), "  %s%s%s %s", option.letter,
					 *option.letter ? ", " : "", option.name, option.value);

		while (length < 28)
			left[length++] = ' ';
		left[length] = '\0';
		out_print(STDOUT_FILENO, "%s%s\n", left, option.help);
	}
	out_print(
	    STDOUT_FILENO,
	    "\nExit status: the command's own, 128 + the signal that ended it, 124 when the\n"
	    "policy's wall-time is over, 125 when sbx-exec refuses, 126 when the command cannot\n"
	    "be executed, 127 when it is not found.\n");
	_exit(0);
}

void options_define(struct options *out, const char *text)
{
	const char *equals = strchr(text, '=');
	struct define *define;

	if (!equals || equals == text)
		refuse("-D wants NAME=VALUE, not '%s'", text);
	if (out->define_count == SBX_PARAM_MAX)
		refuse("more than %d -D options", SBX_PARAM_MAX);
	define = &out->defines[out->define_count++];
	define->name = text;
	define->value = equals + 1;
	for (unsigned i = 0; i + 1 < out->define_count; i++)
		if (!strncmp(out->defines[i].name, text, (size_t)(equals - text) + 1))
			refuse("-D %.*s is given twice", (int)(equals - text), text);
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !strncmp(text, word, length);
}

/* "auto", or names with commas between them. */
static void set_backends(struct options *out, const char *names)
{
	out->backends = 0;
	out->choices++;
	for (const char *name = names; name; name = *name ? name + 1 : NULL) {
		size_t length = strcspn(name, ",");
		unsigned chosen = 0;

		for (enum sbx_backend kind = 0; kind < SBX_BACKEND_COUNT; kind++)
			if (is_word(name, length, "auto") ||
			    is_word(name, length, sbx_backend_name(kind)))
				chosen |= 1u << kind;
		if (is_word(name, length, "native"))
			refuse("--backend native: not in this version: use auto");
		if (!chosen)
			refuse("--backend %.*s: no such backend: use auto, bwrap, firejail or "
			       "landlock",
			       (int)length, name);
		out->backends |= chosen;
		name += length;
	}
}

static void apply(enum option_id id, const char *value, struct options *out)
{
	switch (id) {
	case OPTION_BACKEND:
		set_backends(out, value);
		break;
	case OPTION_WORKSPACE:
		out->workspace = value;
		break;
	case OPTION_DEFINE:
		options_define(out, value);
		break;
	case OPTION_NET_LOG:
		out->net_log = value;
		break;
	case OPTION_SLURM_LOG:
		out->slurm_log = value;
		break;
	case OPTION_JOB:
		out->job = value;
		break;
	case OPTION_DIGEST:
		out->digest = value;
		break;
	case OPTION_DRY_RUN:
		out->dry_run = true;
		break;
	case OPTION_CHECK:
		out->check = true;
		break;
	case OPTION_VERBOSE:
		out->verbose = true;
		break;
	case OPTION_QUIET:
		out->quiet = true;
		break;
	case OPTION_HELP:
		print_help();
	case OPTION_VERSION:
		out_print(STDOUT_FILENO, "sbx-exec %s\n", SBX_VERSION);
		_exit(0);
	}
}

/* Applies the option at *@at; moves *@at past it and its value. */
static void parse_one(char ***at, struct options *out)
{
	const char *word = *(*at)++, *next = table;
	struct option option;

	for (enum option_id id = 0; next_option(&next, &option); id++) {
		size_t length = strlen(option.name);
		const char *value = NULL;

		if (!strncmp(word, option.name, length) && word[length] == '=')
			value = word + length + 1;
		else if (*option.letter && *option.value && !strncmp(word, option.letter, 2) &&
			 word[2])
			value = word + 2;
		else if (strcmp(word, option.name) &&
			 (!*option.letter || strcmp(word, option.letter)))
			continue;
		if (value && !*option.value)
			refuse("%s takes no value", option.name);
		if (!value && *option.value) {
			value = **at;
			if (!value)
				refuse("%s wants %s after it", word, option.value);
			(*at)++;
		}
		apply(id, value, out);
		return;
	}
	refuse("no option '%s': see sbx-exec --help", word);
}

void options_parse(char **argv, struct options *out)
{
	char **at = argv + 1;

	memset(out, 0, sizeof(*out));
	out->backends = (1u << SBX_BACKEND_COUNT) - 1;
	out->argv = argv;
	while (*at && (*at)[0] == '-' && (*at)[1] && strcmp(*at, "--"))
		parse_one(&at, out);
	out->end = (size_t)(at - argv);
	if (*at && !strcmp(*at, "--"))
		at++;
	if (!out->job != !out->digest || (out->job && (*at || out->workspace || out->define_count)))
		refuse("--job DIR --digest SHA256 is all of a job");
	if (!*at && !out->job)
		refuse("which policy? usage: sbx-exec [OPTION...] BLOB|NAME [--] [COMMAND...]");
	if (*at)
		out->blob = *at++;
	if (*at && !strcmp(*at, "--"))
		at++;
	if (*at)
		out->command = at;
	if (out->quiet && out->verbose)
		refuse("-q and -v contradict each other");
}
