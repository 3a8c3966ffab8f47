/*
 * parse-dump FILE: the syntax tree on stdout, messages on stderr; exit status
 * 1 where there are errors.
 */
#include <string.h>

#include "grammar/ast.h"

int main(int argc, char **argv)
{
	struct arena arena = { 0 };
	struct diags *diags = diags_new(&arena);
	const struct source *source;
	unsigned errors;
	int error;

	if (argc != 2) {
		fputs("usage: parse-dump FILE\n", stderr);
		return 2;
	}
	source = source_read(&arena, argv[1], "test.pol", &error);
	if (!source) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(error));
		return 2;
	}
	ast_print(parse_file(&arena, diags, source), stdout);
	diag_flush(diags, stderr, false);
	errors = diag_errors(diags);
	arena_free(&arena);
	return errors > 0;
}
