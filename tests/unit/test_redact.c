#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "proxy/keeper.h"
#include "proxy/redact.h"

struct text {
	uint8_t at[1 << 16];
	size_t size;
};

static void add(struct text *text, const void *data, size_t size)
{
	cr_assert(text->size + size <= sizeof(text->at));
	memcpy(text->at + text->size, data, size);
	text->size += size;
}

static void put(void *context, const uint8_t *data, size_t size)
{
	add(context, data, size);
}

/* ---- a plain stream ------------------------------------------------------------------------- */

/* Through one stream, in pieces of @piece bytes (0: of random ones). */
static void pass(struct redact_set *set, const struct text *in, size_t piece, struct text *out)
{
	struct redact *redact = redact_make(set);

	out->size = 0;
	for (size_t at = 0; at < in->size;) {
		size_t size = piece ? piece : 1 + (size_t)rand() % 40;
		/* its own size, so that reading past it is seen */
		uint8_t *copy = malloc(size);

		if (size > in->size - at)
			size = in->size - at;
		memcpy(copy, in->at + at, size);
		cr_assert(redact_feed(redact, copy, size, put, out));
		free(copy);
		at += size;
	}
	redact_release(redact, put, out);
	redact_free(redact);
}

static void expect(struct redact_set *set, const char *in, const char *want)
{
	struct text text = { .size = 0 }, out;

	add(&text, in, strlen(in));
	pass(set, &text, text.size, &out);
	cr_expect(out.size == strlen(want) && !memcmp(out.at, want, out.size), "%s\n%.*s", in,
		  (int)out.size, out.at);
}

Test(redact, the_ways_to_write_it)
{
	static const char secret[] = "sk-\"a/b\\?>~";
	struct redact_set *set = redact_set_make(secret, 11);

	cr_assert(set);
	expect(set, "say sk-\"a/b\\?>~ and go", "say *********** and go");
	expect(set, "sk-\"a/b\\?>~", "***********");
	expect(set, "sk-\"a/b\\?>", "sk-\"a/b\\?>");
	expect(set, "sk-sk-\"a/b\\?>~sk", "sk-***********sk");
	/* JSON, of several minds */
	expect(set, "{\"k\":\"sk-\\\"a/b\\\\?>~\"}", "{\"k\":\"*************\"}");
	expect(set, "sk-\\\"a\\/b\\\\?>~.", "**************.");
	expect(set, "\\u0073k-\\u0022a/b\\u005c\\u003F\\u003e~.",
	       "************************************.");
	expect(set, "\\x73k-\\\"a/b\\\\?>~.", "****************.");
	/* of a URL, in either case, and what need not be escaped */
	expect(set, "sk-%22a%2fb%5C%3F%3e%7E&", "***********************&");
	expect(set, "%73%6b%2d%22%61%2F%62%5c%3f%3E%7e&", "*********************************&");
	/* base64: at each offset, in both alphabets, with and without its end */
	expect(set, "c2stImEvYlw/Pn4=", "***************=");
	expect(set, "c2stImEvYlw_Pn4.", "***************.");
	expect(set, "Basic dTpzay0iYS9iXD8+fg==", "Basic dT****************==");
	expect(set, "eHh4eHNrLSJhL2JcPz5+eHg=", "eHh4e***************eHg=");
	/* the same in a URL, and in JSON */
	expect(set, "dTpzay0iYS9iXD8%2Bfg%3D%3D", "dT******************%3D%3D");
	expect(set, "c2stImEvYlw\\/Pn4=", "****************=");
	expect(set, "c2stImEvYlw\\u002fPn4=", "********************=");
	/* HTML, of several minds */
	expect(set, "sk-&quot;a/b\\?&gt;~</p>", "*******************</p>");
	expect(set, "sk-&#34;a&#x2F;b\\?&#62;~", "************************");
	expect(set, "sk-&#034;a&#X00002f;b&bsol;&quest;&gt;~",
	       "***************************************");
	expect(set, "c2stImEvYlw&sol;Pn4&equals;", "*******************&equals;");
	expect(set, "sk-&quota/b\\?>~", "sk-&quota/b\\?>~");
	expect(set, "sk-&#290;a/b\\?>~", "sk-&#290;a/b\\?>~");
	/* one text within another */
	expect(set, "sk-%2522a%252Fb%25255c%3f>~", "***************************");
	expect(set, "sk-&amp;quot;a&amp;amp;#47;b&amp;bsol;?>~",
	       "*****************************************");
	expect(set, "sk-\\\\\\\"a\\\\/b\\\\\\\\?>~", "*******************");
	expect(set, "sk-\\\\\\\\\\\\\\\"a\\u0026#47;b\\\\?>~", "****************************");
	expect(set, "c2stImEvYlw%252FPn4%253D", "*******************%253D");
	/* not quite */
	expect(set, "sk-\"a/b\\?>!", "sk-\"a/b\\?>!");
	expect(set, "SK-\"A/B\\?>~", "SK-\"A/B\\?>~");
	expect(set, "sk-%2xa/b%", "sk-%2xa/b%");
	redact_set_drop(set);
}

