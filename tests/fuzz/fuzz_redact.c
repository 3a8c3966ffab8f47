/*
 * A stream, cut anywhere, against a matcher that cannot be wrong: one that tries each
 * form at each place.  The first bytes are the secret's, the next the cuts, and whether the
 * secret is a long one: then it goes on by TAIL, which stands in a text as one byte.
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
#define TAIL       "0123456789-abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LONG       (SECRET + sizeof(TAIL) - 1)

struct secret {
	uint8_t at[LONG];
	size_t size;
};

/* ---- the reference ------------------------------------------------------------------ */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Can the @n-th character of the base64 of @secret behind @before bytes be @c? */
static bool fits_base64(const struct secret *secret, size_t before, size_t n, uint8_t c)
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

		if (bit >= before * 8 && bit < (before + secret->size) * 8 &&
		    (value >> (5 - i) & 1) != (secret->at[bit / 8 - before] >> (7 - bit % 8) & 1u))
			return false;
	}
	return true;
}

static bool fits(const struct secret *secret, unsigned form, size_t n, uint8_t c)
{
	return form ? fits_base64(secret, form - 1, n + (form - 1) * 8 / 6, c) : secret->at[n] == c;
}

static size_t length(const struct secret *secret, unsigned form)
{
	return form ? ((form - 1 + secret->size) * 8 + 5) / 6 - (form - 1) * 8 / 6 : secret->size;
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
	const struct secret *secret;
	const uint8_t *text, *start, *end;
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
	if (n == length(place->secret, place->form)) {
		memset(place->out + (place->start - place->text), '*', (size_t)(at - place->start));
		return true;
	}
	return at < place->end && mark_byte(place, n, *at, at + 1, 0);
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

/* What TAIL is in @form, without a first character that has bits of the byte before it. */
static size_t write_tail(unsigned form, uint8_t *at)
{
	size_t from = form ? ((form - 1 + SECRET) * 8 + 5) / 6 * 6 : 0, count = 0;

	if (!form) {
		memcpy(at, TAIL, sizeof(TAIL) - 1);
		return sizeof(TAIL) - 1;
	}
	for (size_t bit = from; bit < (form - 1 + LONG) * 8; bit += 6) {
		uint8_t value = 0;

		for (size_t i = bit; i < bit + 6; i++) {
			size_t byte = i / 8 - (form - 1) - SECRET;

			value = (uint8_t)(value << 1 | (byte < sizeof(TAIL) - 1 &&
							(TAIL[byte] >> (7 - i % 8) & 1)));
		}
		at[count++] = (uint8_t)digits[value];
	}
	return count;
}

/* @data, with the tail in one of its forms for each byte from 0xfc on; to be freed. */
static uint8_t *expand(const uint8_t *data, size_t *size)
{
	uint8_t *text = malloc(*size * 2 * LONG + 1), *at = text;

	for (size_t i = 0; i < *size; i++)
		if (data[i] >= 0xfc)
			at += write_tail(0xffu - data[i], at);
		else
			*at++ = data[i];
	*size = (size_t)(at - text);
	return text;
}

/* Through a stream, in pieces by @cut. */
static void feed(struct redact *redact, uint8_t *data, size_t size, size_t cut,
		 struct output *output)
{
	for (size_t at = 0; at < size;) {
		size_t piece = cut ? 1 + (at * 31 + cut) % cut : size;

		piece = piece > size - at ? size - at : piece;
		if (!redact_feed(redact, data + at, piece, put, output))
			fault("no memory");
		at += piece;
	}
	redact_release(redact, put, output);
}

static void check(const struct secret *secret, const uint8_t *data, size_t size, size_t cut)
{
	struct redact_set *set = redact_set_make(secret->at, secret->size);
	struct redact *redact = redact_make(set);
	uint8_t *want = malloc(size + 1), *got = malloc(size + 1), *copy = malloc(size + 1);
	struct output output = { got, 0 };

	memcpy(want, data, size);
	memcpy(copy, data, size);
	for (unsigned form = 0; form < 4; form++)
		for (size_t i = 0; i < size; i++)
			mark(&(struct place){ secret, data, data + i, data + size, form, want }, 0,
			     data + i);
	if (!redact_whole(redact, copy, size))
		fault("no memory");
	if (memcmp(copy, want, size) != 0)
		fault("'%.*s' in\n'%.*s' is\n'%.*s', not\n'%.*s'", (int)secret->size, secret->at,
		      (int)size, data, (int)size, copy, (int)size, want);
	memcpy(copy, data, size);
	feed(redact, copy, size, cut, &output);
	if (output.size != size)
		fault("%zu bytes of %zu came out", output.size, size);
	if (memcmp(got, want, size) != 0)
		fault("cut by %zu, '%.*s' is\n'%.*s', not\n'%.*s'", cut, (int)size, data, (int)size,
		      got, (int)size, want);
	redact_free(redact);
	redact_set_drop(set);
	free(want);
	free(got);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct secret secret;
	uint8_t *text;
	size_t cut;

	if (size < SECRET + 1)
		return 0;
	memcpy(secret.at + SECRET, TAIL, sizeof(TAIL) - 1);
	for (size_t i = 0; i < SECRET; i++)
		secret.at[i] = data[i] >= ' ' && data[i] <= '~' ? data[i] : ' ' + data[i] % 95;
	cut = data[SECRET];
	secret.size = cut & 1 ? LONG : SECRET;
	data += SECRET + 1;
	size -= SECRET + 1;
	text = expand(data, &size);
	if (size < 1 << 12 && !takes_long(text, size))
		check(&secret, text, size, cut / 2);
	free(text);
	return 0;
}
