/*
 * Any bytes as a policy file: parsed, dumped, and all messages printed.  What
 * is printed must be safe to show on a terminal.  What parses is laid out: that
 * parses as the same tree, and is its own layout.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "compiler/fmt.h"
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

/* The tree without the places that start its lines. */
static struct str print_tree(struct arena *arena, const struct ast_file *file)
{
	struct str tree = { 0 };
	char *text, *copy;
	size_t len;
	bool place = true;
	FILE *out = open_memstream(&text, &len);

	ast_print(file, out);
	fclose(out);
	copy = arena_copy(arena, text, len);
	for (size_t i = 0; i < len; i++) {
		if (!place || text[i] == ' ')
			copy[tree.len++] = text[i];
		if (text[i] == '\n')
			place = true;
		else if (text[i] == ' ' && i > 0 && text[i - 1] != ' ' && text[i - 1] != '\n')
			place = false;
	}
	tree.ptr = copy;
	free(text);
	return tree;
}

static void check_layout(struct arena *arena, const struct ast_file *file)
{
	struct diags *diags = diags_new(arena);
	struct str text = fmt_layout(arena, file);
	const struct ast_file *again =
	    parse_file(arena, diags, source_from_text(arena, "fuzz.pol", "fuzz.pol", text));

	if (diag_errors(diags))
		BUG("the layout does not parse");
	if (!str_equal(print_tree(arena, file), print_tree(arena, again)))
		BUG("the layout is another tree");
	if (!fmt_same(file, again))
		BUG("the layout lacks a comment or a line break");
	if (!str_equal(fmt_layout(arena, again), text))
		BUG("the layout has another layout");
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
	if (diag_errors(diags) == 0)
		check_layout(&arena, file);
	ast_print(file, out);
	diag_flush(diags, out, false);
	fclose(out);
	check_printable(printed, len);
	free(printed);
	arena_free(&arena);
	return 0;
}
