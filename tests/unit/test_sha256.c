#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "blob/blob.h"

static void hex(const uint8_t digest[32], char out[65])
{
	for (int i = 0; i < 32; i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

/* Gives @text in pieces of @piece bytes. */
static void digest_of(const void *text, size_t size, size_t piece, char out[65])
{
	struct sbx_sha256 sum;
	uint8_t digest[32];

	sbx_sha256_init(&sum);
	for (size_t at = 0; at < size; at += piece)
		sbx_sha256_add(&sum, (const char *)text + at,
			       size - at < piece ? size - at : piece);
	sbx_sha256_end(&sum, digest);
	hex(digest, out);
}

Test(sha256, published_vectors) /* FIPS 180-4 examples, NIST CAVP */
{
	static char million[1000000];
	static const struct {
		const char *text, *digest;
	} cases[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};
	char out[65];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		digest_of(cases[i].text, strlen(cases[i].text), 7, out);
		cr_assert_str_eq(out, cases[i].digest);
	}
	memset(million, 'a', sizeof(million));
	digest_of(million, sizeof(million), 1009, out);
	cr_assert_str_eq(out, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

Test(sha256, pieces_do_not_matter)
{
	unsigned char text[300];
	char whole[65], pieces[65];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (unsigned char)(i * 37);
	for (size_t size = 0; size <= sizeof(text); size++) {
		digest_of(text, size, size + 1, whole);
		for (size_t piece = 1; piece < 130; piece += 9) {
			digest_of(text, size, piece, pieces);
			cr_assert_str_eq(whole, pieces, "%zu bytes by %zu", size, piece);
		}
	}
}
