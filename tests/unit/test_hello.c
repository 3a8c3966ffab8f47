#include <criterion/criterion.h>
#include <openssl/ssl.h>
#include <string.h>

#include "proxy/hello.h"

struct bytes {
	uint8_t at[HELLO_MAX * 2];
	size_t size;
};

/* What a real client sends first. */
static struct bytes client_hello(const char *name, const char *protocols, int version)
{
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	SSL *ssl = SSL_new(context);
	struct bytes out;

	SSL_set_min_proto_version(ssl, version);
	SSL_set_max_proto_version(ssl, version);
	SSL_set_connect_state(ssl);
	SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	if (name)
		SSL_set_tlsext_host_name(ssl, (uintptr_t)name);
	if (protocols)
		SSL_set_alpn_protos(ssl, (const uint8_t *)protocols, (unsigned)strlen(protocols));
	SSL_do_handshake(ssl);
	out.size = (size_t)BIO_read(SSL_get_wbio(ssl), out.at, sizeof(out.at));
	SSL_free(ssl);
	SSL_CTX_free(context);
	return out;
}

static enum hello_state read_all(const struct bytes *bytes, struct hello *hello)
{
	/* a copy of its own size, so that reading past it is seen */
	uint8_t *copy = malloc(bytes->size + !bytes->size);
	enum hello_state state;

	memcpy(copy, bytes->at, bytes->size);
	state = hello_read(copy, bytes->size, hello);
	free(copy);
	return state;
}

/* The same message in records of @piece bytes. */
static struct bytes in_records(const struct bytes *whole, size_t piece)
{
	struct bytes out = { .size = 0 };

	for (size_t at = 5; at < whole->size; at += piece) {
		size_t size = whole->size - at < piece ? whole->size - at : piece;

		memcpy(out.at + out.size, whole->at, 3);
		out.at[out.size + 3] = (uint8_t)(size >> 8);
		out.at[out.size + 4] = (uint8_t)size;
		memcpy(out.at + out.size + 5, whole->at + at, size);
		out.size += 5 + size;
	}
	return out;
}

Test(hello, a_real_one)
{
	static const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct hello hello;

	for (size_t i = 0; i < 2; i++) {
		struct bytes bytes =
		    client_hello("Api.Example.com", "\2h2\10http/1.1", versions[i]);

		cr_assert_eq(read_all(&bytes, &hello), HELLO_FOUND, "%s", hello.why);
		cr_expect_str_eq(hello.name, "Api.Example.com");
		cr_expect(hello.alpn && hello.http11 && hello.http2);
		bytes = client_hello(NULL, NULL, versions[i]);
		cr_assert_eq(read_all(&bytes, &hello), HELLO_FOUND);
		cr_expect_str_eq(hello.name, "");
		cr_expect_not(hello.alpn || hello.http11 || hello.http2);
	}
}

Test(hello, every_cut_wants_more)
{
	struct bytes whole = client_hello("example.com", NULL, TLS1_3_VERSION), cut;
	struct hello hello;

	for (size_t piece = 9; piece < whole.size; piece += 7) {
		struct bytes bytes = in_records(&whole, piece);
		size_t records = (whole.size - 5 + piece - 1) / piece;

		if (records > HELLO_RECORDS) {
			cr_expect_eq(read_all(&bytes, &hello), HELLO_BROKEN);
			continue;
		}
		for (cut = bytes, cut.size = 0; cut.size < bytes.size; cut.size++)
			cr_assert_eq(read_all(&cut, &hello), HELLO_MORE, "%zu of %zu", cut.size,
				     bytes.size);
		cr_assert_eq(read_all(&bytes, &hello), HELLO_FOUND);
		cr_expect_str_eq(hello.name, "example.com");
		bytes.at[bytes.size++] = 0x14; /* what follows is not looked at */
		cr_expect_eq(read_all(&bytes, &hello), HELLO_FOUND);
	}
}

/* Appends an extension to a ClientHello, and mends the lengths. */
static void add_extension(struct bytes *bytes, uint16_t type, const char *body, size_t size)
{
	size_t at = 5 + 4 + 2 + 32;
	static const struct {
		size_t offset, bytes;
	} outer[] = { { 3, 2 }, { 6, 3 } };
	uint8_t head[4] = { (uint8_t)(type >> 8), (uint8_t)type, (uint8_t)(size >> 8),
			    (uint8_t)size };
	unsigned old;

	at += 1 + bytes->at[at];
	at += 2 + ((size_t)bytes->at[at] << 8 | bytes->at[at + 1]);
	at += 1 + bytes->at[at];
	old = ((unsigned)bytes->at[at] << 8 | bytes->at[at + 1]) + (unsigned)size + 4;
	bytes->at[at] = (uint8_t)(old >> 8);
	bytes->at[at + 1] = (uint8_t)old;
	memcpy(bytes->at + bytes->size, head, 4);
	memcpy(bytes->at + bytes->size + 4, body, size);
	bytes->size += 4 + size;
	for (size_t i = 0; i < 2; i++) {
		size_t value = bytes->size - outer[i].offset - outer[i].bytes;

		for (size_t n = outer[i].bytes; n; n--, value >>= 8)
			bytes->at[outer[i].offset + n - 1] = (uint8_t)value;
	}
}

