/*
 * proxy/redact_beginnings.c - see redact_beginnings.h.
 *
 * 16 bytes at a time are compared with each pair, and with the bytes by which an escape
 * begins; only what is found so is looked at more closely.
 */
#include "proxy/redact_beginnings.h"

#include <string.h>

#include "proxy/escape.h"

#define EACH_BYTE 0x8080808080808080u

static vector all_of(uint8_t byte)
{
	vector it;

	memset(&it, byte, sizeof(it));
	return it;
}

/* Which of the 16 that begin at @data may be one?  17 are looked at; 0x80 for each in
 * @found, the first in the lowest byte. */
static bool candidates(const struct beginnings *beginnings, const uint8_t *data, uint64_t found[2])
{
	vector one, other, all;

	memcpy(&one, data, sizeof(one));
	memcpy(&other, data + 1, sizeof(other));
	all = (vector)((one == all_of('%')) | (one == all_of('\\')) | (one == all_of('&')));
	for (unsigned i = 0; i < beginnings->pair_count; i++)
		all |= (vector)((one == beginnings->pairs[i].first) &
				(other == beginnings->pairs[i].second));
	memcpy(found, &all, sizeof(all));
	found[0] &= EACH_BYTE;
	found[1] &= EACH_BYTE;
	return found[0] | found[1];
}

/* An escape of a byte that one of the first elements may be; it may be one within
 * another.  @size bytes are there. */
static bool escapes(const struct beginnings *beginnings, const uint8_t *data, size_t size)
{
	struct escape escape = { 0 };

	if (!escape_begin(&escape, data[0]))
		return false;
	for (size_t i = 1; i < size; i++) {
		uint8_t byte = data[i];
		enum escape_result result = escape_next(&escape, &byte);

		if (result == ESCAPE_BYTE && beginnings->early[byte])
			return true;
		if (result == ESCAPE_NONE ||
		    (result == ESCAPE_BYTE && !escape_begin(&escape, byte)))
			return false;
	}
	return true;
}

bool beginnings_begins(const struct beginnings *beginnings, const uint8_t *data, size_t size)
{
	return beginnings_is_pair(beginnings, data) || escapes(beginnings, data, size);
}

size_t beginnings_skip(const struct beginnings *beginnings, const uint8_t *data, size_t at,
		       size_t size)
{
	size_t from = at, last = size < 3 ? 0 : size - 3;
	uint64_t found[2];

	for (; beginnings->pair_count <= PAIRS_AT_ONCE && at + sizeof(vector) < size;
	     at += sizeof(vector)) {
		if (!candidates(beginnings, data + at, found))
			continue;
		for (unsigned i = 0; i < 2; i++)
			for (; found[i]; found[i] &= found[i] - 1) {
				size_t place = at + 8 * i + (size_t)__builtin_ctzll(found[i]) / 8;

				if (beginnings_begins(beginnings, data + place, size - place))
					return place < from + 2 ? from : place - 2;
			}
	}
	for (; at + 1 < size; at++)
		if (beginnings_begins(beginnings, data + at, size - at))
			return at < from + 2 ? from : at - 2;
	return from > last ? from : last;
}

static void add_pair(struct beginnings *beginnings, const uint8_t bytes[2])
{
	unsigned pair = (unsigned)bytes[0] << 8 | bytes[1];

	if (beginnings_is_pair(beginnings, bytes))
		return;
	beginnings->is_pair[pair / 8] |= (uint8_t)(1 << pair % 8);
	if (beginnings->pair_count < PAIRS_AT_ONCE)
		beginnings->pairs[beginnings->pair_count] =
		    (struct pair){ all_of(bytes[0]), all_of(bytes[1]) };
	beginnings->pair_count++;
}

void beginnings_clear(struct beginnings *beginnings)
{
	memset(beginnings, 0, sizeof(*beginnings));
}

void beginnings_add(struct beginnings *beginnings, const struct redact_set *set)
{
	for (unsigned i = 0; i < set->pair_count; i++)
		add_pair(beginnings, set->pairs[i]);
	for (unsigned byte = 0; byte < 256; byte++)
		beginnings->early[byte] |= set->early[byte];
}
