#include <criterion/criterion.h>
#include <string.h>

#include "blob/verdict.h"

/* All of them, each behind a line's beginning. */
static void expect(const char *word, const char *want)
{
	struct sbx_name name = { 0 };
	char got[512] = "";

	while (sbx_next_name(word, &name)) {
		strncat(got, word + name.start, name.end - name.start);
		strcat(got, "\n");
	}
	cr_expect_str_eq(got, want, "%s: %s", word, got);
}

Test(source_names, each_reading_of_a_word)
{
	expect("", "");
	expect("a", "a\n");
	expect("/a/b", "/a/b\n");
	expect("--from=/a", "--from\n--from=/a\n/a\n");
	expect("@/a", "@/a\n/a\n");
	expect("a@", "a\na@\n");
	expect("K=a b:c", "K\nK=a\nK=a b\nK=a b:c\na\na b\na b:c\nb\nb:c\nc\n");
}

Test(source_names, what_is_joined_to_an_option)
{
	expect("-fa", "-fa\nfa\na\n");
	expect("-C/a/b", "-C/a/b\nC/a/b\n/a/b\n");
	expect("-xfa/-b", "-xfa/-b\nxfa/-b\nfa/-b\na/-b\n/-b\n");
	expect("make -Ca", "make\nmake -Ca\n-Ca\nCa\na\n");
	expect("--all", "--all\n");
	expect("-", "-\n");
}
