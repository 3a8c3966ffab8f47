#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/websocket.h"

struct text {
	uint8_t at[1 << 18];
	size_t size;
};

static void put(void *context, const uint8_t *data, size_t size)
{
	struct text *text = context;

	cr_assert(text->size + size <= sizeof(text->at));
	memcpy(text->at + text->size, data, size);
	text->size += size;
}

static void add_frame(struct text *text, uint8_t first, const char *data, size_t size)
{
	uint8_t head[10] = { first, (uint8_t)size };
	size_t more = size < 126 ? 0 : size < 65536 ? 2 : 8;

	if (more)
		head[1] = more == 2 ? 126 : 127;
	for (size_t i = 0; i < more; i++)
		head[2 + i] = (uint8_t)(size >> 8 * (more - 1 - i));
	put(text, head, 2 + more);
	put(text, (const uint8_t *)data, size);
}

/* By @piece bytes at a time. */
static bool feed(const struct text *in, size_t piece, struct text *out, unsigned *echoes)
{
	struct redact_set *set = redact_set_make("sk-abcdefgh", 11);
	struct redact *redact = redact_make(set);
	struct websocket websocket = { .left = 0 };
	bool good = true;

	out->size = 0;
	for (size_t at = 0; good && at < in->size; at += piece) {
		size_t size = in->size - at < piece ? in->size - at : piece;
		uint8_t *copy = malloc(size);

		memcpy(copy, in->at + at, size);
		good = websocket_feed(&websocket, redact, copy, size, put, out);
		free(copy);
	}
	*echoes = redact_count(redact);
	redact_free(redact);
	redact_set_drop(set);
	return good;
}

/* The messages in @in, each behind its opcode and before a line feed, controls apart. */
static void read_all(const struct text *in, struct text *messages, struct text *controls)
{
	bool within = false;

	messages->size = controls->size = 0;
	for (size_t at = 0; at < in->size;) {
		uint8_t first = in->at[at], *head = (uint8_t *)(uintptr_t)in->at + at;
		struct text *to = first & 8 ? controls : messages;
		size_t size = head[1], more = size < 126 ? 0 : size == 126 ? 2 : 8;

		for (size_t i = 0, length = 0; i < more; i++)
			size = length = length << 8 | head[2 + i];
		cr_assert(at + 2 + more + size <= in->size);
		if (to == messages) {
			cr_assert_eq(!(first & 15), within);
			within = !(first & 0x80);
		}
		if (first & 15)
			put(to, &(uint8_t){ first & 15 }, 1);
		put(to, head + 2 + more, size);
		if (first & 0x80)
			put(to, (const uint8_t *)"\n", 1);
		at += 2 + more + size;
	}
	cr_assert_not(within);
}

Test(websocket, messages)
{
	static struct text in, out, messages, controls, plain;
	static char big[70000];
	unsigned echoes;

	memset(big, 'a', sizeof(big));
	memcpy(big + 33333, "sk-abcdefgh", 11);
	in.size = 0;
	add_frame(&in, 0x81, "sk-abcdefgh", 11);
	add_frame(&in, 0x82, "", 0);
	add_frame(&in, 0x01, "say: sk-a", 9);
	add_frame(&in, 0x8a, "sk-abcdefgh", 11);
	add_frame(&in, 0x00, "bcde", 4);
	add_frame(&in, 0x00, "", 0);
	add_frame(&in, 0x89, "", 0);
	add_frame(&in, 0x80, "fgh.", 4);
	add_frame(&in, 0x82, big, 300);
	add_frame(&in, 0x82, big, sizeof(big));
	add_frame(&in, 0x88, "\x03\xe8", 2);
	read_all(&in, &plain, &controls);
	for (size_t piece = 1; piece < 2 * in.size; piece = piece * 2 + 1) {
		cr_assert(feed(&in, piece, &out, &echoes), "%zu", piece);
		cr_expect_eq(echoes, 4);
		read_all(&out, &messages, &controls);
		cr_assert_eq(messages.size, plain.size);
		cr_expect_eq(memcmp(messages.at, "\1***********\n\2\n\1say: ***********.\n\2a", 36),
			     0);
		cr_expect_null(memmem(messages.at, messages.size, "sk-", 3));
		cr_expect(controls.size == 19 &&
			  !memcmp(controls.at, "\12***********\n\11\n\10\x03\xe8\n", 19));
	}
}

/* What comes as a whole goes on as it is: the same frame, whatever is in it. */
Test(websocket, one_frame_stays_one)
{
	static const char *const texts[] = { "", "sk-abcdefg", "two\nlines",
					     "sk-abcdefgX\n\nsk-a" };
	static struct text in, out;
	unsigned echoes;

	for (size_t i = 0; i < 4; i++) {
		in.size = 0;
		add_frame(&in, 0x81, texts[i], strlen(texts[i]));
		add_frame(&in, 0x82, texts[i], strlen(texts[i]));
		cr_assert(feed(&in, in.size, &out, &echoes));
		cr_expect(out.size == in.size && !memcmp(out.at, in.at, in.size), "%s", texts[i]);
	}
}

Test(websocket, what_is_none)
{
	static const struct {
		const char *bytes;
		size_t size;
	} cases[] = {
		{ "\xc1\0", 2 },   /* compressed */
		{ "\x91\0", 2 },   /* two reserved bits more */
		{ "\x81\x81", 2 }, /* masked */
		{ "\x83\0", 2 },   /* opcodes that there are not */
		{ "\x8b\0", 2 },
		{ "\x80\0", 2 },     /* goes on with no message */
		{ "\1\0\x81\0", 4 }, /* a message within another */
		{ "\x09\0", 2 },     /* a ping in parts, or of 126 bytes */
		{ "\x89\x7e\0\x7e", 4 },
		{ "\x82\x7f\x80\0\0\0\0\0\0\0", 10 }, /* longer than there are bytes */
	};
	static struct text in, out;
	unsigned echoes;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		in.size = 0;
		put(&in, (const uint8_t *)cases[i].bytes, cases[i].size);
		cr_expect_not(feed(&in, 1, &out, &echoes), "%zu", i);
	}
}

/* A message that stops amidst goes on as a fragment. */
Test(websocket, a_silence)
{
	static const uint8_t want[] = "\1\3abc\x80\2de";
	struct redact_set *set = redact_set_make("sk-abcdefgh", 11);
	struct redact *redact = redact_make(set);
	struct websocket websocket = { .left = 0 };
	uint8_t one[] = "\x81\5abc", two[] = "de";
	static struct text out;

	cr_assert(websocket_feed(&websocket, redact, one, 5, put, &out));
	cr_expect_eq(out.size, 0);
	websocket_release(&websocket, redact, put, &out);
	websocket_release(&websocket, redact, put, &out);
	cr_assert(websocket_feed(&websocket, redact, two, 2, put, &out));
	cr_expect(out.size == 9 && !memcmp(out.at, want, 9));
	redact_free(redact);
	redact_set_drop(set);
}
