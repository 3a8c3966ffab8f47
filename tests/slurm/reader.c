/*
 * reader BLOB CWD [-e NAME=VALUE ...] [-s SCRIPT] -- COMMAND [ARGUMENT ...]
 *
 * Prints what sbx-chaperon makes of a command: the refusal and status 1, or each word of
 * the options that it hands on, then the job's envelope, indented.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chaperon/judge.h"

static char *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *data = malloc(1u << 20);

	if (!file || !data)
		exit(2);
	*size = fread(data, 1, 1u << 20, file);
	fclose(file);
	return data;
}

static void print_list(const struct strings *list, const char *indent)
{
	for (size_t i = 0; i < list->count; i++)
		if (strncmp(list->items[i], "var ", 4) != 0)
			printf("%s%s\n", indent, list->items[i]);
}

static void print_problems(const struct ask *ask)
{
	char text[ASK_TEXT_SIZE];

	if (ask->problem_count > ASK_PROBLEMS)
		printf("sbx: and %u more\n", ask->problem_count - ASK_PROBLEMS);
	for (unsigned i = 0; i < ask->problem_count && i < ASK_PROBLEMS; i++) {
		ask_problem_text(ask, i, text);
		printf("%s\n", text);
	}
}

static bool work(struct ask *ask, const struct job_frame *frame, const char **words, unsigned count,
		 const char *const *environment, const struct sbx_blob *blob,
		 const struct sbx_vars *vars, const char *script, size_t size)
{
	struct strings line = { 0 }, envelope = { 0 };
	const struct command *command;
	bool job, fine;

	const char *wrapped;

	if (!ask_line(ask, blob, vars, words, count, environment))
		return false;
	wrapped = ask_value(ask, SBX_TAKES_SCRIPT);
	if (script && !ask_value(ask, SBX_TAKES_SCRIPT) && !ask_script(ask, script, size))
		return false;
	command = judge_find(ask->request.command);
	if (!ask_settle(ask) || !judge_command(ask, command, frame))
		return false;
	rebuild_options(ask, &line);
	job = command->class <= COMMAND_STEP;
	fine = !job || (rebuild_job(ask, frame, "TAG", &line) &&
			rebuild_envelope(ask, frame, script ? "DIGEST" : NULL, &envelope));
	fine = fine && (!command->columns || rebuild_columns(ask, command->columns, &line));
	if (fine) {
		print_list(&line, "");
		print_list(&envelope, "    ");
		if (wrapped)
			printf("    wrap %.*s\n", (int)strcspn(wrapped, "\n"), wrapped);
	}
	strings_free(&line);
	strings_free(&envelope);
	return fine;
}

int main(int argc, char **argv)
{
	static struct ask ask;
	struct sbx_blob blob;
	struct sbx_vars vars = { { NULL } };
	struct job_frame frame = {
		.session = "1", .backend = "bwrap", .jobs = "/home/u/jobs", .policy = "POLICY"
	};
	const char *environment[64] = { NULL }, *script = NULL, **words;
	unsigned variables = 0, count;
	size_t size, script_size = 0;
	char *blob_data, *script_data = NULL;
	bool fine;
	int at = 3;

	if (argc < 5)
		return 2;
	blob_data = read_all(argv[1], &size);
	if (sbx_blob_open(blob_data, size, &blob))
		return 2;
	frame.blob = &blob;
	frame.vars = &vars;
	frame.workspace = frame.cwd = argv[2];
	vars.value[SBX_VAR_WORKSPACE] = argv[2];
	vars.value[SBX_VAR_HOME] = "/home/u";
	for (; at + 1 < argc && strcmp(argv[at], "--") != 0; at += 2) {
		if (!strcmp(argv[at], "-e") && variables < 63)
			environment[variables++] = argv[at + 1];
		else
			script = argv[at + 1];
	}
	at++;
	count = (unsigned)(argc - at);
	words = malloc((count + 1) * sizeof(*words));
	for (unsigned i = 0; i < count; i++)
		words[i] = argv[at + (int)i];
	if (script)
		script_data = read_all(script, &script_size);
	fine =
	    work(&ask, &frame, words, count, environment, &blob, &vars, script_data, script_size);
	if (!fine)
		print_problems(&ask);
	else if (*ask.notice)
		printf("%s\n", ask.notice);
	ask_free(&ask);
	free(script_data);
	free(words);
	free(blob_data);
	return !fine;
}
