/*
 * proxy/redact.c - looks for all ways to write a secret, in one pass.
 *
 * In each form of it (forms.c) any byte may be escaped.  Elements are matched by threads:
 * where in which form one is, within which escape, and where it began.  All threads take
 * each byte; of two in the same place the one that began first stays, since what both find
 * it covers.
 *
 * How long threads take tells how far a text is like a secret.  So they are not asked
 * before detect.c, which takes as long for all texts, has found a whole form (or 64
 * elements of one); then they look once more, from before it may have begun.  Both cost more
 * than looking for no beginning: where there is none, they are skipped to the next
 * (redact_beginnings.c).
 *
 * What waits must tell nothing.  Did it wait because it is like a secret's beginning, then
 * who has a text of his own come back would learn the secret one character after the other,
 * from a server that never shows it.  So all waits that is shaped as a form may be: what is
 * behind the last byte that stands in none, whatever it says.
 */
#include "proxy/redact.h"

#include <openssl/crypto.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/detect.h"
#include "proxy/redact_beginnings.h"

#define THREADS 512
#define WINDOW  66 /* bytes after the last pair within which 64 elements may be */

struct thread {
	struct form *form; /* NULL: within what may be the first byte of any */
	uint64_t start;    /* place of its first byte in the stream */
	uint32_t at;       /* next element */
	struct escape escape;
	uint16_t other; /* added before in the same form */
};

struct redact {
	struct redact_set **sets;
	unsigned set_count, set_room;
	bool stale; /* what follows, of all sets: */
	struct beginnings beginnings;
	bool first[256]; /* of the first elements */
	size_t longest;

	unsigned found;
	uint64_t starred; /* behind the last byte that was overwritten */
	uint64_t place;   /* of the first byte of this call's data */
	uint8_t *data;    /* which is here */
	uint8_t *kept;    /* the bytes before, not handed on yet */
	size_t kept_size, kept_room;
	struct detect detect, detect_whole; /* where there is none, threads look */
	size_t alert;                       /* so many bytes more threads look */
	uint8_t *past, *past_next;          /* bytes before this call's as they were, of the tail */
	size_t past_size, past_room;
	unsigned count, next_count, recent; /* recent: as form->recent, of those in none */
	struct thread threads[THREADS], next[THREADS]; /* the last: mostly untouched */
};

/* ---- threads ----------------------------------------------------------------------------- */

/* From @start to the byte at @end, as far as it has not been handed on. */
static void overwrite(struct redact *redact, uint64_t start, uint64_t end)
{
	uint64_t kept = redact->place - redact->kept_size;

	redact->found++;
	redact->starred = end + 1;
	for (uint64_t at = start < kept ? kept : start; at <= end; at++)
		if (at < redact->place)
			redact->kept[at - kept] = '*';
		else
			redact->data[at - redact->place] = '*';
}

static bool same_place(const struct thread *one, const struct thread *other)
{
	return one->at == other->at && one->escape.state == other->escape.state &&
	       one->escape.value == other->escape.value;
}

/* Before its first element nothing is found but an escape: the shorter one will do. */
static void merge(struct thread *into, const struct thread *other)
{
	if (into->form ? other->start < into->start : other->start > into->start)
		into->start = other->start;
	if (other->escape.length < into->escape.length)
		into->escape.length = other->escape.length;
}

/* Only a secret that repeats itself makes so many, in what repeats it: better too much than
 * too little. */
static void overflow(struct redact *redact, uint64_t place)
{
	uint64_t oldest = place;

	for (unsigned i = 0; i < THREADS; i++)
		if (redact->next[i].start < oldest)
			oldest = redact->next[i].start;
	overwrite(redact, oldest, place);
	redact->next_count = 0;
}

