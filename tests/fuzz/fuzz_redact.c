/*
 * A stream, cut anywhere, against a matcher that cannot be wrong: one that tries each
 * form at each place.  The first half-dozen bytes are the secret's, the next the cuts.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fault(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), abort())
#define SECRET     9
#define LONGEST    40 /* of escapes within escapes */

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

/* HTML's names, a blank and what each stands for. */
static const char *const names[] = {
	"Hat ^",    "amp &",    "apos '",   "ast *",   "bsol \\", "colon :",  "comma ,",
	"commat @", "dollar $", "equals =", "excl !",  "grave `", "gt >",     "lbrace {",
	"lbrack [", "lcub {",   "lowbar _", "lpar (",  "lsqb [",  "lt <",     "num #",
	"percnt %", "period .", "plus +",   "quest ?", "quot \"", "rbrace }", "rbrack ]",
	"rcub }",   "rpar )",   "rsqb ]",   "semi ;",  "sol /",   "verbar |",
};

/* The digits of &#...; from @at on: where it ends, or NULL. */
static const uint8_t *number(const uint8_t *at, const uint8_t *end, int *byte)
{
	bool hex = at < end && (*at | 0x20) == 'x';
	const uint8_t *start = at += hex;

	for (*byte = 0; at < end && *byte < 0x80; at++) {
		if (*at == ';')
			return at > start || hex ? at + 1 : NULL;
		if (!(hex ? isxdigit(*at) : isdigit(*at)))
			return NULL;
		*byte =
		    *byte * (hex ? 16 : 10) + (isdigit(*at) ? *at - '0' : (*at | 0x20) - 'a' + 10);
	}
	return NULL;
}

/* What an escape that begins by @first says from @at on: where it ends, or NULL. */
static const uint8_t *unescape(uint8_t first, const uint8_t *at, const uint8_t *end, int *byte)
{
	size_t room = (size_t)(end - at), skip = first == '%'                        ? 0
						 : room > 3 && !memcmp(at, "u00", 3) ? 3
										     : 1;

	if (first == '&' && room && *at == '#')
		return number(at + 1, end, byte);
	for (size_t i = 0; first == '&' && i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strcspn(names[i], " ");

		*byte = names[i][length + 1];
		if (room > length && !memcmp(at, names[i], length) && at[length] == ';')
			return at + length + 1;
	}
	if (first == '&')
		return NULL;
	if (first == '\\' && room && ispunct(*at)) {
		*byte = *at;
		return at + 1;
	}
	if (first == '\\' && !(skip == 3 || (room && *at == 'x')))
		return NULL;
	if (room < skip)
		return NULL;
	*byte = two_digits(at + skip, end);
	return *byte < 0 ? NULL : at + skip + 2;
}

struct place {
	const uint8_t *secret, *text, *start, *end;
	unsigned form;
	uint8_t *out;
};

static bool mark(const struct place *place, size_t n, const uint8_t *at);

/* @byte ends at @at, as itself or as the end of escapes of @length bytes. */
static bool mark_byte(const struct place *place, size_t n, uint8_t byte, const uint8_t *at,
		      size_t length)
{
	bool found = fits(place->secret, place->form, n, byte) && mark(place, n + 1, at);
	const uint8_t *next;
	int value;

	if (byte != '%' && byte != '\\' && byte != '&')
		return found;
	next = unescape(byte, at, place->end, &value);
	length += 1 + (next ? (size_t)(next - at) : 0);
	if (next && length < LONGEST)
		found |= mark_byte(place, n, (uint8_t)value, next, length);
	return found;
}

/* Overwrites in place->out what of the form from its element @n on stands at @at; true:
 * the form is whole. */
static bool mark(const struct place *place, size_t n, const uint8_t *at)
{
	if (n == length(place->form)) {
		memset(place->out + (place->start - place->text), '*', (size_t)(at - place->start));
		return true;
	}
	return at < place->end && mark_byte(place, n, *at, at + 1, 0);
}

/*
 * Of an escape within an escape the outer one may stay: the first backslash of `\\/`, which
 * says as much without it.  How many bytes from @at on are one?
 */
static size_t may_stay(const uint8_t *at, const uint8_t *end)
{
	int byte = 0;
	const uint8_t *next =
	    *at == '%' || *at == '\\' || *at == '&' ? unescape(*at, at + 1, end, &byte) : NULL;

	return next && (byte == '%' || byte == '\\' || byte == '&') ? (size_t)(next - at) : 0;
}

/* Is @got what it should be, of @data? */
static bool same(const uint8_t *got, const uint8_t *want, const uint8_t *data, size_t size)
{
	for (size_t i = 0, stays = 0; i < size; i++, stays -= stays > 0) {
		if (got[i] == want[i])
			continue;
		if (!stays)
			stays = may_stay(data + i, data + size);
		if (!stays || got[i] != data[i])
			return false;
	}
	return true;
}

/* A run of backslashes can be read in ever more ways, and the reference tries each. */
static bool takes_long(const uint8_t *data, size_t size)
{
	for (size_t i = 0, run = 0; i < size; i++) {
		run = data[i] == '\\' ? run + 1 : 0;
		if (run > 12)
			return true;
	}
	return false;
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
	for (size_t i = 0; i < SECRET; i++)
		secret[i] = data[i] >= ' ' && data[i] <= '~' ? data[i] : ' ' + data[i] % 95;
	cut = data[SECRET];
	data += SECRET + 1;
	size -= SECRET + 1;
	if (takes_long(data, size))
		return 0;
	set = redact_set_make(secret, SECRET);
	want = malloc(size + 1);
	got = malloc(size + 1);
	copy = malloc(size + 1);
	memcpy(want, data, size);
	memcpy(copy, data, size);
	for (unsigned form = 0; form < 4; form++)
		for (size_t i = 0; i < size; i++)
			mark(&(struct place){ secret, data, data + i, data + size, form, want }, 0,
			     data + i);
	redact = redact_make(set);
	redact_whole(redact, copy, size);
	if (!same(copy, want, data, size))
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
	redact_release(redact, put, &output);
	if (output.size != size)
		fault("%zu bytes of %zu came out", output.size, size);
	if (!same(got, want, data, size))
		fault("cut by %zu, '%.*s' is\n'%.*s', not\n'%.*s'", cut, (int)size, data, (int)size,
		      got, (int)size, want);
	redact_free(redact);
	redact_set_drop(set);
	free(want);
	free(got);
	free(copy);
	return 0;
}
