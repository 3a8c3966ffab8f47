/*
 * Any bytes as a policy file: parsed, dumped, and all messages printed.  What
 * is printed must be safe to show on a terminal.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "grammar/ast.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Only newlines and tabs of the control bytes reach the terminal. */
static void check_printable(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t') ||
		    text[i] == 0x7f)
			BUG("a control byte was printed");
}

/* Every span lies in the text, and statements are in its order.  Nothing is
 * poisoned in silence. */
static void check_tree(const struct ast_stmt *stmt, uint32_t from, bool errors)
{
	for (; stmt; stmt = stmt->next) {
		if (stmt->span.start < from || stmt->span.end < stmt->span.start ||
		    stmt->span.end > stmt->span.source->text.len)
			BUG("a span out of place");
		if (stmt->poisoned && !errors)
			BUG("a fault that was not reported");
		from = stmt->span.end;
		check_tree(stmt->block, from, errors);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct diags *diags = diags_new(&arena);
	struct str text = { (const char *)data, size };
	const struct source *source = source_from_text(&arena, "fuzz.pol", "fuzz.pol", text);
	const struct ast_file *file = parse_file(&arena, diags, source);
	char *printed;
	size_t len;
	FILE *out = open_memstream(&printed, &len);

	check_tree(file->stmts, 0, diag_errors(diags) > 0);
	ast_print(file, out);
	diag_flush(diags, out, false);
	fclose(out);
	check_printable(printed, len);
	free(printed);
	arena_free(&arena);
	return 0;
}