Test(redact, sizes)
{
	char big[KEEPER_VALUE_MAX + 1];
	struct redact_set *set;

	memset(big, 'x', sizeof(big));
	cr_expect_null(redact_set_make(big, KEEPER_VALUE_MIN - 1));
	cr_expect_null(redact_set_make(big, KEEPER_VALUE_MAX + 1));
	cr_expect_null(redact_set_make("line\nline", 9));
	cr_expect_null(redact_set_make("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 8));
	set = redact_set_make(big, KEEPER_VALUE_MAX);
	cr_expect(set);
	redact_set_drop(set);
	set = redact_set_make(big, KEEPER_VALUE_MIN);
	expect(set, "", "");
	expect(set, "xxxxxxxx", "********");
	expect(set, "axxxxxxxxxxxa", "a***********a");
	redact_set_drop(set);
}

/* What has come goes on at once, but what is behind the last byte that is in no form. */
Test(redact, what_waits)
{
	static const struct {
		const char *piece;
		size_t out; /* bytes handed on by then */
	} steps[] = {
		{ "data: x\n\n", 9 }, { "data: s", 9 }, { "k-abc", 9 }, { "two words", 9 },
		{ "\n\n", 32 },       { "a\x7fx", 34 }, { "\xc3", 36 }, { "z\0y", 38 },
	};
	struct redact_set *set = redact_set_make("sk-abcdefghijk", 14);
	struct redact *redact = redact_make(set);
	struct text out = { .size = 0 };
	uint8_t piece[16];

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		size_t size = i == 7 ? 3 : strlen(steps[i].piece);

		memcpy(piece, steps[i].piece, size);
		cr_expect_eq(out.size + redact_ready(redact, piece, size), steps[i].out);
		cr_assert(redact_feed(redact, piece, size, put, &out));
		cr_expect_eq(out.size, steps[i].out, "step %zu: %zu", i, out.size);
	}
	cr_expect_eq(redact_waits(redact), 1);
	redact_release(redact, put, &out);
	cr_expect_eq(redact_waits(redact), 0);
	cr_expect_eq(out.size, 39);
	cr_expect_eq(redact_count(redact), 0);
	redact_free(redact);
	redact_set_drop(set);
}

/* The pieces of @in, of 7 bytes each and then of all it is, by their sizes. */
static void sizes(struct redact_set *set, const struct text *in, struct text *out)
{
	static struct text copy;
	struct redact *redact = redact_make(set);

	void put_size(void *context, const uint8_t *data, size_t size)
	{
		(void)data;
		add(context, &size, sizeof(size));
	}
	out->size = 0;
	for (size_t piece = 7; piece <= in->size; piece += in->size - 7)
		for (size_t at = 0; at < in->size; at += piece) {
			size_t size = in->size - at < piece ? in->size - at : piece;

			memcpy(copy.at, in->at + at, size);
			cr_assert(redact_feed(redact, copy.at, size, put_size, out));
			put_size(out, NULL, redact_waits(redact));
		}
	redact_free(redact);
}

/* Who has texts of his own come back sees no difference between what is nearly the secret
 * and what is nothing like it: neither in what waits, nor in the pieces. */
Test(redact, a_part_of_it_tells_nothing)
{
	static const char secret[] = "sk-3fe1b7c09d2a4e68";
	static const char *const right[] = { "sk-3fe1b7c09d2a4e6", "c2stM2ZlMWI3YzA5ZDJhNGU2O",
					     "%73%6b%2d%33%66", "&#115;&#107;-3fe1b7c0" };
	static const char *const wrong[] = { "sk-3fe1b7c09d2a4eX", "XYZtM2ZlMWI3YzA5ZDJhNGU2O",
					     "%63%6b%2d%33%66", "&#105;&#107;-3fe1b7c0" };
	struct redact_set *set = redact_set_make(secret, strlen(secret));
	static struct text in[2], out[2];

	for (size_t i = 0; i < 4; i++) {
		for (size_t n = 0; n < 2; n++) {
			const char *guess = n ? wrong[i] : right[i];

			in[n].size = 0;
			while (in[n].size < 300) {
				add(&in[n], "some text\n", in[n].size % 3 * 5);
				add(&in[n], guess, strlen(guess));
			}
			while (in[n].size < 30000)
				add(&in[n], guess, strlen(guess));
			sizes(set, &in[n], &out[n]);
		}
		cr_expect(out[0].size == out[1].size && !memcmp(out[0].at, out[1].at, out[0].size),
			  "%s", right[i]);
	}
	redact_set_drop(set);
}

/* No more waits than the longest way to write the secret; a secret cut by a pause is
 * overwritten from there on. */
Test(redact, the_most_that_waits)
{
	struct redact_set *set = redact_set_make("sk-abcdefghijk", 14);
	struct redact *redact = redact_make(set);
	static struct text out;
	uint8_t some[1000], rest[] = "cdefghijk", lone[] = "sk-ab";
	size_t most = 0;

	for (size_t i = 0; i < 50; i++) {
		memset(some, 'a', sizeof(some));
		cr_assert(redact_feed(redact, some, sizeof(some), put, &out));
		cr_expect(redact_waits(redact) >= most);
		most = redact_waits(redact);
	}
	cr_expect(most > 14 * 40 * 8 / 6 && most < 4096, "%zu", most);
	out.size = 0;
	cr_assert(redact_feed(redact, lone, 5, put, &out));
	redact_release(redact, put, &out);
	cr_assert(redact_feed(redact, rest, 9, put, &out));
	redact_release(redact, put, &out);
	cr_expect_eq(memcmp(out.at + out.size - 15, "ask-ab*********", 15), 0);
	redact_free(redact);
	redact_set_drop(set);
}

Test(redact, as_a_whole)
{
	struct redact_set *set = redact_set_make("sk-abcdefgh", 11);
	struct redact *redact = redact_make(set);
	uint8_t text[] = "https://x/?key=sk%2dabcdefgh&a=c2stYWJjZGVmZ2g=", none[] = "nothing";

	cr_assert(redact_whole(redact, text, sizeof(text) - 1));
	cr_expect_eq(redact_count(redact), 1);
	cr_expect_str_eq((char *)text, "https://x/?key=*************&a=***************=");
	cr_assert(redact_whole(redact, none, sizeof(none) - 1));
	cr_expect_eq(redact_count(redact), 1);
	cr_expect_str_eq((char *)none, "nothing");
	redact_free(redact);
	redact_set_drop(set);
}

Test(redact, several_secrets)
{
	static const char *const secrets[] = { "sk-abcdefgh", "other-one-1", "other-one-2",
					       "third-%%-it", "fourth-one",  "fifth---one",
					       "sixth---one", "seventh-one" };
	uint8_t text[] =
	    "sk-abcdefgh other-one-2 third-\\u0025%25-it c2V2ZW50aC1vbmU= %%41 fifth---one";
	struct redact_set *sets[8];
	struct redact *redact;

	for (size_t i = 0; i < 8; i++)
		sets[i] = redact_set_make(secrets[i], strlen(secrets[i]));
	redact = redact_make(sets[0]);
	for (size_t i = 0; i < 8; i++)
		cr_expect(redact_also(redact, sets[i]));
	for (size_t i = 0; i < 8; i++)
		redact_set_drop(sets[i]);
	cr_assert(redact_whole(redact, text, sizeof(text) - 1));
	cr_expect_str_eq(
	    (char *)text,
	    "*********** *********** ****************** ***************= %%41 ***********");
	redact_free(redact);
}

/* A hundred that begin alike, as those do that one source has had, and a hundred that do not. */
Test(redact, many_secrets)
{
	static struct text in, out, want;

	for (unsigned alike = 0; alike < 2; alike++) {
		struct redact *redact = NULL;

		in.size = want.size = out.size = 0;
		for (unsigned i = 0; i < 100; i++) {
			char value[40];
			struct redact_set *set;
			size_t size = (size_t)snprintf(
			    value, sizeof(value), alike ? "eyJhbGciOiJS.%u-x" : "%c%c-value-%u",
			    alike ? i + 100 : '!' + i * 7 % 90, '!' + i * 13 % 90, i + 100);

			set = redact_set_make(value, size);
			if (redact)
				cr_assert(redact_also(redact, set));
			else
				redact = redact_make(set);
			redact_set_drop(set);
			add(&in, " \\eyJhbGciOiJS.9", 17);
			add(&in, value, size);
			add(&want, " \\eyJhbGciOiJS.9", 17);
			for (size_t n = 0; n < size; n++)
				add(&want, "*", 1);
		}
		for (size_t at = 0; at < in.size; at += 50)
			cr_assert(redact_feed(redact, in.at + at,
					      in.size - at < 50 ? in.size - at : 50, put, &out));
		redact_release(redact, put, &out);
		cr_expect_eq(out.size, want.size);
		cr_expect_eq(memcmp(out.at, want.at, out.size), 0, "%.*s", (int)out.size, out.at);
		redact_free(redact);
	}
}

/* One that is added amidst is found from there on; what is retired no more. */
Test(redact, secrets_that_change)
{
	struct redact_set *one = redact_set_make("first-one", 9);
	struct redact_set *two = redact_set_make("other-two", 9);
	struct redact *redact = redact_make(one);
	uint8_t before[] = "first-one other-two\nfirst-", after[] = "one other-two\nother-";
	uint8_t last[] = "two first-one first-one\n";
	struct text out = { .size = 0 };

	cr_assert(redact_feed(redact, before, sizeof(before) - 1, put, &out));
	cr_assert(redact_also(redact, two));
	cr_assert(redact_feed(redact, after, sizeof(after) - 1, put, &out));
	redact_set_retire(one);
	one = redact_set_make("third-one", 9);
	cr_assert(redact_also(redact, one));
	cr_assert(redact_feed(redact, last, sizeof(last) - 1, put, &out));
	cr_expect(!strncmp((char *)out.at,
			   "********* other-two\n********* *********\n********* first-one "
			   "first-one\n",
			   out.size));
	cr_expect_eq(out.size, sizeof(before) + sizeof(after) + sizeof(last) - 3);
	redact_free(redact);
	redact_set_drop(one);
	redact_set_drop(two);
}

/* In three pieces, cut at each two places. */
static void cut_in_three(struct redact_set *set, const char *in, size_t stars)
{
	size_t size = strlen(in);

	for (size_t cut = 0; cut <= size; cut++)
		for (size_t other = cut; other <= size; other++) {
			const size_t ends[] = { cut, other, size };
			struct redact *redact = redact_make(set);
			struct text out = { .size = 0 };
			size_t found = 0, at = 0;
			uint8_t copy[200];

			memcpy(copy, in, size);
			for (size_t i = 0; i < 3; at = ends[i++])
				cr_assert(redact_feed(redact, copy + at, ends[i] - at, put, &out));
			redact_release(redact, put, &out);
			redact_free(redact);
			for (size_t i = 0; i < out.size; i++)
				found += out.at[i] == '*';
			cr_assert(found == stars, "%zu, %zu: %.*s", cut, other, (int)out.size,
				  out.at);
		}
}

Test(redact, base64_that_is_cut)
{
	struct redact_set *set = redact_set_make("sk-3fe1b7c09d2a", 15);

	cut_in_three(set, "said: c2stM2ZlMWI3YzA5ZDJh end", 20);
	cut_in_three(set, "said: eHNrLTNmZTFiN2MwOWQyYQ== end", 21);
	cut_in_three(set, "eHNrLTNmZTFiN2MwOWQyYXh4", 21);
	cut_in_three(set, "Basic Ym90OnNrLTNmZTFiN2MwOWQyYQ==", 21);
	cut_in_three(set, "Basic dTpzay0zZmUxYjdjMDlkMmE= end", 21);
	cut_in_three(set, "Basic eTpz%61y0zZmUxYjdjMDlkMmE%3D", 23);
	redact_set_drop(set);
}

/* ---- random secrets, ways to write them, and cuts -------------------------------------------- */

static const char noise[] = "abcSK-sk\\\\%%%2u0015&#;amp\"/ \n=+_{}:,xyzXYZ~";

static void add_noise(struct text *text, size_t most)
{
	for (size_t n = (size_t)rand() % most; n; n--)
		add(text, &noise[(size_t)rand() % (sizeof(noise) - 1)], 1);
}

static void add_byte(struct text *text, uint8_t byte, int way)
{
	char piece[12];

	switch (way) {
	case 0:
		snprintf(piece, sizeof(piece), "%%%02x", byte);
		break;
	case 1:
		snprintf(piece, sizeof(piece), "%%%02X", byte);
		break;
	case 2:
		snprintf(piece, sizeof(piece), "\\u00%02x", byte);
		break;
	case 3:
		snprintf(piece, sizeof(piece), "\\u00%02X", byte);
		break;
	case 4:
		snprintf(piece, sizeof(piece), "\\x%02x", byte);
		break;
	case 5:
		snprintf(piece, sizeof(piece), "\\%c", byte);
		break;
	case 6:
		snprintf(piece, sizeof(piece), "&#%d;", byte);
		break;
	case 7:
		snprintf(piece, sizeof(piece), "&#x%02X;", byte);
		break;
	case 8:
		snprintf(piece, sizeof(piece), "%%25%02x", byte);
		break;
	default:
		snprintf(piece, sizeof(piece), "%c", byte);
	}
	add(text, piece, strlen(piece));
}

/* Each byte as it is (@how 0), or now and then in an escape, or mostly. */
static void add_escaped(struct text *text, const uint8_t *data, size_t size, int how)
{
	for (size_t i = 0; i < size; i++) {
		int way = !how || (how == 1 && rand() % 8) ? 9 : rand() % 10;

		if (way == 5 && !strchr("\"\\/", data[i]))
			way = 9;
		add_byte(text, data[i], way);
	}
}

/* One echo of @secret, which leaves the place of what must not come through. */
static void add_echo(struct text *text, const uint8_t *secret, size_t size, size_t *from,
		     size_t *to)
{
	uint8_t whole[600], coded[900];
	size_t before = (size_t)rand() % 7, after = (size_t)rand() % 7, length, first, last;

	if (rand() % 2) {
		*from = text->size;
		add_escaped(text, secret, size, rand() % 3);
		*to = text->size;
		return;
	}
	for (size_t i = 0; i < before + size + after; i++)
		whole[i] = (uint8_t)rand();
	memcpy(whole + before, secret, size);
	length = (size_t)EVP_EncodeBlock(coded, whole, (int)(before + size + after));
	for (size_t i = 0; rand() % 2 && i < length; i++)
		coded[i] = coded[i] == '+' ? '-' : coded[i] == '/' ? '_' : coded[i];
	first = before * 8 / 6;
	last = ((before + size) * 8 + 5) / 6;
	int how = rand() % 3;
	add_escaped(text, coded, first, how);
	*from = text->size;
	add_escaped(text, coded + first, last - first, how);
	*to = text->size;
	add_escaped(text, coded + last, length - last, how);
}

Test(redact, whatever_is_cut_wherever)
{
	static struct text in, out, want, again;
	static const char letters[] = "abcSK-sk\\%2u0015\"/=+_.~AbCdEf";

	for (unsigned round = 0; round < 4000; round++) {
		uint8_t secret[400];
		size_t size = KEEPER_VALUE_MIN + (size_t)rand() % (round % 20 ? 60 : 390);
		struct redact_set *set;

		srand(round);
		for (size_t i = 0; i < size; i++)
			secret[i] = round % 3
					? (uint8_t)(0x21 + rand() % 94)
					: (uint8_t)letters[(size_t)rand() % (sizeof(letters) - 1)];
		set = redact_set_make(secret, size);
		in.size = 0;
		want.size = 0;
		for (int i = rand() % 4; i >= 0; i--) {
			size_t from, to, start = in.size;

			add_noise(&in, 50);
			add(&in, "q", 1); /* no escape begins with it, nor ends */
			add_echo(&in, secret, size, &from, &to);
			add(&want, in.at + start, in.size - start);
			memset(want.at + from, '*', to - from);
			add(&in, "q", 1);
			add_noise(&in, 50);
			add(&want, in.at + want.size, in.size - want.size);
		}
		pass(set, &in, 1 + round % 3 * 100000, &out);
		cr_assert_eq(out.size, in.size);
		for (size_t i = 0; i < out.size; i++)
			cr_assert_eq(out.at[i], want.at[i], "round %u, at %zu:\n%.*s\n%.*s\n%.*s",
				     round, i, (int)in.size, in.at, (int)out.size, out.at,
				     (int)size, secret);
		pass(set, &in, 0, &again);
		cr_assert_eq(again.size, in.size);
		cr_assert_eq(memcmp(again.at, want.at, again.size), 0, "round %u:\n%.*s\n%.*s",
			     round, (int)again.size, again.at, (int)want.size, want.at);
		redact_set_drop(set);
	}
}

/* ---- packed answers ------------------------------------------------------------------------- */

static void pack(const struct text *in, int window, struct text *out)
{
	z_stream stream = { 0 };

	cr_assert_eq(deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_in = (uint8_t *)(uintptr_t)in->at;
	stream.avail_in = (unsigned)in->size;
	stream.next_out = out->at + out->size;
	stream.avail_out = (unsigned)(sizeof(out->at) - out->size);
	cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
	out->size += stream.total_out;
	deflateEnd(&stream);
}

/* By @piece bytes, into @room; false: it is broken. */
static bool unpack_all(const struct text *in, size_t piece, size_t room, struct text *out)
{
	struct unpack *unpack = unpack_make();
	uint8_t some[4096];
	bool good = true;

	out->size = 0;
	for (size_t at = 0; good && at <= in->size; at += piece) {
		size_t size = in->size - at < piece ? in->size - at : piece;
		const uint8_t *from = in->at + at;
		long got;

		do {
			got = unpack_feed(unpack, &from, &size, at + piece > in->size, some, room);
			good = got >= 0;
			if (good)
				add(out, some, (size_t)got);
		} while (good && got == (long)room);
		cr_expect(!good || !size);
	}
	unpack_free(unpack);
	return good;
}

Test(redact, what_is_unpacked)
{
	static const int windows[] = { 15 + 16, 15, -15 };
	static struct text plain, packed, out, cut;

	for (size_t i = 0; i < 20000; i++)
		add(&plain, i % 7 ? "abc" : &noise[(size_t)rand() % 20], 1 + i % 2);
	for (size_t i = 0; i < 3; i++) {
		packed.size = 0;
		pack(&plain, windows[i], &packed);
		for (size_t piece = 1; piece < 2 * packed.size; piece = piece * 3 + 1) {
			cr_expect(unpack_all(&packed, piece, 100, &out), "%zu %zu", i, piece);
			cr_expect(out.size == plain.size && !memcmp(out.at, plain.at, out.size));
		}
		for (size_t size = 1; size < packed.size; size += 97) {
			cut = packed;
			cut.size = size;
			cr_expect_not(unpack_all(&cut, 50, 4096, &out), "%zu %zu", i, size);
		}
		add(&packed, "rest", 4);
		cr_expect(unpack_all(&packed, 1000, 4096, &out) && out.size == plain.size);
	}
	packed.size = 0;
	cr_expect(unpack_all(&packed, 1, 10, &out) && !out.size);
	plain.size = 5;
	pack(&plain, 15 + 16, &packed);
	pack(&plain, 15 + 16, &packed);
	cr_expect(unpack_all(&packed, 3, 4, &out) && out.size == 10); /* two members */
	add((packed.size = 0, &packed), "\x1f\x8bnothing of the kind", 21);
	cr_expect_not(unpack_all(&packed, 100, 100, &out));
	add((packed.size = 0, &packed), "plain text", 10);
	cr_expect_not(unpack_all(&packed, 100, 100, &out));
}
