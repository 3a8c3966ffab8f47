/*
 * proxy/redact.c - looks for all ways to write a secret, in one pass, and overwrites them.
 *
 * In each form of it (forms.c) any byte may be escaped.  detect.c says where one ends, by as
 * much work for a text that is like the secret as for any other; only then redact_start.c goes
 * back from there to where that one begins.  Looking for no beginning is cheaper: where there
 * is none, all is skipped to the next (redact_beginnings.c).
 *
 * What waits must tell nothing.  Did it wait because it is like a secret's beginning, then
 * who has a text of his own come back would learn the secret one character after the other,
 * from a server that never shows it.  So all waits that is shaped as a form may be: what is
 * behind the last byte that stands in none, whatever it says.
 */
#include "proxy/redact.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/detect.h"
#include "proxy/redact_beginnings.h"
#include "proxy/redact_start.h"

/* Bytes after the last pair within which 64 elements may be; where these are there, detect.c
 * says itself for how long a form may go on. */
#define WINDOW (FORM_WORD + 2)

struct redact {
	struct redact_set **sets;
	unsigned set_count, set_room;
	bool stale; /* what follows, of all sets: */
	struct beginnings beginnings;
	struct detect detect, detect_whole;
	size_t longest;

	unsigned found;
	uint8_t *kept; /* the bytes before this call's, not handed on yet */
	size_t kept_size, kept_room;
	uint8_t *past, *past_next; /* those before this call's as they were, of the tail */
	size_t past_size, past_room;
};

/* ---- one text ---------------------------------------------------------------------------- */

struct search {
	struct redact *redact;
	struct detect *detect;
	const uint8_t *past; /* what is before @data, as it was; of it the last is kept, too */
	uint8_t *kept;
	size_t past_size, kept_size;
	uint8_t *data;
	size_t size;
	uint8_t *text; /* once something was found: past and data, as they were */
	unsigned found;
};

/* From @start to @end in search->text, as far as it has not been handed on. */
static void overwrite(struct search *search, size_t start, size_t end)
{
	size_t kept = search->past_size - search->kept_size;

	search->found++;
	for (size_t at = start < kept ? kept : start; at <= end; at++)
		if (at < search->past_size)
			search->kept[at - kept] = '*';
		else
			search->data[at - search->past_size] = '*';
}

static bool copy_text(struct search *search)
{
	if (search->text)
		return true;
	search->text = malloc(search->past_size + search->size);
	if (!search->text)
		return false;
	if (search->past_size)
		memcpy(search->text, search->past, search->past_size);
	memcpy(search->text + search->past_size, search->data, search->size);
	return true;
}

/* By the byte at @at in the data, one form or more are whole.  False: no memory. */
static bool find_starts(struct search *search, size_t at)
{
	const struct detect *detect = search->detect;
	size_t end = search->past_size + at, start;

	if (!copy_text(search))
		return false;
	for (unsigned n = 0; n < detect->set_count; n++)
		for (unsigned i = 0; i < FORMS; i++) {
			if (!detect_ended(detect, n, i))
				continue;
			if (!redact_start(detect->sets[n], i, search->text, end, &start))
				return false;
			if (start <= end)
				overwrite(search, start, end);
		}
	return true;
}

/* Where nothing begins for a while it skips, which tells of the first characters alone. */
static bool find_ends(struct search *search)
{
	const struct beginnings *beginnings = &search->redact->beginnings;
	struct detect *detect = search->detect;
	const uint8_t *data = search->data;
	size_t until = WINDOW; /* what began before may go on */

	for (size_t at = 0, size = search->size; at < size; at++) {
		bool pair;

		if (at >= until && at + 2 < size && !detect->escape.state && !detect->wide &&
		    !beginnings_begins(beginnings, data + at, size - at) &&
		    !beginnings_begins(beginnings, data + at + 1, size - at - 1)) {
			detect_clear(detect);
			at = beginnings_skip(beginnings, data, at, size);
			until = at + WINDOW;
		}
		pair = at + 1 == size || beginnings_is_pair(beginnings, data + at);
		if (detect_step(detect, data[at]) && !find_starts(search, at))
			return false;
		if (detect->escape.state || pair)
			until = at + WINDOW;
	}
	return true;
}

static bool run(struct search *search)
{
	bool good = find_ends(search);

	if (search->text)
		OPENSSL_cleanse(search->text, search->past_size + search->size);
	free(search->text);
	return good;
}

/* ---- streams ----------------------------------------------------------------------------- */

/* Many sets have beginnings in common: those of the values that one source has had. */
static bool gather(struct redact *redact)
{
	if (!redact->stale)
		return true;
	beginnings_clear(&redact->beginnings);
	for (unsigned n = 0; n < redact->set_count; n++)
		beginnings_add(&redact->beginnings, redact->sets[n]);
	if (!detect_set(&redact->detect, redact->sets, redact->set_count) ||
	    !detect_set(&redact->detect_whole, redact->sets, redact->set_count))
		return false;
	/* What had begun goes on; what ends there is over. */
	for (size_t at = 0; at < redact->past_size; at++)
		detect_step(&redact->detect, redact->past[at]);
	redact->stale = false;
	return true;
}

struct redact *redact_make(struct redact_set *set)
{
	struct redact *redact = calloc(1, sizeof(*redact));

	if (!redact)
		return NULL;
	if (redact_also(redact, set))
		return redact;
	redact_free(redact);
	return NULL;
}

static void remove_set(struct redact *redact, unsigned index)
{
	redact_set_drop(redact->sets[index]);
	redact->sets[index] = redact->sets[--redact->set_count];
	redact->stale = true;
}

