#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/utf8.h"

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

TestSuite(diag, .init = start, .fini = finish);

static const struct source *text(const char *path, const char *bytes)
{
	return source_from_text(&arena, path, path, str_from(bytes));
}

static const char *flush(bool colour)
{
	char *printed;
	size_t len;
	FILE *out = open_memstream(&printed, &len);

	diag_flush(diags, out, colour);
	fclose(out);
	char *kept = arena_copy(&arena, printed, len);

	free(printed);
	return kept;
}

static struct span span(const struct source *source, uint32_t start_at, uint32_t end)
{
	return (struct span){ source, start_at, end };
}

Test(diag, prints_place_line_and_caret)
{
	const struct source *source = text("a.pol", "x\n\tread /a /b\n");

	diag_error(diags, DIAG_P0108, span(source, 8, 10), "what about '%s'", "/a");
	diag_note(diags, span(source, 11, 13), "the other");
	diag_note(diags, (struct span){ 0 }, "no place");
	cr_expect_eq(diag_errors(diags), 1);
	cr_expect_eq(diag_warnings(diags), 0);
	cr_expect_str_eq(flush(false), "a.pol:2:7: error: what about '/a' [P0108]\n"
				       "    \tread /a /b\n"
				       "    \t     ^~\n"
				       "a.pol:2:10: note: the other\n"
				       "    \tread /a /b\n"
				       "    \t        ^~\n"
				       "note: no place\n");
}

Test(diag, a_message_is_printed_once)
{
	diag_warning(diags, DIAG_P0101, (struct span){ 0 }, "once");
	cr_expect_str_eq(flush(false), "warning: once [P0101]\n");
	cr_expect_str_eq(flush(false), "");
	cr_expect_eq(diag_warnings(diags), 1);
	cr_expect_eq(diag_errors(diags), 0);
}

Test(diag, order_is_first_use_of_the_file_then_place)
{
	const struct source *a = text("a", "123"), *b = text("b", "123");

	diag_error(diags, DIAG_P0101, span(b, 2, 3), "one");
	diag_note(diags, (struct span){ 0 }, "of one");
	diag_error(diags, DIAG_P0101, span(a, 1, 2), "two");
	diag_error(diags, DIAG_P0101, span(b, 1, 2), "three");
	diag_error(diags, DIAG_P0101, span(b, 2, 2), "four");
	cr_expect_str_eq(flush(false), "b:1:2: error: three [P0101]\n    123\n     ^\n"
				       "b:1:3: error: one [P0101]\n    123\n      ^\n"
				       "note: of one\n"
				       "b:1:3: error: four [P0101]\n    123\n      ^\n"
				       "a:1:2: error: two [P0101]\n    123\n     ^\n");
}

Test(diag, colour_only_when_asked)
{
	const struct source *source = text("a", "x");

	diag_error(diags, DIAG_P0101, span(source, 0, 1), "red");
	cr_expect_not_null(strstr(flush(true), "\033[31merror:\033[m red"));
}

Test(diag, nothing_of_a_policy_reaches_the_terminal_raw)
{
	const struct source *source = text("a\033.pol", "\033[2J\xff\tr\xc3\xa9"
							"ad\n");

	diag_error(diags, DIAG_P0102, span(source, 6, 10), "bad '%s'", "\033\xc2\x9b\t\xc3\xa9");
	cr_expect_str_eq(flush(false), "a\\x1b.pol:1:7: error: bad '\\x1b\\xc2\\x9b\\x09\xc3\xa9' "
				       "[P0102]\n"
				       "    \\x1b[2J\\xff\tr\xc3\xa9"
				       "ad\n"
				       "               \t^~~\n");
}

Test(diag, escape_keeps_what_can_be_read)
{
	cr_expect_str_eq(diag_escape(&arena, STR_LIT("a\\b \xc3\xa9 \"'")), "a\\b \xc3\xa9 \"'");
	cr_expect_str_eq(diag_escape(&arena, STR_LIT("\0\n\x7f")), "\\x00\\x0a\\x7f");
	cr_expect_str_eq(diag_escape(&arena, STR_LIT("\xe2\x80\xae")), "\\xe2\\x80\\xae");
	cr_expect_str_eq(diag_escape(&arena, STR_LIT("\xc3")), "\\xc3");
	cr_expect_str_eq(diag_escape(&arena, (struct str){ 0 }), "");
}

