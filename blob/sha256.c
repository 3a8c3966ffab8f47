/*
 * blob/sha256.c - SHA-256, the digest that is a policy's identity.
 *
 * The launcher hashes a blob on every start, so the block function matters:
 * where the processor has the SHA extensions (x86-64, asked by cpuid) they are
 * used, else plain C with the eight working variables renamed by the macro
 * instead of moved.  Both give the same bytes; tests/unit/test_sha256.c runs
 * the published vectors over sizes around every block boundary.
 */
#include "blob/blob.h"

#include <string.h>

static const uint32_t round_constants[64] __attribute__((aligned(16))) = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static inline uint32_t rotate(uint32_t x, unsigned by)
{
	return x >> by | x << (32 - by);
}

static inline uint32_t load_be32(const uint8_t *p)
{
	uint32_t x;

	memcpy(&x, p, 4);
	return __builtin_bswap32(x);
}

/* One round; the caller rotates the names instead of the values. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                           \
	do {                                                                                       \
		uint32_t t = (h) + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +                \
			     (((e) & (f)) ^ (~(e) & (g))) + round_constants[i] + w[(i)&15];        \
		(d) += t;                                                                          \
		(h) = t + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +                         \
		      (((a) & (b)) ^ ((a) & (c)) ^ ((b) & (c)));                                   \
	} while (0)

static void add_blocks_plain(uint32_t state[8], const uint8_t *data, size_t blocks)
{
	for (; blocks; blocks--, data += 64) {
		uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
		uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
		uint32_t w[16];

		for (unsigned i = 0; i < 16; i++)
			w[i] = load_be32(data + 4 * i);
		for (unsigned i = 0; i < 64; i += 8) {
			if (i >= 16)
				for (unsigned j = i; j < i + 8; j++) {
					uint32_t x = w[(j + 1) & 15], y = w[(j + 14) & 15];

					w[j & 15] += (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) +
						     w[(j + 9) & 15] +
						     (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
				}
			ROUND(a, b, c, d, e, f, g, h, i);
			ROUND(h, a, b, c, d, e, f, g, i + 1);
			ROUND(g, h, a, b, c, d, e, f, i + 2);
			ROUND(f, g, h, a, b, c, d, e, i + 3);
			ROUND(e, f, g, h, a, b, c, d, i + 4);
			ROUND(d, e, f, g, h, a, b, c, i + 5);
			ROUND(c, d, e, f, g, h, a, b, i + 6);
			ROUND(b, c, d, e, f, g, h, a, i + 7);
		}
		state[0] += a, state[1] += b, state[2] += c, state[3] += d;
		state[4] += e, state[5] += f, state[6] += g, state[7] += h;
	}
}

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

/* Asked once a digest, and no more than needed (no processor with these is without
 * SSE4.1): under a hypervisor each cpuid costs as much as twenty system calls. */
static bool have_sha(void)
{
	unsigned a, b, c, d;

	__cpuid(0, a, b, c, d);
	if (a < 7)
		return false;
	__cpuid_count(7, 0, a, b, c, d);
	return b & bit_SHA;
}

/*
 * The instructions keep the state as ABEF and CDGH and do two rounds each;
 * the message schedule runs four words ahead in a ring of four registers.
 */
__attribute__((target("sha,sse4.1"))) static void add_blocks_sha(uint32_t state[8],
								 const uint8_t *data, size_t blocks)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i dcba = _mm_loadu_si128((const __m128i *)(const void *)state);
	__m128i hgfe = _mm_loadu_si128((const __m128i *)(const void *)(state + 4));
	__m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
	__m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);

	for (; blocks; blocks--, data += 64) {
		__m128i abef_before = abef, cdgh_before = cdgh, w[4];

		for (int i = 0; i < 4; i++)
			w[i] = _mm_shuffle_epi8(
			    _mm_loadu_si128((const __m128i *)(const void *)(data + 16 * i)), swap);
#pragma GCC unroll 16
		for (int i = 0; i < 16; i++) {
			__m128i now = w[i & 3];
			__m128i sum = _mm_add_epi32(
			    now,
			    _mm_load_si128((const __m128i *)(const void *)&round_constants[4 * i]));

			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
			abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
			/* w[t+16] = s0(w[t+1]) + w[t] + w[t+9] + s1(w[t+14]), four at once */
			w[i & 3] = _mm_sha256msg2_epu32(
			    _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(i + 1) & 3]),
					  _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4)),
			    w[(i + 3) & 3]);
		}
		abef = _mm_add_epi32(abef, abef_before);
		cdgh = _mm_add_epi32(cdgh, cdgh_before);
	}
	__m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static void add_blocks(struct sbx_sha256 *sum, const uint8_t *data, size_t blocks)
{
	if (sum->fast)
		add_blocks_sha(sum->state, data, blocks);
	else
		add_blocks_plain(sum->state, data, blocks);
}
#else
static bool have_sha(void)
{
	return false;
}

static void add_blocks(struct sbx_sha256 *sum, const uint8_t *data, size_t blocks)
{
	add_blocks_plain(sum->state, data, blocks);
}
#endif

void sbx_sha256_init(struct sbx_sha256 *sum)
{
	static const uint32_t initial[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(sum->state, initial, sizeof(initial));
	sum->length = 0;
	sum->fast = have_sha();
}

void sbx_sha256_add(struct sbx_sha256 *sum, const void *data, size_t size)
{
	const uint8_t *p = data;
	size_t held = sum->length % 64;

	sum->length += size;
	if (held) {
		size_t take = size < 64 - held ? size : 64 - held;

		memcpy(sum->block + held, p, take);
		p += take;
		size -= take;
		if (held + take < 64)
			return;
		add_blocks(sum, sum->block, 1);
	}
	if (size >= 64)
		add_blocks(sum, p, size / 64);
	if (size % 64)
		memcpy(sum->block, p + (size & ~(size_t)63), size % 64);
}

void sbx_sha256_end(struct sbx_sha256 *sum, uint8_t digest[32])
{
	uint64_t bits = __builtin_bswap64(sum->length * 8);
	size_t held = sum->length % 64;

	sum->block[held++] = 0x80;
	if (held > 56) {
		memset(sum->block + held, 0, 64 - held);
		add_blocks(sum, sum->block, 1);
		held = 0;
	}
	memset(sum->block + held, 0, 56 - held);
	memcpy(sum->block + 56, &bits, 8);
	add_blocks(sum, sum->block, 1);
	for (unsigned i = 0; i < 8; i++) {
		uint32_t word = __builtin_bswap32(sum->state[i]);

		memcpy(digest + 4 * i, &word, 4);
	}
}

void sbx_blob_digest(const void *data, size_t size, uint8_t digest[32])
{
	const size_t field = offsetof(struct sbx_header, digest);
	const size_t after = field + sizeof(((struct sbx_header *)0)->digest);
	static const uint8_t zero[32];
	struct sbx_sha256 sum;

	sbx_sha256_init(&sum);
	sbx_sha256_add(&sum, data, field);
	sbx_sha256_add(&sum, zero, sizeof(zero));
	sbx_sha256_add(&sum, (const uint8_t *)data + after, size - after);
	sbx_sha256_end(&sum, digest);
}
