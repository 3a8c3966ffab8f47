/*
 * A stream, cut anywhere, against a matcher that cannot be wrong: one that tries each
 * form at each place.  The first half-dozen bytes are the secret's, the next the cuts.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fault(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), abort())
#define SECRET     9

/* ---- the reference ------------------------------------------------------------------ */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Can the @n-th character of the base64 of @secret behind @before bytes be @c? */
static bool fits_base64(const uint8_t *secret, size_t before, size_t n, uint8_t c)
{
	const char *found;
	size_t value;

	c = c == '-' ? '+' : c == '_' ? '/' : c;
	found = c ? strchr(digits, c) : NULL;
	if (!found)
		return false;
	value = (size_t)(found - digits);
	for (size_t i = 0; i < 6; i++) {
		size_t bit = n * 6 + i;

		if (bit >= before * 8 && bit < (before + SECRET) * 8 &&
		    (value >> (5 - i) & 1) != (secret[bit / 8 - before] >> (7 - bit % 8) & 1u))
			return false;
	}
	return true;
}

static bool fits(const uint8_t *secret, unsigned form, size_t n, uint8_t c)
{
	return form ? fits_base64(secret, form - 1, n + (form - 1) * 8 / 6, c) : secret[n] == c;
}

static size_t length(unsigned form)
{
	return form ? ((form - 1 + SECRET) * 8 + 5) / 6 - (form - 1) * 8 / 6 : SECRET;
}

static int two_digits(const uint8_t *at, const uint8_t *end)
{
	char text[3] = { 0 };

	if (end - at < 2 || !isxdigit(at[0]) || !isxdigit(at[1]))
		return -1;
	memcpy(text, at, 2);
	return (int)strtol(text, NULL, 16);
}

/* Overwrites in @out, which is like @text, what of @form from its element @n on stands at
 * @at; true: the form is whole. */
static bool mark(const uint8_t *secret, unsigned form, size_t n, const uint8_t *at,
		 const uint8_t *end, const uint8_t *text, uint8_t *out, const uint8_t *start)
{
	static const struct {
		const char *prefix;
		size_t size;
	} escapes[] = { { "%", 1 }, { "\\u00", 4 }, { "\\x", 2 } };
	bool found = false;

	if (n == length(form)) {
		memset(out + (start - text), '*', (size_t)(at - start));
		return true;
	}
	if (at == end)
		return false;
	if (fits(secret, form, n, *at))
		found |= mark(secret, form, n + 1, at + 1, end, text, out, start);
	if (*at == '\\' && at + 1 < end && ispunct(at[1]) && fits(secret, form, n, at[1]))
		found |= mark(secret, form, n + 1, at + 2, end, text, out, start);
	for (size_t i = 0; i < 3; i++) {
		size_t size = escapes[i].size;
		int byte;

		if ((size_t)(end - at) < size || memcmp(at, escapes[i].prefix, size) != 0)
			continue;
		byte = two_digits(at + size, end);
		if (byte >= 0 && fits(secret, form, n, (uint8_t)byte))
			found |= mark(secret, form, n + 1, at + size + 2, end, text, out, start);
	}
	return found;
}

/* ---- what is asked ------------------------------------------------------------------ */

struct output {
	uint8_t *at;
	size_t size;
};

static void put(void *context, const uint8_t *data, size_t size)
{
	struct output *output = context;

	memcpy(output->at + output->size, data, size);
	output->size += size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t secret[SECRET], *want, *got, *copy;
	struct redact_set *set;
	struct redact *redact;
	struct output output;
	size_t cut;

	if (size < SECRET + 1)
		return 0;
	memcpy(secret, data, SECRET);
	cut = data[SECRET];
	data += SECRET + 1;
	size -= SECRET + 1;
	set = redact_set_make(secret, SECRET);
	want = malloc(size + 1);
	got = malloc(size + 1);
	copy = malloc(size + 1);
	memcpy(want, data, size);
	memcpy(copy, data, size);
	for (unsigned form = 0; form < 4; form++)
		for (size_t i = 0; i < size; i++)
			mark(secret, form, 0, data + i, data + size, data, want, data + i);
	redact = redact_make(set);
	redact_whole(redact, copy, size);
	if (memcmp(copy, want, size) != 0)
		fault("'%.*s' in\n'%.*s' is\n'%.*s', not\n'%.*s'", SECRET, secret, (int)size, data,
		      (int)size, copy, (int)size, want);
	memcpy(copy, data, size);
	output = (struct output){ got, 0 };
	for (size_t at = 0; at < size;) {
		size_t piece = cut ? 1 + (at * 31 + cut) % cut : size;

		piece = piece > size - at ? size - at : piece;
		redact_feed(redact, copy + at, piece, put, &output);
		at += piece;
	}
	redact_end(redact, put, &output);
	if (output.size != size)
		fault("%zu bytes of %zu came out", output.size, size);
	/* Cut up, the first characters of one may have gone before the rest came. */
	for (size_t i = 0, missing = 0; i < size; i++) {
		missing = got[i] == want[i] ? 0 : missing + 1;
		if (missing && (got[i] != data[i] || want[i] != '*' || missing > 3 * 6 + 3))
			fault("cut by %zu, '%.*s' is\n'%.*s', not\n'%.*s'", cut, (int)size, data,
			      (int)size, got, (int)size, want);
	}
	redact_free(redact);
	redact_set_drop(set);
	free(want);
	free(got);
	free(copy);
	return 0;
}