/* Two in the same place are in the same form: each of a form's knows the one before it. */
static void add(struct redact *redact, struct thread thread, uint64_t place)
{
	unsigned *recent = thread.form ? &thread.form->recent : &redact->recent;
	unsigned index = redact->next_count, last = *recent;
	bool has = last < index && redact->next[last].form == thread.form;

	thread.other = (uint16_t)(has ? last : index);
	for (unsigned i = last; has; i = redact->next[i].other) {
		if (same_place(&redact->next[i], &thread)) {
			merge(&redact->next[i], &thread);
			return;
		}
		has = redact->next[i].other != i;
	}
	if (index == THREADS) {
		overflow(redact, place);
		return;
	}
	*recent = index;
	redact->next[redact->next_count++] = thread;
}

/* The first byte of a form that begins at @start is @byte: of which? */
static void begin_forms(struct redact *redact, uint64_t start, uint8_t byte, uint64_t place)
{
	for (unsigned n = 0; n < redact->set_count; n++)
		for (unsigned i = 0; i < FORMS; i++) {
			struct form *form = &redact->sets[n]->forms[i];

			if (form_fits(form, 0, byte))
				add(redact, (struct thread){ form, start, 1, { 0 }, 0 }, place);
		}
}

/* The next byte of what is written, its escape undone, is @byte. */
static void take(struct redact *redact, struct thread thread, uint8_t byte, uint64_t place)
{
	struct thread within = thread;

	if (escape_begin(&within.escape, byte))
		add(redact, within, place);
	if (!thread.form) {
		if (redact->first[byte])
			begin_forms(redact, thread.start, byte, place);
		return;
	}
	if (!form_fits(thread.form, thread.at, byte))
		return;
	thread.escape = (struct escape){ 0 };
	if (++thread.at == thread.form->count)
		overwrite(redact, thread.start, place);
	else
		add(redact, thread, place);
}

static void advance(struct redact *redact, struct thread thread, uint8_t byte, uint64_t place)
{
	enum escape_result result =
	    thread.escape.state ? escape_next(&thread.escape, &byte) : ESCAPE_BYTE;

	if (result == ESCAPE_MORE)
		add(redact, thread, place);
	if (result == ESCAPE_BYTE)
		take(redact, thread, byte, place);
}

static void step(struct redact *redact, uint8_t byte, uint64_t place)
{
	redact->next_count = 0;
	for (unsigned i = 0; i < redact->count; i++)
		advance(redact, redact->threads[i], byte, place);
	take(redact, (struct thread){ .start = place }, byte, place);
	redact->count = redact->next_count;
	memcpy(redact->threads, redact->next, redact->count * sizeof(*redact->threads));
}

/* ---- where to look -------------------------------------------------------------- */

/*
 * Are there only threads that have matched the byte before @at, and does none of them go
 * on?  In what looks like base64 there is always one.
 */
static bool idle(const struct redact *redact, size_t at, size_t size)
{
	const uint8_t *data = redact->data + at;
	struct escape escape = { 0 };

	if (!redact->count)
		return true;

	if (!at || at + 2 >= size || redact->starred + 2 > redact->place + at)
		return false;
	for (unsigned i = 0; i < redact->count; i++)
		if (redact->threads[i].at != 1 || redact->threads[i].escape.state ||
		    redact->threads[i].start + 1 != redact->place + at)
			return false;
	return !beginnings_begins(&redact->beginnings, data - 1, size - at + 1) &&
	       !beginnings_begins(&redact->beginnings, data, size - at) &&
	       !escape_begin(&escape, data[1]);
}

/*
 * Is there any secret that ends in these bytes, and could they be one's first 64 elements?
 * Where nothing begins for a while it skips, which tells of the first characters alone.
 */
static bool detect(struct redact *redact, struct detect *detect, const uint8_t *data, size_t size)
{
	size_t until = WINDOW; /* what began before may go on */
	bool hit = false;

	if (!detect->room)
		return true;
	redact->data = (uint8_t *)(uintptr_t)data;
	for (size_t at = 0; at < size; at++) {
		if (at >= until && at + 2 < size && !detect->reading_count &&
		    !beginnings_begins(&redact->beginnings, data + at, size - at) &&
		    !beginnings_begins(&redact->beginnings, data + at + 1, size - at - 1)) {
			detect_clear(detect);
			at = beginnings_skip(&redact->beginnings, redact->data, at, size);
			until = at + WINDOW;
		}
		hit |= detect_step(detect, data[at]);
		if (detect->reading_count || at + 1 == size ||
		    beginnings_is_pair(&redact->beginnings, data + at))
			until = at + WINDOW;
	}
	return hit;
}

