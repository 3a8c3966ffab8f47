/*
 * How long the search takes must tell nothing but what proxy/detect.h says.  No clock is
 * asked: what it is made of is built so that each block of it calls, and of two secrets that
 * are looked for in one text, both ways through it are compared, block for block.
 */
#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "proxy/redact.h"

void __sanitizer_cov_trace_pc(void);

static bool tracing;
static uint64_t path;

void __sanitizer_cov_trace_pc(void)
{
	uint64_t place = (uintptr_t)__builtin_return_address(0);

	if (tracing)
		path = ((path << 7 | path >> 57) ^ place) * 0x9e3779b97f4a7c15u;
}

struct text {
	char at[20000];
	size_t size;
};

static void add(struct text *text, const char *more)
{
	size_t size = strlen(more);

	cr_assert(text->size + size <= sizeof(text->at));
	memcpy(text->at + text->size, more, size);
	text->size += size;
}

/* @count bytes of @value in base64, with @before bytes more before them. */
static void add_base64(struct text *text, const char *value, size_t count, size_t before)
{
	uint8_t plain[500] = "::", coded[700];

	memcpy(plain + before, value, count);
	EVP_EncodeBlock(coded, plain, (int)(before + count));
	coded[(before + count) * 8 / 6] = '\0'; /* what is known of it in part may be wrong */
	add(text, (char *)coded);
}

/* As much as @count bytes of @value, in each form, by escapes and not, again and again. */
static void add_guess(struct text *text, const char *value, size_t count)
{
	char part[500];

	for (unsigned i = 0; i < 3; i++) {
		snprintf(part, sizeof(part), "%.*s", (int)count, value);
		add(text, part);
		add(text, "&#0000000000000000000000 ");
		add_base64(text, value, count, i);
		add(text, "\\u00 ");
		snprintf(part, sizeof(part), "&#%d;%.*s%%%02x ", value[0], (int)count - 2,
			 value + 1, value[count - 1]);
		add(text, part);
		add(text, i == 1 ? "\n" : " \\\\");
	}
}

static void put(void *context, const uint8_t *data, size_t size)
{
	(void)context, (void)data, (void)size;
}

static uint8_t *copy(const struct text *text)
{
	static uint8_t room[sizeof(text->at)];

	memcpy(room, text->at, text->size);
	return room;
}

/* The way through a search of @text for @secret: in pieces, after another secret was added,
 * and as a whole. */
static uint64_t way(const char *secret, const struct text *text)
{
	struct redact_set *set = redact_set_make(secret, strlen(secret));
	struct redact_set *other = redact_set_make("another-value-yet", 17);
	struct redact *redact = redact_make(set);
	size_t half = text->size / 2;
	uint8_t *data = copy(text);

	cr_assert(set && other && redact);
	path = 0;
	tracing = true;
	cr_assert(redact_feed(redact, data, half, put, NULL));
	cr_assert(redact_feed(redact, data + half, text->size - half, put, NULL));
	cr_assert(redact_also(redact, other));
	cr_assert(redact_feed(redact, copy(text), text->size, put, NULL));
	cr_assert(redact_whole(redact, copy(text), text->size));
	tracing = false;
	redact_free(redact);
	redact_set_drop(set);
	redact_set_drop(other);
	return path;
}

/* Of one length; the first two begin alike, the third does not. */
static const char *const keys[] = { "sk-test-3fe1b7c09d2a4e68", "sk-Q0ZW9VX8MLH7U5RJ6ON4Y",
				    "XYZtest-3fe1b7c09d2a4e68" };

/* Who has a part of one come back, ever longer, sees no difference to another. */
Test(redact_paths, a_part_of_it)
{
	static struct text text;

	for (size_t count = 3; count < strlen(keys[0]); count++) {
		text.size = 0;
		add_guess(&text, keys[0], count);
		cr_expect_eq(way(keys[0], &text), way(keys[1], &text), "%zu", count);
		cr_expect_neq(way(keys[0], &text), way(keys[2], &text), "%zu", count);
	}
	add(&text, keys[0]);
	cr_expect_neq(way(keys[0], &text), way(keys[1], &text));
}

/* Nor does it matter that the whole one is there as well, before it or behind it. */
Test(redact_paths, a_part_beside_an_echo)
{
	static struct text text[2];

	for (size_t count = 3; count < strlen(keys[0]); count++) {
		for (unsigned i = 0; i < 2; i++) {
			text[i].size = 0;
			add_guess(&text[i], keys[0], count);
			add(&text[i], keys[i]);
			add_guess(&text[i], keys[0], count);
			add_base64(&text[i], keys[i], strlen(keys[i]), 0);
			add_guess(&text[i], keys[0], count);
			cr_assert_eq(text[i].size, text[0].size);
		}
		cr_expect_eq(way(keys[0], &text[0]), way(keys[1], &text[1]), "%zu", count);
	}
}

#define HEADER "eyJhbGciOiJSUzI1NiIsImtpZCI6IkFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaYWJjZGVmZyJ9."

/* Of long ones that begin alike: what comes after the first 64 characters tells nothing.
 * These do: with 64 others it is another way. */
Test(redact_paths, a_part_of_a_long_one)
{
	static const char *const tokens[] = { HEADER "R8dTzL0mVw3xYk2pRr7nQ5vK",
					      HEADER "qZ4b_HsAoE9tGu6yCf1jDkWX" };
	static struct text text[2];
	char another[200];

	snprintf(another, sizeof(another), "%s", tokens[0]);
	another[63] = '.';
	for (size_t count = 40; count < strlen(tokens[0]); count++) {
		for (unsigned i = 0; i < 2; i++) {
			text[i].size = 0;
			add_guess(&text[i], tokens[0], count);
		}
		cr_expect_eq(way(tokens[0], &text[0]), way(tokens[1], &text[1]), "%zu", count);
		cr_expect_eq(way(tokens[0], &text[0]) == way(another, &text[1]), count < 64, "%zu",
			     count);
		for (unsigned i = 0; i < 2; i++) {
			add(&text[i], tokens[i]);
			add_guess(&text[i], tokens[0], count);
		}
		cr_expect_eq(way(tokens[0], &text[0]), way(tokens[1], &text[1]), "%zu", count);
	}
}
