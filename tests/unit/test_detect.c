#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "proxy/detect.h"

/* The step by which a form is whole first; 0: none.  @readings: how often an escape went on:
 * with the length, all that the time depends on. */
static size_t steps(struct redact_set *set, const char *text, unsigned *readings)
{
	struct detect detect = { 0 };
	size_t found = 0;

	*readings = 0;
	cr_assert(detect_set(&detect, &set, 1));
	for (size_t i = 0; text[i]; i++) {
		if (detect_step(&detect, (uint8_t)text[i]) && !found)
			found = i + 1;
		*readings += detect.escape.state != 0;
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

/* Of more than 64 bytes all have to be there: as they are, and in base64 at an offset. */
Test(detect, a_long_one)
{
	char value[301], text[500];
	uint8_t coded[500], plain[302] = "u:";
	struct redact_set *set;
	unsigned readings;

	for (size_t i = 0; i < 300; i++)
		value[i] = "abcdefghijklmnopqrstuvwxyz-"[i * i % 27];
	value[300] = '\0';
	set = redact_set_make(value, 300);
	cr_expect_eq(steps(set, value, &readings), 300);
	snprintf(text, sizeof(text), "x&#0000000000000000000000000000%d;%s", value[0], value + 1);
	cr_expect_eq(steps(set, text, &readings), strlen(text));
	memcpy(plain + 2, value, 300);
	cr_expect_eq(EVP_EncodeBlock(coded, plain, 302), 404);
	cr_expect_eq(steps(set, (char *)coded, &readings), 403);
	for (size_t i = 0; i < 300; i++) {
		snprintf(text, sizeof(text), "%s", value);
		text[i] = '.';
		cr_assert_eq(steps(set, text, &readings), 0, "%zu", i);
	}
	redact_set_drop(set);
}

/* Of escapes only one goes on at a time: in each place that can be reached within one, a
 * byte by which another begins ends it, or stands for itself. */
Test(detect, one_escape_at_a_time)
{
	static struct escape all[1000];
	size_t count = 0;

	for (const char *begin = "%\\&"; *begin; begin++)
		cr_assert(escape_begin(&all[count++], (uint8_t)*begin));
	for (size_t at = 0; at < count; at++)
		for (unsigned i = 0; i < 256; i++) {
			struct escape next = all[at], fresh = { 0 };
			uint8_t byte = (uint8_t)i;
			enum escape_result result;
			bool known = false;

			next.length = 1;
			result = escape_next(&next, &byte);
			if (escape_begin(&fresh, (uint8_t)i))
				cr_assert(result == ESCAPE_NONE ||
					  (result == ESCAPE_BYTE && byte == i));
			for (size_t n = 0; n < count; n++)
				known |= all[n].state == next.state && all[n].value == next.value;
			if (result != ESCAPE_MORE || known)
				continue;
			cr_assert_lt(count, sizeof(all) / sizeof(all[0]));
			all[count++] = next;
		}
	cr_expect_gt(count, 300);
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