/* Many sets have beginnings in common: those of the values that one source has had. */
static void gather(struct redact *redact)
{
	redact->stale = false;
	beginnings_clear(&redact->beginnings);
	memset(redact->first, 0, sizeof(redact->first));
	/* What had begun is lost to it, but not to threads. */
	redact->alert = redact->place ? redact->longest : 0;
	detect_set(&redact->detect, redact->sets, redact->set_count);
	detect_set(&redact->detect_whole, redact->sets, redact->set_count);
	for (unsigned n = 0; n < redact->set_count; n++) {
		const struct redact_set *set = redact->sets[n];

		beginnings_add(&redact->beginnings, set);
		for (unsigned byte = 0; byte < 256; byte++)
			redact->first[byte] |= set->first[byte];
	}
}

/* Threads, from what is known of this call's data: finds where each secret begins and ends. */
static void search(struct redact *redact, size_t size)
{
	for (size_t at = 0; at < size; at++) {
		if (idle(redact, at, size)) {
			redact->count = 0;
			at = beginnings_skip(&redact->beginnings, redact->data, at, size);
		}
		step(redact, redact->data[at], redact->place + at);
	}
}

/* ---- streams ----------------------------------------------------------------------------- */

struct redact *redact_make(struct redact_set *set)
{
	struct redact *redact = malloc(sizeof(*redact));

	if (!redact)
		return NULL;
	memset(redact, 0, offsetof(struct redact, threads));
	if (redact_also(redact, set))
		return redact;
	redact_free(redact);
	return NULL;
}

/* And the threads in its forms. */
static void remove_set(struct redact *redact, unsigned index)
{
	struct redact_set *set = redact->sets[index];
	unsigned left = 0;

	for (unsigned i = 0; i < redact->count; i++) {
		bool gone = false;

		for (unsigned n = 0; n < FORMS; n++)
			gone |= redact->threads[i].form == &set->forms[n];
		if (!gone)
			redact->threads[left++] = redact->threads[i];
	}
	redact->count = left;
	redact->sets[index] = redact->sets[--redact->set_count];
	redact->stale = true;
	redact_set_drop(set);
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
	OPENSSL_cleanse(redact, offsetof(struct redact, threads));
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

/* Threads begin in what was before, where it is not known from when on they would go. */
static void find(struct redact *redact, uint8_t *data, size_t size)
{
	unsigned found = redact->found;

	redact->count = 0;
	for (size_t i = 0; i < redact->past_size; i++)
		step(redact, redact->past[i], redact->place - redact->past_size + i);
	redact->found = found; /* before, what is there */
	redact->data = data;
	search(redact, size);
}

bool redact_feed(struct redact *redact, uint8_t *data, size_t size, redact_put *put, void *context)
{
	size_t wait = waiting(redact, data, size, redact->kept_size), old, tail;
	uint8_t *swap;
	bool hit;

	if (redact->stale)
		gather(redact);
	if (!grow(redact, wait) || !grow_past(redact))
		return false;
	hit = detect(redact, &redact->detect, data, size);
	tail = remember(redact, data, size);
	if (hit || redact->alert)
		find(redact, data, size);
	redact->alert = hit ? redact->longest : redact->alert > size ? redact->alert - size : 0;
	swap = redact->past;
	redact->past = redact->past_next;
	redact->past_next = swap;
	redact->past_size = tail;
	redact->place += size;
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
	struct redact once;

	if (redact->stale)
		gather(redact);
	if (redact->detect_whole.room)
		detect_clear(&redact->detect_whole);
	if (!detect(redact, &redact->detect_whole, data, size))
		return false;
	memcpy(&once, redact, offsetof(struct redact, threads));
	once.found = once.count = 0;
	once.starred = once.place = once.kept_size = 0;
	once.data = data;
	search(&once, size);
	return once.found;
}

unsigned redact_count(const struct redact *redact)
{
	return redact->found;
}
