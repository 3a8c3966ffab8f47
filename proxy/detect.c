/*
 * proxy/detect.c - see detect.h.
 */
#include "proxy/detect.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

static size_t word_count(const struct detect *detect)
{
	return (size_t)detect->set_count * FORMS;
}

bool detect_set(struct detect *detect, struct redact_set *const *sets, unsigned count)
{
	uint64_t *at;

	detect_free(detect);
	detect->room = at = calloc((2 + READINGS) * FORMS * (size_t)count + 1, sizeof(*at));
	if (!at)
		return false;
	detect->sets = sets;
	detect->set_count = count;
	detect->words = at;
	detect->next = at += word_count(detect);
	for (unsigned i = 0; i < READINGS; i++)
		detect->readings[i].words = at += word_count(detect);
	return true;
}

void detect_clear(struct detect *detect)
{
	memset(detect->words, 0, word_count(detect) * sizeof(*detect->words));
	detect->reading_count = 0;
}

void detect_free(struct detect *detect)
{
	if (detect->room)
		OPENSSL_cleanse(detect->room,
				(2 + READINGS) * word_count(detect) * sizeof(uint64_t));
	free(detect->room);
	*detect = (struct detect){ 0 };
}

/* Adds to detect->next what follows @words by @byte. */
static void advance(struct detect *detect, const uint64_t *words, uint8_t byte)
{
	uint64_t *next = detect->next;

	for (unsigned n = 0; n < detect->set_count; n++) {
		const uint64_t *fits = detect->sets[n]->fits[byte];

		for (unsigned i = 0; i < FORMS; i++, words++, next++)
			*next |= (*words << 1 | 1) & fits[i];
	}
}

/* Of two in the same place one stays, with what either has.  False: there are too many. */
static bool keep(struct detect *detect, struct escape escape, const uint64_t *words)
{
	size_t count = word_count(detect);
	struct reading *reading = detect->readings;

	for (unsigned i = 0; i < detect->reading_count; i++, reading++) {
		if (reading->escape.state != escape.state || reading->escape.value != escape.value)
			continue;
		for (size_t n = 0; n < count; n++)
			reading->words[n] |= words[n];
		if (escape.length < reading->escape.length)
			reading->escape.length = escape.length;
		return true;
	}
	if (detect->reading_count == READINGS)
		return false;
	reading->escape = escape;
	memmove(reading->words, words, count * sizeof(*words));
	detect->reading_count++;
	return true;
}

/* All that had begun, each one byte further.  Those that stay move to the front. */
static bool read_on(struct detect *detect, uint8_t byte)
{
	unsigned count = detect->reading_count;
	bool room = true;

	detect->reading_count = 0;
	for (unsigned i = 0; i < count; i++) {
		struct escape escape = detect->readings[i].escape;
		const uint64_t *words = detect->readings[i].words;
		uint8_t meant = byte;
		enum escape_result result = escape_next(&escape, &meant);

		if (result == ESCAPE_BYTE)
			advance(detect, words, meant);
		if (result == ESCAPE_MORE ||
		    (result == ESCAPE_BYTE && escape_begin(&escape, meant)))
			room &= keep(detect, escape, words);
	}
	return room;
}

bool detect_step(struct detect *detect, uint8_t byte)
{
	size_t count = word_count(detect);
	struct escape fresh = { 0 };
	uint64_t *now = detect->words, hits = 0;
	bool room;

	memset(detect->next, 0, count * sizeof(*now));
	room = read_on(detect, byte);
	if (escape_begin(&fresh, byte))
		room &= keep(detect, fresh, now);
	advance(detect, now, byte);
	detect->words = detect->next;
	detect->next = now;
	for (unsigned n = 0; n < detect->set_count; n++)
		for (unsigned i = 0; i < FORMS; i++)
			hits |= detect->words[n * FORMS + i] & detect->sets[n]->last[i];
	return hits || !room;
}
