/*
 * proxy/redact_start.c - see redact_start.h.
 *
 * As detect.c, but backwards: for each place a bit for each element says whether it and
 * those after it are what stands from there to the end.  These follow from those of the
 * places behind it: that after the byte, and those after the escapes that begin by it.
 */
#include "proxy/redact_start.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/escape.h"

#define PLACES 64 /* of which the bits are kept: more than an escape has bytes */
_Static_assert(PLACES > ESCAPE_MAX, "an escape ends where the bits are kept");

struct walk {
	const struct redact_set *set;
	unsigned form;
	size_t words; /* of a place: a bit more than there are elements, then one word of zeros */
	uint64_t *bits;
};

static uint64_t *bits_at(const struct walk *walk, size_t place)
{
	return walk->bits + place % PLACES * walk->words;
}

/* Adds to @place what it has by @byte, if what follows it is at @next. */
static void add(const struct walk *walk, size_t place, uint8_t byte, size_t next)
{
	const struct word *fits = forms_fits(walk->set, byte);
	const uint64_t *from = bits_at(walk, next);
	uint64_t *to = bits_at(walk, place);
	size_t last = walk->words - 1;

	for (size_t i = 0; i < last; i++)
		to[i] |= (from[i] >> 1 | from[i + 1] << (FORM_WORD - 1)) &
			 (i < walk->set->words ? fits[i].of[walk->form] : 0);
}

/* All ways to read what begins at @place. */
static void read_from(const struct walk *walk, const uint8_t *text, size_t place, size_t end)
{
	struct escape escape = { 0 };
	uint8_t byte = text[place];
	enum escape_result result = ESCAPE_BYTE;

	memset(bits_at(walk, place), 0, walk->words * sizeof(*walk->bits));
	for (size_t at = place;;) {
		if (result == ESCAPE_BYTE)
			add(walk, place, byte, at + 1);
		if (result == ESCAPE_BYTE && !escape_begin(&escape, byte))
			return;
		if (++at > end)
			return;
		byte = text[at];
		result = escape_next(&escape, &byte);
		if (result == ESCAPE_NONE)
			return;
	}
}

bool redact_start(const struct redact_set *set, unsigned form, const uint8_t *text, size_t end,
		  size_t *start)
{
	size_t count = set->forms[form].count;
	size_t least = end + 1 > set->longest ? end + 1 - set->longest : 0;
	struct walk walk = { set, form, count / FORM_WORD + 2, NULL };

	*start = end + 1;
	walk.bits = calloc(PLACES * walk.words, sizeof(*walk.bits));
	if (!walk.bits)
		return false;
	bits_at(&walk, end + 1)[count / FORM_WORD] = 1ull << count % FORM_WORD;
	for (size_t place = end + 1; place-- > least && !forms_delimit(text[place]);) {
		read_from(&walk, text, place, end);
		if (*bits_at(&walk, place) & 1)
			*start = place;
	}
	OPENSSL_cleanse(walk.bits, PLACES * walk.words * sizeof(*walk.bits));
	free(walk.bits);
	return true;
}
