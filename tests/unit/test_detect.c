#include <criterion/criterion.h>
#include <string.h>

#include "proxy/detect.h"

/* The step by which a form is whole first; 0: none.  @readings: how many escapes had begun,
 * added up: with the length, all that the time depends on. */
static size_t steps(struct redact_set *set, const char *text, unsigned *readings)
{
	struct detect detect = { 0 };
	size_t found = 0;

	*readings = 0;
	cr_assert(detect_set(&detect, &set, 1));
	for (size_t i = 0; text[i]; i++) {
		if (detect_step(&detect, (uint8_t)text[i]) && !found)
			found = i + 1;
		*readings += detect.reading_count;
	}
	detect_free(&detect);
	return found;
}

Test(detect, a_whole_form)
{
	struct redact_set *set = redact_set_make("sk-abcdefgh", 11);
	unsigned readings;

	cr_expect_eq(steps(set, "say sk-abcdefgh.", &readings), 15);
	cr_expect_eq(steps(set, "say sk-abcdefg.", &readings), 0);
	cr_expect_eq(steps(set, "s%6b-abcd%65fg\\u0068.", &readings), 20);
	cr_expect_eq(steps(set, "s&#x6b;-abc&amp;#100;efgh", &readings), 25);
	cr_expect_eq(steps(set, "dTpzay1hYmNkZWZnaA==", &readings), 18);
	redact_set_drop(set);
}

/* Of more than 64 bytes the first tell. */
Test(detect, a_long_one)
{
	char text[] = "sk-0123456789012345678901234567890123456789012345678901234567890123456789";
	struct redact_set *set = redact_set_make(text, strlen(text));
	unsigned readings;

	cr_expect_eq(steps(set, text, &readings), 64);
	text[63] = '\0';
	cr_expect_eq(steps(set, text, &readings), 0);
	redact_set_drop(set);
}

/* What is nearly the secret takes as many steps as what is nothing like it, each as long. */
Test(detect, a_part_takes_no_longer)
{
	static const char *const right[] = { "sk-abcdefg", "s%6b-ab&#0000000099;d",
					     "\\\\sk-\\u0061" };
	static const char *const wrong[] = { "XXXXXXXXXX", "X%58XXX&#0000000088;X",
					     "\\\\XXX\\u0058" };
	struct redact_set *set = redact_set_make("sk-abcdefgh", 11);
	unsigned one, other;

	for (size_t i = 0; i < 3; i++) {
		cr_expect_eq(steps(set, right[i], &one), 0);
		cr_expect_eq(steps(set, wrong[i], &other), 0);
		cr_expect_eq(one, other, "%zu", i);
	}
	redact_set_drop(set);
}