Test(hello, what_two_readers_could_take_for_two)
{
#define EXT(text) text, sizeof(text) - 1
	static const struct {
		const char *first; /* SNI of the client's own, or NULL */
		uint16_t type;
		const char *body;
		size_t size;
		enum hello_state state;
	} cases[] = {
		{ NULL, 0, EXT("\0\x6\0\0\3a.b"), HELLO_FOUND },
		{ "one.test", 0, EXT("\0\x6\0\0\3a.b"), HELLO_BROKEN },    /* the extension twice */
		{ NULL, 0, EXT("\0\xc\0\0\3a.b\0\0\3c.d"), HELLO_BROKEN }, /* two names in it */
		{ NULL, 0, EXT("\0\x6\1\0\3a.b"), HELLO_BROKEN },          /* no host_name */
		{ NULL, 0, EXT("\0\x6\0\0\3a\0b"), HELLO_BROKEN },
		{ NULL, 0, EXT("\0\x6\0\0\3a b"), HELLO_BROKEN },
		{ NULL, 0, EXT("\0\x6\0\0\2a.b"), HELLO_BROKEN },
		{ NULL, 0, EXT("\0\x6\0\0\4a.b"), HELLO_BROKEN },
		{ NULL, 0, EXT("\0\x6\0\0\3a.bc"), HELLO_BROKEN },
		{ NULL, 0, EXT("\0\x3\0\0\0"), HELLO_BROKEN },
		{ NULL, 0, EXT("\0\0"), HELLO_BROKEN },
		{ NULL, 0, EXT(""), HELLO_BROKEN },
		{ NULL, 16, EXT("\0\3\2h2"), HELLO_FOUND },
		{ NULL, 16, EXT("\0\3\3h2"), HELLO_BROKEN },
		{ NULL, 16, EXT("\0\1\0"), HELLO_BROKEN },
		{ NULL, 0x4444, EXT("anything"), HELLO_FOUND },
	};
	struct hello hello;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes bytes = client_hello(cases[i].first, NULL, TLS1_3_VERSION);

		add_extension(&bytes, cases[i].type, cases[i].body, cases[i].size);
		cr_expect_eq(read_all(&bytes, &hello), cases[i].state, "case %zu", i);
		cr_expect(cases[i].state != HELLO_BROKEN || hello.why);
	}
}

Test(hello, what_is_none)
{
	static const struct {
		const char *text;
		size_t size;
		enum hello_state state;
	} cases[] = {
		{ EXT(""), HELLO_MORE },
		{ EXT("\x16"), HELLO_MORE },
		{ EXT("\x16\3"), HELLO_MORE },
		{ EXT("GET / HTTP/1.1\r\n"), HELLO_OTHER },
		{ EXT("SSH-2.0-x\r\n"), HELLO_OTHER },
		{ EXT("\x80\x2e\1\3\1"), HELLO_OTHER },     /* SSL 2 */
		{ EXT("\x15\3\1\0\2\2\x28"), HELLO_OTHER }, /* an alert */
		{ EXT("\x16\2\0"), HELLO_OTHER },
		{ EXT("\x16\3\1\0\0"), HELLO_BROKEN },                      /* an empty record */
		{ EXT("\x16\3\1\x40\1"), HELLO_BROKEN },                    /* too long a record */
		{ EXT("\x16\3\1\0\4\2\0\0\0"), HELLO_BROKEN },              /* ServerHello */
		{ EXT("\x16\3\1\0\4\1\0\0\0"), HELLO_BROKEN },              /* nothing in it */
		{ EXT("\x16\3\1\0\4\1\1\0\0"), HELLO_BROKEN },              /* 65536 bytes */
		{ EXT("\x16\3\1\0\4\1\0\0\1\x17\3\1\0\1x"), HELLO_BROKEN }, /* data between */
		{ EXT("\x16\3\1\0\5\1\0\0\0x"), HELLO_BROKEN },
	};
	struct hello hello;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(hello_read((const uint8_t *)cases[i].text, cases[i].size, &hello),
			     cases[i].state, "case %zu", i);
}

/* Whatever one byte is changed to: no crash, and never another name than is there. */
Test(hello, every_byte_changed)
{
	const struct bytes good = client_hello("example.com", "\10http/1.1", TLS1_3_VERSION);
	struct hello hello;

	for (size_t at = 0; at < good.size; at++)
		for (unsigned bit = 0; bit < 8; bit++) {
			struct bytes bytes = good;

			bytes.at[at] ^= (uint8_t)(1u << bit);
			read_all(&bytes, &hello);
		}
}

Test(hello, who_may_pass)
{
	static const struct {
		const char *name, *host;
		unsigned port;
		bool passes;
	} cases[] = {
		{ "example.com", "example.com", 443, true },
		{ "EXAMPLE.com", "example.com.", 443, true },
		{ "example.com", "example.com", 8443, true },
		{ "www.example.com", "example.com", 443, false },
		{ "evil.test", "example.com", 443, false },
		{ "evil.test", "example.com", 8443, false },
		{ "", "example.com", 443, false },
		{ "", "example.com", 8443, true },
		{ "", "192.0.2.1", 443, true },
		{ "192.0.2.1", "192.0.2.1", 443, true },
		{ "example.com", "192.0.2.1", 443, false },
		{ "", "[2001:db8::1]", 443, true },
		{ "", "2001:db8::1", 443, true },
		{ "192.0.2.1", "192.0.2.2", 443, false },
	};
	struct hello hello = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(hello.name, cases[i].name);
		cr_expect_eq(!hello_objection(HELLO_FOUND, &hello, cases[i].host, cases[i].port),
			     cases[i].passes, "case %zu", i);
	}
	cr_expect(hello_objection(HELLO_OTHER, &hello, "example.com", 443));
	cr_expect(hello_objection(HELLO_MORE, &hello, "example.com", 443));
	cr_expect_not(hello_objection(HELLO_OTHER, &hello, "example.com", 22));
	cr_expect_not(hello_objection(HELLO_MORE, &hello, "example.com", 22));
	hello.why = "x";
	cr_expect(hello_objection(HELLO_BROKEN, &hello, "example.com", 22));
}
