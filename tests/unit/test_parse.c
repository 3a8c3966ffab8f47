#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/ast.h"

static struct arena arena;
static struct diags *diags;

static void start(void)
{
	diags = diags_new(&arena);
}

static void finish(void)
{
	arena_free(&arena);
}

TestSuite(parse, .init = start, .fini = finish);

static const struct ast_stmt *parse(const char *text)
{
	const struct source *source = source_from_text(&arena, "x", "x", str_from(text));
	const struct ast_file *file = parse_file(&arena, diags, source);

	cr_assert_eq(file->source, source);
	return file->stmts;
}

Test(parse, a_modifier_is_found_by_kind)
{
	const struct ast_stmt *stmt = parse("read /a optional compat \"why\"");
	const struct ast_mod *mod = ast_mod_find(stmt, AST_MOD_COMPAT);

	cr_assert_not_null(mod);
	cr_expect(str_is(mod->words->text, "why"));
	cr_expect_not_null(ast_mod_find(stmt, AST_MOD_OPTIONAL));
	cr_expect_null(ast_mod_find(stmt, AST_MOD_WHERE));
}

Test(parse, words_are_slices_of_the_text)
{
	const struct ast_stmt *stmt = parse("  read /a \"b c\"");
	const char *text = stmt->span.source->text.ptr;

	cr_expect_eq(stmt->items->text.ptr, text + 7);
	cr_expect_eq(stmt->items->next->text.ptr, text + 11);
	cr_expect_eq(stmt->items->next->span.start, 10);
	cr_expect_eq(stmt->items->next->span.end, 15);
}

Test(parse, every_reserved_word_is_a_modifier)
{
	for (enum ast_mod_kind kind = 0; kind < AST_MOD__END; kind++) {
		const char *word = ast_mod_word(kind);
		const char *quoted = arena_printf(&arena, "pass \"%s\" x", word);
		const char *verb = arena_printf(&arena, "%s x", word);
		unsigned errors = diag_errors(diags);
		const struct ast_stmt *stmt = parse(quoted);

		cr_expect_eq(diag_errors(diags), errors, "\"%s\"", word);
		cr_expect(str_is(stmt->items->text, word));
		parse(verb);
		cr_expect_eq(diag_errors(diags), errors + 1, "%s as a verb", word);
	}
}

Test(parse, good_statements_around_a_bad_one_are_whole)
{
	const struct ast_stmt *stmt = parse("a 1\nb {\nc 2\nd, 3\ne 4 }\nf 5\n");

	cr_expect_eq(diag_errors(diags), 1);
	cr_expect(str_is(stmt->verb->text, "a"));
	stmt = stmt->next;
	cr_expect(stmt->has_block && !stmt->poisoned);
	cr_expect(!stmt->block->poisoned);
	cr_expect(stmt->block->next->poisoned);
	cr_expect(str_is(stmt->block->next->verb->text, "d"));
	cr_expect(str_is(stmt->block->next->next->verb->text, "e"));
	cr_expect(str_is(stmt->next->verb->text, "f"));
	cr_expect_null(stmt->next->next);
}

/* Each is skipped before the next is read: no stack grows with their number. */
Test(parse, any_number_of_blocks_with_no_end_between_them)
{
	static char text[6 * 20000 + 1];

	for (size_t at = 0; at + 1 < sizeof(text); at += 6)
		memcpy(text + at, "a { } ", 6);
	parse(text);
	cr_expect_gt(diag_errors(diags), 100);
}

/* Each prefix of a policy is a text someone may save: never a crash, and
 * never an error where it ends with a statement. */
Test(parse, every_prefix)
{
	static const char policy[] = "policy \"x\" summary \"y\"\nfs { read /{a,b} optional; }\n"
				     "deny x where a & 1 == 2 and b in c d with kill \\\n\t# end\n";

	for (size_t len = 0; len < sizeof(policy); len++) {
		unsigned errors = diag_errors(diags);

		parse(arena_copy(&arena, policy, len));
		if (len == 0 || policy[len - 1] == '\n')
			cr_expect_eq(diag_errors(diags), errors, "%zu", len);
	}
}