/* The place is shown, within 120 columns, wherever in a long line it is. */
Test(diag, a_long_line_is_cut_around_the_place)
{
	char line[2001];

	for (uint32_t at = 0; at < sizeof(line) - 1; at += 37) {
		memset(line, '.', sizeof(line) - 1);
		line[sizeof(line) - 1] = '\0';
		line[at] = '@';
		diag_warning(diags, DIAG_P0101, span(text("a", line), at, at + 1), "x");
		const char *excerpt = strchr(flush(false), '\n') + 1;
		const char *caret = strchr(excerpt, '\n') + 1;

		cr_expect_leq(caret - excerpt - 1, 120, "offset %u", at);
		cr_expect_eq(strcspn(excerpt, "@"), strcspn(caret, "^"), "offset %u", at);
	}
}

Test(diag, errors_past_fifty_are_counted)
{
	for (unsigned i = 0; i < 53; i++)
		diag_error(diags, DIAG_P0101, (struct span){ 0 }, "number %u", i);
	const char *printed = flush(false);

	cr_expect_not_null(strstr(printed, "number 49 "));
	cr_expect_null(strstr(printed, "number 50 "));
	cr_expect_not_null(strstr(printed, "\n3 more errors are not shown\n"));
	cr_expect_eq(diag_errors(diags), 53);
}

Test(diag, the_queue_is_bounded_and_the_count_is_not)
{
	for (unsigned i = 0; i < 20000; i++) {
		diag_error(diags, DIAG_P0101, (struct span){ 0 }, "x");
		diag_note(diags, (struct span){ 0 }, "y");
	}
	cr_expect_not_null(strstr(flush(false), "many more messages are not shown\n"));
	cr_expect_eq(diag_errors(diags), 20000);
}

Test(diag, a_code_has_a_name_and_a_title)
{
	cr_expect_str_eq(diag_code_name(DIAG_P0101), "P0101");
	for (enum diag_code code = 0; code < DIAG_CODE_COUNT; code++) {
		cr_expect_eq(strlen(diag_code_name(code)), 5);
		cr_expect_gt(strlen(diag_code_title(code)), 0);
	}
}

Test(diag, codes_are_sorted_within_a_letter)
{
	for (enum diag_code code = 1; code < DIAG_CODE_COUNT; code++) {
		const char *before = diag_code_name(code - 1), *name = diag_code_name(code);

		cr_expect(before[0] != name[0] || strcmp(before, name) < 0, "%s after %s", name,
			  before);
	}
}

Test(suggest, finds_the_nearest_word)
{
	static const char *const verbs[] = { "read", "write", "exec", "deny", "device", "seal" };
	static const struct {
		const char *word, *nearest;
	} cases[] = {
		{ "raed", "read" },    { "wirte", "write" },   { "wrte", "write" },
		{ "writee", "write" }, { "devcie", "device" }, { "READ", "read" },
		{ "sael", "seal" },    { "red", "read" },      { "quite", NULL },
		{ "", NULL },          { "rd", NULL },         { "completely-else", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *nearest = suggest(str_from(cases[i].word), verbs, 6);

		if (!cases[i].nearest)
			cr_expect_null(nearest, "%s: %s", cases[i].word, nearest);
		else
			cr_expect(nearest && strcmp(nearest, cases[i].nearest) == 0, "%s: %s",
				  cases[i].word, nearest ? nearest : "nothing");
	}
}

Test(suggest, a_word_without_end_is_no_typo)
{
	char word[5001];
	static const char *const verbs[] = { "read" };

	memset(word, 'r', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	cr_expect_null(suggest(str_from(word), verbs, 1));
	cr_expect_null(suggest(STR_LIT("read"), verbs, 0));
}

static size_t decoded(const char *bytes, uint32_t *point)
{
	return utf8_decode(bytes, strlen(bytes), point);
}

Test(utf8, decodes_what_is_allowed_and_nothing_else)
{
	uint32_t point = 0;

	cr_expect_eq(decoded("a", &point), 1);
	cr_expect_eq(decoded("\xc3\xa9", &point), 2);
	cr_expect_eq(point, 0xe9);
	cr_expect_eq(decoded("\xe2\x80\xae", &point), 3);
	cr_expect_eq(point, 0x202e);
	cr_expect_eq(decoded("\xf4\x8f\xbf\xbf", &point), 4);
	cr_expect_eq(point, 0x10ffff);
	cr_expect_eq(decoded("\x80", &point), 0);
	cr_expect_eq(decoded("\xc0\x80", &point), 0);         /* overlong */
	cr_expect_eq(decoded("\xe0\x80\xaf", &point), 0);     /* overlong */
	cr_expect_eq(decoded("\xed\xa0\x80", &point), 0);     /* surrogate */
	cr_expect_eq(decoded("\xf4\x90\x80\x80", &point), 0); /* past the end */
	cr_expect_eq(decoded("\xf8\x88\x80\x80\x80", &point), 0);
	cr_expect_eq(decoded("\xe2\x80", &point), 0); /* cut off */
	cr_expect_eq(decoded("\xe2\x80x", &point), 0);
}