bool redact_also(struct redact *redact, struct redact_set *set)
{
	for (unsigned i = redact->set_count; i--;) {
		if (redact->sets[i] == set)
			return true;
		if (redact->sets[i]->retired)
			remove_set(redact, i);
	}
	if (redact->set_count == redact->set_room) {
		unsigned room = redact->set_room ? 2 * redact->set_room : 4;
		struct redact_set **more = realloc(redact->sets, room * sizeof(*more));

		if (!more)
			return false;
		redact->sets = more;
		redact->set_room = room;
	}
	redact->stale = true;
	redact->sets[redact->set_count++] = redact_set_hold(set);
	if (redact->longest < set->longest)
		redact->longest = set->longest;
	return true;
}

static void free_past(struct redact *redact)
{
	uint8_t *past = redact->past < redact->past_next ? redact->past : redact->past_next;

	if (past)
		OPENSSL_cleanse(past, 2 * redact->past_room);
	free(past);
}

void redact_free(struct redact *redact)
{
	if (!redact)
		return;
	for (unsigned i = 0; i < redact->set_count; i++)
		redact_set_drop(redact->sets[i]);
	if (redact->kept)
		OPENSSL_cleanse(redact->kept, redact->kept_room);
	free(redact->kept);
	free_past(redact);
	detect_free(&redact->detect);
	detect_free(&redact->detect_whole);
	free(redact->sets);
	OPENSSL_cleanse(redact, sizeof(*redact));
	free(redact);
}

/* How many bytes at the end wait once @size more have come: those since the last that is in
 * no form, but one less than the longest form at most. */
static size_t waiting(const struct redact *redact, const uint8_t *data, size_t size, size_t before)
{
	size_t most = redact->longest - 1, count = 0;

	while (count < size && count < most && !forms_delimit(data[size - 1 - count]))
		count++;
	if (count == size)
		count += before;
	return count < most ? count : most;
}

static bool grow(struct redact *redact, size_t room)
{
	uint8_t *more;

	if (room <= redact->kept_room)
		return true;
	room = room * 2 < redact->longest ? room * 2 : redact->longest;
	more = malloc(room);
	if (!more)
		return false;
	if (redact->kept_size)
		memcpy(more, redact->kept, redact->kept_size);
	if (redact->kept)
		OPENSSL_cleanse(redact->kept, redact->kept_room);
	free(redact->kept);
	redact->kept = more;
	redact->kept_room = room;
	return true;
}

/* Room for the tail, twice: as it is, and as it will be. */
static bool grow_past(struct redact *redact)
{
	uint8_t *more;

	if (redact->past_room >= redact->longest)
		return true;
	more = malloc(2 * redact->longest);
	if (!more)
		return false;
	if (redact->past_size)
		memcpy(more, redact->past, redact->past_size);
	free_past(redact);
	redact->past = more;
	redact->past_next = more + redact->longest;
	redact->past_room = redact->longest;
	return true;
}

/* The tail behind @data, before anything in it is overwritten; returns how much it is. */
static size_t remember(struct redact *redact, const uint8_t *data, size_t size)
{
	size_t tail = waiting(redact, data, size, redact->past_size);
	size_t latest = tail < size ? tail : size, before = tail - latest;

	if (before)
		memcpy(redact->past_next, redact->past + redact->past_size - before, before);
	memcpy(redact->past_next + before, data + size - latest, latest);
	return tail;
}

/* What came last is the past of what comes next. */
static void turn_past(struct redact *redact, size_t size)
{
	uint8_t *swap = redact->past;

	redact->past = redact->past_next;
	redact->past_next = swap;
	redact->past_size = size;
}

bool redact_feed(struct redact *redact, uint8_t *data, size_t size, redact_put *put, void *context)
{
	size_t wait = waiting(redact, data, size, redact->kept_size), old, tail;
	struct search search = { .redact = redact, .detect = &redact->detect };

	if (!gather(redact) || !grow(redact, wait) || !grow_past(redact))
		return false;
	tail = remember(redact, data, size);
	search.past = redact->past;
	search.past_size = redact->past_size;
	search.kept = redact->kept;
	search.kept_size = redact->kept_size;
	search.data = data;
	search.size = size;
	if (!run(&search))
		return false;
	redact->found += search.found;
	turn_past(redact, tail);
	old = wait > size ? redact->kept_size - (wait - size) : redact->kept_size;
	if (old)
		put(context, redact->kept, old);
	redact->kept_size -= old;
	if (redact->kept_size)
		memmove(redact->kept, redact->kept + old, redact->kept_size);
	if (wait < size)
		put(context, data, size - wait);
	if (wait) {
		size_t more = wait < size ? wait : size;

		memcpy(redact->kept + redact->kept_size, data + size - more, more);
		redact->kept_size += more;
	}
	return true;
}

size_t redact_ready(const struct redact *redact, const uint8_t *data, size_t size)
{
	return redact->kept_size + size - waiting(redact, data, size, redact->kept_size);
}

size_t redact_waits(const struct redact *redact)
{
	return redact->kept_size;
}

void redact_release(struct redact *redact, redact_put *put, void *context)
{
	if (redact->kept_size)
		put(context, redact->kept, redact->kept_size);
	redact->kept_size = 0;
}

bool redact_whole(struct redact *redact, uint8_t *data, size_t size)
{
	struct search search = {
		.redact = redact, .detect = &redact->detect_whole, .data = data, .size = size
	};

	if (!gather(redact))
		return false;
	detect_clear(search.detect);
	if (!run(&search))
		return false;
	redact->found += search.found > 0;
	return true;
}

unsigned redact_count(const struct redact *redact)
{
	return redact->found;
}
