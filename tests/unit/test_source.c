#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/source.h"

static struct arena arena;

static void finish(void)
{
	arena_free(&arena);
}

TestSuite(source, .fini = finish);

static void expect_place(const struct source *source, uint32_t offset, uint32_t line,
			 uint32_t column)
{
	struct line_column at = source_locate(source, offset);

	cr_expect_eq(at.line, line, "offset %u: line %u", offset, at.line);
	cr_expect_eq(at.column, column, "offset %u: column %u", offset, at.column);
}

Test(source, every_offset_has_a_place)
{
	const struct source *source =
	    source_from_text(&arena, "dir/x.pol", "x.pol", STR_LIT("ab\n\n\tc\r\nd"));

	cr_assert_eq(source->line_count, 4);
	expect_place(source, 0, 1, 1);
	expect_place(source, 2, 1, 3); /* the newline is the end of its line */
	expect_place(source, 3, 2, 1);
	expect_place(source, 4, 3, 1);
	expect_place(source, 5, 3, 2); /* a tab is one byte */
	expect_place(source, 8, 4, 1);
	expect_place(source, 9, 4, 2); /* the end of the text */
}

Test(source, lines_are_without_their_ends)
{
	const struct source *source =
	    source_from_text(&arena, "x", "x", STR_LIT("ab\n\n\tc\r\nd\n"));

	cr_assert_eq(source->line_count, 5);
	cr_expect(str_is(source_line(source, 1), "ab"));
	cr_expect(str_is(source_line(source, 2), ""));
	cr_expect(str_is(source_line(source, 3), "\tc"));
	cr_expect(str_is(source_line(source, 4), "d"));
	cr_expect(str_is(source_line(source, 5), ""));
}

Test(source, an_empty_text_has_one_line)
{
	const struct source *source = source_from_text(&arena, "x", "x", (struct str){ 0 });

	cr_assert_eq(source->line_count, 1);
	cr_assert_eq(source->text.ptr[0], '\0');
	expect_place(source, 0, 1, 1);
}

Test(source, a_file_is_read_whole)
{
	char path[] = "/tmp/sbx-test-XXXXXX";
	int fd = mkstemp(path), error;
	FILE *file = fdopen(fd, "w");

	for (int i = 0; i < 100000; i++)
		fprintf(file, "line %d\n", i);
	fclose(file);
	const struct source *source = source_read(&arena, path, "name.pol", &error);

	unlink(path);
	cr_assert_not_null(source);
	cr_assert_eq(error, 0);
	cr_expect_str_eq(source->path, path);
	cr_expect_str_eq(source->name, "name.pol");
	cr_expect_eq(source->line_count, 100001);
	cr_expect(str_is(source_line(source, 100000), "line 99999"));
}

Test(source, what_cannot_be_read_has_an_errno)
{
	int error = 0;

	cr_expect_null(source_read(&arena, "/nonexistent", "x", &error));
	cr_expect_eq(error, ENOENT);
	cr_expect_null(source_read(&arena, "/", "x", &error));
	cr_expect_eq(error, EISDIR);
	cr_expect_null(source_read(&arena, "/dev/zero", "x", &error));
	cr_expect_eq(error, EFBIG);
}
