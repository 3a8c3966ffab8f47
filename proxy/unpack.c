/*
 * proxy/unpack.c - gzip and deflate, by zlib.
 *
 * What "deflate" is, servers do not agree on; the first two bytes tell: gzip's, a header
 * of zlib's, or neither, which is the bare form.
 */
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "proxy/redact.h"

enum unpack_kind { UNKNOWN, GZIP, ZLIB, BARE };

struct unpack {
	z_stream stream;
	enum unpack_kind kind;
	uint8_t first[2]; /* of the stream, until it is known */
	size_t first_size;
	bool ended;
};

struct unpack *unpack_make(void)
{
	return calloc(1, sizeof(struct unpack));
}

void unpack_free(struct unpack *unpack)
{
	if (!unpack)
		return;
	if (unpack->kind != UNKNOWN)
		inflateEnd(&unpack->stream);
	free(unpack);
}

static bool begin(struct unpack *unpack)
{
	static const int windows[] = { [GZIP] = 15 + 16, [ZLIB] = 15, [BARE] = -15 };
	unsigned word = (unsigned)unpack->first[0] << 8 | unpack->first[1];
	enum unpack_kind kind = word == 0x1f8b                                   ? GZIP
				: (unpack->first[0] & 15) == 8 && word % 31 == 0 ? ZLIB
										 : BARE;

	if (inflateInit2(&unpack->stream, windows[kind]) != Z_OK)
		return false;
	unpack->kind = kind;
	return true;
}

/* One call of zlib's; false: broken. */
static bool turn(struct unpack *unpack, const uint8_t **in, size_t *in_size)
{
	unsigned given = *in_size > UINT_MAX ? UINT_MAX : (unsigned)*in_size, taken;
	int result;

	unpack->stream.next_in = (uint8_t *)(uintptr_t)*in;
	unpack->stream.avail_in = given;
	result = inflate(&unpack->stream, Z_NO_FLUSH);
	taken = given - unpack->stream.avail_in;
	*in += taken;
	*in_size -= taken;
	unpack->ended = result == Z_STREAM_END;
	return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
}

/* Behind the end another member may follow (RFC 1952 2.2); anything else is left out. */
static bool next_member(struct unpack *unpack, uint8_t first)
{
	if (unpack->kind != GZIP || first != 0x1f)
		return false;
	unpack->ended = false;
	return inflateReset(&unpack->stream) == Z_OK;
}

long unpack_feed(struct unpack *unpack, const uint8_t **in, size_t *in_size, bool last,
		 uint8_t *out, size_t size)
{
	unsigned room = size > INT_MAX ? INT_MAX : (unsigned)size;
	const uint8_t *first = unpack->first;
	size_t left = sizeof(unpack->first);

	for (; *in_size && unpack->first_size < 2; (*in)++, (*in_size)--)
		unpack->first[unpack->first_size++] = **in;
	if (unpack->first_size < 2)
		return last && unpack->first_size ? -1 : 0;
	unpack->stream.next_out = out;
	unpack->stream.avail_out = room;
	if (unpack->kind == UNKNOWN && (!begin(unpack) || !turn(unpack, &first, &left) || left))
		return -1;
	while (unpack->stream.avail_out && *in_size) {
		if (unpack->ended && !next_member(unpack, **in)) {
			*in += *in_size;
			*in_size = 0;
		} else if (!turn(unpack, in, in_size)) {
			return -1;
		}
	}
	/* What zlib still has to write, of input it has taken before. */
	if (unpack->stream.avail_out && !unpack->ended && !turn(unpack, in, in_size))
		return -1;
	if (last && !unpack->ended && unpack->stream.avail_out)
		return -1;
	return (long)(room - unpack->stream.avail_out);
}
