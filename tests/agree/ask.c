/*
 * tests/agree/ask.c - many questions of `sbxc explain` in one go.
 *
 *	ask BLOB BACKEND WORKSPACE <questions
 *
 * A question is a line "ACTION OBJECT [NAME=VALUE ...]", as on sbxc's command line, in
 * which odd bytes of a word are %XX.  The answer is a line, too:
 *
 *	allowed|refused|unclear TAB how TAB the rule that decides {TAB note}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/explain.h"
#include "compiler/render.h"
#include "compiler/stages.h"

#define WORDS_MAX 16

static char *unescape(char *word)
{
	char *to = word;

	for (const char *from = word; *from; from++)
		if (*from == '%' && from[1] && from[2]) {
			*to++ = (char)strtoul((char[]){ from[1], from[2], '\0' }, NULL, 16);
			from += 2;
		} else {
			*to++ = *from;
		}
	*to = '\0';
	return word;
}

static const char *rule_of(const struct question *question, const struct answer *answer)
{
	if (answer->rule == SBX_NONE)
		return "-";
	if (answer->rule == SBX_RULE_SELF && answer->section == SBX_SEC_FS)
		return "itself";
	return render_rule(question->arena, question->blob, answer->section, answer->rule, 0);
}

static void answer_line(struct question question, char *line)
{
	char *words[WORDS_MAX];
	struct answer answer;
	const char *error;
	size_t count = 0;

	for (char *word = strtok(line, " \n"); word && count < WORDS_MAX; word = strtok(NULL, " \n"))
		words[count++] = unescape(word);
	question.action = count > 0 ? words[0] : "";
	question.object = count > 1 ? words[1] : "";
	question.args = words + 2;
	question.arg_count = count > 2 ? count - 2 : 0;
	error = explain_ask(&question, &answer);
	if (error) {
		printf("unclear\t%s\t-\n", error);
		return;
	}
	printf("%s\t%s\t%s", answer.allowed ? "allowed" : "refused", answer.how ? answer.how : "",
	       diag_escape(question.arena, str_from(rule_of(&question, &answer))));
	for (size_t i = 0; i < answer.notes.count; i++)
		printf("\t%s", diag_escape(question.arena, str_from(answer.notes.items[i])));
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct compile_options options = { 0 };
	struct compilation compilation;
	struct targets targets = { 0 };
	struct question question;
	const char *error;
	char line[32768];
	struct sbx_blob blob;
	struct view view;

	if (argc != 4)
		return 2;
	compilation_init(&compilation, &options);
	if (!open_blob_or_compile(&compilation, argv[1], &blob))
		return 1;
	const struct view_options here = { .workspace = argv[3], .blob_path = argv[1] };

	error = view_make(&view, &compilation.arena, &blob, &here);
	if (!error)
		error = targets_add(&compilation.arena, &targets, argv[2]);
	if (error) {
		fprintf(stderr, "ask: %s\n", error);
		return 1;
	}
	view_find_links(&view);
	targets_settle(&compilation.arena, &targets, &blob);
	question = (struct question){ .arena = &compilation.arena,
				      .blob = &blob,
				      .view = &view,
				      .targets = &targets,
				      .only = &targets.items[0] };
	while (fgets(line, sizeof(line), stdin))
		answer_line(question, line);
	compilation_free(&compilation);
	return 0;
}
