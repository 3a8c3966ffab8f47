/*
 * proxy/redact_beginnings.h - where in a text may a secret begin?
 *
 * By the first two bytes of a form, a pair, or by an escape of one of the first: most of a
 * text is neither, and redact.c skips it.  How long that takes tells of the first
 * characters alone.
 */
#ifndef SBX_PROXY_REDACT_BEGINNINGS_H
#define SBX_PROXY_REDACT_BEGINNINGS_H

#include "proxy/forms.h"

#define PAIRS_AT_ONCE 32

typedef uint8_t vector __attribute__((vector_size(16)));

struct pair {
	vector first, second; /* each of them 16 times */
};

struct beginnings { /* of all sets */
	unsigned pair_count;
	struct pair pairs[PAIRS_AT_ONCE]; /* if they are no more */
	uint8_t is_pair[65536 / 8];       /* a bit for each two bytes */
	bool early[256];                  /* of the first three elements */
};

void beginnings_clear(struct beginnings *beginnings);
void beginnings_add(struct beginnings *beginnings, const struct redact_set *set);

static inline bool beginnings_is_pair(const struct beginnings *beginnings, const uint8_t data[2])
{
	unsigned pair = (unsigned)data[0] << 8 | data[1];

	return beginnings->is_pair[pair / 8] >> pair % 8 & 1;
}
/* At @data, of @size bytes, which are two at least. */
bool beginnings_begins(const struct beginnings *beginnings, const uint8_t *data, size_t size);
/*
 * Where from @at on there is something to look at: two bytes before a pair or an escape,
 * since an element known in part and one more may stand there; and at the last three bytes,
 * since those may stand there before an escape of which no more has come than its first byte.
 */
size_t beginnings_skip(const struct beginnings *beginnings, const uint8_t *data, size_t at,
		       size_t size);

#endif
