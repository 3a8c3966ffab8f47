/*
 * proxy/detect.c - see detect.h.
 *
 * Neither a branch nor an address depends on the bits, but for the two ends: 64 elements,
 * and a whole form.
 */
#include "proxy/detect.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 3 /* of which there are bits: this one, the next, and the one before the escape */

/* Words that are moved now. */
static size_t moved(const struct detect *detect)
{
	return detect->wide ? detect->words : detect->set_count;
}

bool detect_set(struct detect *detect, struct redact_set *const *sets, unsigned count)
{
	struct word *at;

	detect_free(detect);
	detect->sets = sets;
	detect->set_count = count;
	for (unsigned n = 0; n < count; n++) {
		detect->words += sets[n]->words;
		if (detect->longest < sets[n]->longest)
			detect->longest = sets[n]->longest;
	}
	detect->room = at = calloc(PLACES * detect->words + 1, sizeof(*at));
	if (!at)
		return false;
	detect->bits = at;
	detect->next = at + detect->words;
	detect->before = at + 2 * detect->words;
	return true;
}

void detect_clear(struct detect *detect)
{
	memset(detect->bits, 0, detect->set_count * sizeof(*detect->bits));
	detect->escape = (struct escape){ 0 };
	detect->wide = 0;
}

void detect_free(struct detect *detect)
{
	if (detect->room)
		OPENSSL_cleanse(detect->room, PLACES * detect->words * sizeof(*detect->room));
	free(detect->room);
	*detect = (struct detect){ 0 };
}

/* Adds to detect->next what follows @bits by @byte. */
static void advance(struct detect *detect, const struct word *bits, uint8_t byte)
{
	struct word *next = detect->next;
	size_t at = detect->set_count;

	for (unsigned n = 0; n < detect->set_count; n++) {
		const struct word *fits = forms_fits(detect->sets[n], byte);

		for (unsigned i = 0; i < FORMS; i++)
			next[n].of[i] |= (bits[n].of[i] << 1 | 1) & fits->of[i];
	}
	for (unsigned n = 0; detect->wide && n < detect->set_count; n++) {
		const struct redact_set *set = detect->sets[n];
		const struct word *fits = forms_fits(set, byte), *before = bits + n;

		for (size_t w = 1; w < set->words; w++, before = bits + at++)
			for (unsigned i = 0; i < FORMS; i++)
				next[at].of[i] |=
				    (bits[at].of[i] << 1 | before->of[i] >> (FORM_WORD - 1)) &
				    fits[w].of[i];
	}
}

/* The escape that goes on is one byte further. */
static void read_on(struct detect *detect, uint8_t byte)
{
	enum escape_result result = escape_next(&detect->escape, &byte);

	if (result == ESCAPE_MORE)
		return;
	if (result == ESCAPE_BYTE) {
		advance(detect, detect->before, byte);
		if (escape_begin(&detect->escape, byte))
			return;
	}
	detect->escape = (struct escape){ 0 };
}

/* @fresh has begun.  Where one goes on, too, it is the same one: in the second of two
 * backslashes. */
static void begin(struct detect *detect, struct escape fresh)
{
	size_t count = moved(detect);

	if (!detect->escape.state)
		memcpy(detect->before, detect->bits, count * sizeof(*detect->bits));
	for (size_t n = 0; detect->escape.state && n < count; n++)
		for (unsigned i = 0; i < FORMS; i++)
			detect->before[n].of[i] |= detect->bits[n].of[i];
	detect->escape = fresh;
}

/* From the next byte on all words are moved.  Those that were not have nothing, whatever is
 * there from before. */
static void widen(struct detect *detect)
{
	size_t others = (detect->words - detect->set_count) * sizeof(struct word);

	if (!detect->wide) {
		memset(detect->bits + detect->set_count, 0, others);
		memset(detect->before + detect->set_count, 0, others);
	}
	detect->wide = detect->longest;
}

bool detect_ended(const struct detect *detect, unsigned set, unsigned form)
{
	const struct redact_set *of = detect->sets[set];
	size_t last = of->forms[form].count - 1, at = detect->set_count;

	if (last < FORM_WORD)
		return detect->bits[set].of[form] >> last & 1;
	if (!detect->wide)
		return false;
	for (unsigned n = 0; n < set; n++)
		at += detect->sets[n]->words - 1;
	return detect->bits[at + last / FORM_WORD - 1].of[form] >> last % FORM_WORD & 1;
}

/* Of forms that have more than one word. */
static uint64_t end_beyond(const struct detect *detect)
{
	const struct word *others = detect->bits + detect->set_count;
	uint64_t ends = 0;

	for (unsigned n = 0; n < detect->set_count; n++) {
		for (unsigned i = 0; i < FORMS; i++) {
			size_t last = detect->sets[n]->forms[i].count - 1;

			if (last >= FORM_WORD)
				ends |= others[last / FORM_WORD - 1].of[i] >> last % FORM_WORD & 1;
		}
		others += detect->sets[n]->words - 1;
	}
	return ends;
}

/* Is a form whole, and how many words are moved from here on?  Asked where one has come to
 * the end of its first word, and while all are moved. */
static bool turn(struct detect *detect, uint8_t byte)
{
	bool whole = detect->wide && end_beyond(detect), goes = false;

	if (detect->wide)
		detect->wide = forms_delimit(byte) ? 0 : detect->wide - 1;
	for (unsigned n = 0; n < detect->set_count; n++)
		for (unsigned i = 0; i < FORMS; i++) {
			const struct redact_set *set = detect->sets[n];
			bool turns = detect->bits[n].of[i] & set->turns.of[i];

			whole |= turns && set->forms[i].count <= FORM_WORD;
			goes |= turns && set->forms[i].count > FORM_WORD;
		}
	if (goes)
		widen(detect);
	return whole;
}

bool detect_step(struct detect *detect, uint8_t byte)
{
	struct escape fresh = { 0 };
	struct word *now = detect->bits;
	uint64_t turns = detect->wide;

	memset(detect->next, 0, moved(detect) * sizeof(*now));
	if (detect->escape.state)
		read_on(detect, byte);
	if (escape_begin(&fresh, byte))
		begin(detect, fresh);
	advance(detect, now, byte);
	detect->bits = detect->next;
	detect->next = now;
	for (unsigned n = 0; n < detect->set_count; n++)
		for (unsigned i = 0; i < FORMS; i++)
			turns |= detect->bits[n].of[i] & detect->sets[n]->turns.of[i];
	return turns && turn(detect, byte);
}
