/*
 * proxy/redact.c - looks for all ways to write a secret, in one pass.
 *
 * A form is a list of elements, each a set of bytes: the secret itself, and its base64
 * at the three offsets it can have within what is encoded.  There the first and the last
 * character have bits of other bytes too, so these elements are known in part.  On top of
 * that any byte may be escaped.  An element is matched by threads: where in which form one
 * is, within which escape, and where it began.  All threads take each byte; of two in the
 * same place the one that began first stays, since what both find it covers.
 *
 * Threads cost ten times as much as looking for none.  So while there is no thread, 16
 * bytes at a time are searched for the two bytes by which a form begins, or for an escape.
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

#include "proxy/escape.h"
#include "proxy/keeper.h"

#define FORMS     4
#define PAIRS     (FORMS * 4)
#define SETS      8 /* in one stream */
#define THREADS   160
#define EACH_BYTE 0x8080808080808080u
#define NO_BASE64 0x80 /* a bit that none of its 64 values has */

typedef uint8_t vector __attribute__((vector_size(16)));

struct element { /* (map[byte] & mask) == value */
	uint8_t mask, value;
};

struct form {
	const uint8_t *map; /* bytes as they are, or as base64's values */
	struct element *elements;
	size_t count;
};

struct redact_set {
	unsigned holders;
	uint8_t plain[256], base64[256];
	struct form forms[FORMS];
	struct element *elements; /* of all forms */
	size_t element_count;
	size_t longest;  /* bytes of a form, each in the longest escape, and more */
	bool early[256]; /* a byte that one of the first three elements of a form may be */
	unsigned pair_count;
	vector first[PAIRS], second[PAIRS];
};

struct thread {
	uint64_t start; /* place of its first byte in the stream */
	uint32_t at;    /* next element */
	uint8_t form;   /* forms of the second set follow those of the first */
	struct escape escape;
};

struct redact {
	struct redact_set *sets[SETS];
	unsigned set_count;
	struct thread threads[THREADS], next[THREADS];
	unsigned count, next_count;
	unsigned found;
	uint64_t starred; /* behind the last byte that was overwritten */
	uint64_t place;   /* of the first byte of this call's data */
	uint8_t *data;    /* which is here */
	uint8_t *kept;    /* the bytes before, not handed on yet */
	size_t kept_size, kept_room;
	size_t longest; /* of all sets */
};

/* ---- forms ------------------------------------------------------------------------------ */

static void fill_maps(struct redact_set *set)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	memset(set->base64, NO_BASE64, sizeof(set->base64));
	for (unsigned i = 0; i < 256; i++)
		set->plain[i] = (uint8_t)i;
	for (uint8_t i = 0; i < 64; i++)
		set->base64[(uint8_t)digits[i]] = i;
	set->base64['-'] = 62; /* the alphabet of URLs */
	set->base64['_'] = 63;
}

/* Base64 of @secret behind @before bytes that are not known, nor are those after it. */
static void encode(struct form *form, const uint8_t *secret, size_t size, size_t before)
{
	size_t from = before * 8, to = (before + size) * 8;

	for (size_t bit = from / 6 * 6; bit < to; bit += 6) {
		struct element *element = &form->elements[form->count++];

		*element = (struct element){ NO_BASE64, 0 };
		for (size_t i = 0; i < 6; i++) {
			uint8_t mask = (uint8_t)(0x20 >> i);
			size_t at = bit + i;

			if (at < from || at >= to)
				continue;
			element->mask |= mask;
			if (secret[at / 8 - before] & 0x80 >> at % 8)
				element->value |= mask;
		}
	}
}

static void add_early(struct redact_set *set, const struct form *form)
{
	for (unsigned i = 0; i < 3; i++)
		for (unsigned byte = 0; byte < 256; byte++)
			set->early[byte] |=
			    (form->map[byte] & form->elements[i].mask) == form->elements[i].value;
}

/* Each way to write the first two elements of @form that are wholly known. */
static void add_pairs(struct redact_set *set, const struct form *form)
{
	uint8_t whole = form->map == set->plain ? 0xff : NO_BASE64 | 0x3f;
	const struct element *element = form->elements;

	element += element->mask != whole;
	for (unsigned one = 0; one < 256; one++) {
		if ((form->map[one] & element[0].mask) != element[0].value)
			continue;
		for (unsigned other = 0; other < 256; other++) {
			if ((form->map[other] & element[1].mask) != element[1].value)
				continue;
			memset(&set->first[set->pair_count], (int)one, sizeof(vector));
			memset(&set->second[set->pair_count++], (int)other, sizeof(vector));
		}
	}
}

/* Bytes of which no form has one, nor an escape. */
static bool delimits(uint8_t byte)
{
	return byte < ' ' || byte > '~';
}

static bool can_be_value(const uint8_t *secret, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (delimits(secret[i]))
			return false;
	return size >= KEEPER_VALUE_MIN && size <= KEEPER_VALUE_MAX;
}

/* Elements of base64's longest form. */
static size_t encoded_size(size_t size)
{
	return (size + 2) * 8 / 6 + 2;
}

/* The same for all values of about this length: it can be seen in what waits. */
static size_t longest_form(size_t size)
{
	size_t about = 64;

	while (about < size)
		about *= 2;
	return encoded_size(about) * ESCAPE_MAX;
}

struct redact_set *redact_set_make(const void *secret, size_t size)
{
	size_t encoded = encoded_size(size);
	struct redact_set *set;

	if (!can_be_value(secret, size))
		return NULL;
	set = aligned_alloc(_Alignof(vector), (sizeof(*set) + 63) / 64 * 64);
	if (!set)
		return NULL;
	memset(set, 0, sizeof(*set));
	set->holders = 1;
	set->longest = longest_form(size);
	set->element_count = size + (FORMS - 1) * encoded;
	set->elements = calloc(set->element_count, sizeof(*set->elements));
	if (!set->elements) {
		free(set);
		return NULL;
	}
	fill_maps(set);
	for (size_t i = 0; i < FORMS; i++) {
		struct form *form = &set->forms[i];

		form->elements = set->elements + (i ? size + (i - 1) * encoded : 0);
		form->map = i ? set->base64 : set->plain;
		if (i)
			encode(form, secret, size, i - 1);
		for (; !i && form->count < size; form->count++)
			form->elements[form->count] =
			    (struct element){ 0xff, ((const uint8_t *)secret)[form->count] };
		add_pairs(set, form);
		add_early(set, form);
	}
	return set;
}

struct redact_set *redact_set_hold(struct redact_set *set)
{
	set->holders++;
	return set;
}

void redact_set_drop(struct redact_set *set)
{
	if (!set || --set->holders)
		return;
	OPENSSL_cleanse(set->elements, set->element_count * sizeof(*set->elements));
	free(set->elements);
	OPENSSL_cleanse(set, sizeof(*set));
	free(set);
}

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
	return one->at == other->at && one->form == other->form &&
	       one->escape.state == other->escape.state && one->escape.value == other->escape.value;
}

/* Before its first element nothing is found but an escape: the shorter one will do. */
static void merge(struct thread *into, const struct thread *other)
{
	if (into->at ? other->start < into->start : other->start > into->start)
		into->start = other->start;
	if (other->escape.length < into->escape.length)
		into->escape.length = other->escape.length;
}

static void add(struct redact *redact, struct thread thread, uint64_t place)
{
	uint64_t oldest = thread.start;

	for (unsigned i = 0; i < redact->next_count; i++) {
		struct thread *other = &redact->next[i];

		if (same_place(other, &thread)) {
			merge(other, &thread);
			return;
		}
		if (other->start < oldest)
			oldest = other->start;
	}
	if (redact->next_count == THREADS) {
		/* a secret that repeats itself, in what repeats it: better too much than too little
		 */
		overwrite(redact, oldest, place);
		redact->next_count = 0;
		return;
	}
	redact->next[redact->next_count++] = thread;
}

/* The next byte of what is written, its escape undone, is @byte. */
static void take(struct redact *redact, struct thread thread, uint8_t byte, uint64_t place)
{
	const struct form *form = &redact->sets[thread.form / FORMS]->forms[thread.form % FORMS];
	const struct element *element = &form->elements[thread.at];
	struct thread within = thread;

	if (escape_begin(&within.escape, byte))
		add(redact, within, place);
	if ((form->map[byte] & element->mask) != element->value)
		return;
	thread.escape = (struct escape){ 0 };
	if (++thread.at == form->count)
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
	for (uint8_t form = 0; form < redact->set_count * FORMS; form++)
		advance(redact, (struct thread){ .start = place, .form = form }, byte, place);
	redact->count = redact->next_count;
	memcpy(redact->threads, redact->next, redact->count * sizeof(*redact->threads));
}

/* ---- the search for a beginning -------------------------------------------------------------- */

static vector all_of(uint8_t byte)
{
	vector it;

	memset(&it, byte, sizeof(it));
	return it;
}

/* Which of the 16 that begin at @data may be one?  17 are looked at; 0x80 for each in
 * @found, the first in the lowest byte. */
static bool candidates(const struct redact *redact, const uint8_t *data, uint64_t found[2])
{
	vector one, other, all;

	memcpy(&one, data, sizeof(one));
	memcpy(&other, data + 1, sizeof(other));
	all = (vector)((one == all_of('%')) | (one == all_of('\\')) | (one == all_of('&')));
	for (unsigned n = 0; n < redact->set_count; n++) {
		const struct redact_set *set = redact->sets[n];

		for (unsigned i = 0; i < set->pair_count; i++)
			all |= (vector)((one == set->first[i]) & (other == set->second[i]));
	}
	memcpy(found, &all, sizeof(all));
	found[0] &= EACH_BYTE;
	found[1] &= EACH_BYTE;
	return found[0] | found[1];
}

/* Has one of the first elements of any form @byte? */
static bool early(const struct redact *redact, int byte)
{
	for (unsigned i = 0; i < redact->set_count; i++)
		if (redact->sets[i]->early[byte])
			return true;
	return false;
}

/* An escape of a byte that one of the first elements may be; it may be one within
 * another.  @size bytes are there. */
static bool escapes(const struct redact *redact, const uint8_t *data, size_t size)
{
	struct escape escape = { 0 };

	if (!escape_begin(&escape, data[0]))
		return false;
	for (size_t i = 1; i < size; i++) {
		uint8_t byte = data[i];
		enum escape_result result = escape_next(&escape, &byte);

		if (result == ESCAPE_BYTE && early(redact, byte))
			return true;
		if (result == ESCAPE_NONE ||
		    (result == ESCAPE_BYTE && !escape_begin(&escape, byte)))
			return false;
	}
	return true;
}

/* Of @size bytes, which are two at least. */
static bool begins(const struct redact *redact, const uint8_t *data, size_t size)
{
	if (escapes(redact, data, size))
		return true;
	for (unsigned n = 0; n < redact->set_count; n++) {
		const struct redact_set *set = redact->sets[n];

		for (unsigned i = 0; i < set->pair_count; i++)
			if (data[0] == set->first[i][0] && data[1] == set->second[i][0])
				return true;
	}
	return false;
}

/*
 * Where from @at on threads have to look: two bytes before a pair or an escape, since an
 * element known in part and one more may stand there; and at the last three bytes, since
 * those may stand there before an escape of which no more has come than its first byte.
 */
static size_t skip(const struct redact *redact, size_t at, size_t size)
{
	const uint8_t *data = redact->data;
	size_t from = at, last = size < 3 ? 0 : size - 3;
	uint64_t found[2];

	for (; at + sizeof(vector) < size; at += sizeof(vector)) {
		if (!candidates(redact, data + at, found))
			continue;
		for (unsigned i = 0; i < 2; i++)
			for (; found[i]; found[i] &= found[i] - 1) {
				size_t place = at + 8 * i + (size_t)__builtin_ctzll(found[i]) / 8;

				if (begins(redact, data + place, size - place))
					return place < from + 2 ? from : place - 2;
			}
	}
	for (; at + 1 < size; at++)
		if (begins(redact, data + at, size - at))
			return at < from + 2 ? from : at - 2;
	return from > last ? from : last;
}

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
	return !begins(redact, data - 1, size - at + 1) && !begins(redact, data, size - at) &&
	       !escape_begin(&escape, data[1]);
}

static void search(struct redact *redact, size_t size)
{
	for (size_t at = 0; at < size; at++) {
		if (idle(redact, at, size)) {
			redact->count = 0;
			at = skip(redact, at, size);
		}
		step(redact, redact->data[at], redact->place + at);
	}
}

/* ---- streams ----------------------------------------------------------------------------- */

struct redact *redact_make(struct redact_set *set)
{
	struct redact *redact = calloc(1, sizeof(*redact));

	if (redact)
		redact_also(redact, set);
	return redact;
}

bool redact_also(struct redact *redact, struct redact_set *set)
{
	for (unsigned i = 0; i < redact->set_count; i++)
		if (redact->sets[i] == set)
			return true;
	if (redact->set_count == SETS)
		return false;
	redact->sets[redact->set_count++] = redact_set_hold(set);
	if (redact->longest < set->longest)
		redact->longest = set->longest;
	return true;
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
	OPENSSL_cleanse(redact, sizeof(*redact));
	free(redact);
}

/* How many bytes at the end wait once @size more have come: those since the last that is in
 * no form, but one less than the longest form at most. */
static size_t waiting(const struct redact *redact, const uint8_t *data, size_t size)
{
	size_t most = redact->longest - 1, count = 0;

	while (count < size && count < most && !delimits(data[size - 1 - count]))
		count++;
	if (count == size)
		count += redact->kept_size;
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

bool redact_feed(struct redact *redact, uint8_t *data, size_t size, redact_put *put, void *context)
{
	size_t wait = waiting(redact, data, size), old;

	if (!grow(redact, wait))
		return false;
	redact->data = data;
	search(redact, size);
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
	return redact->kept_size + size - waiting(redact, data, size);
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

bool redact_whole(const struct redact *redact, uint8_t *data, size_t size)
{
	struct redact once = { .set_count = redact->set_count, .data = data };
	bool found;

	memcpy(once.sets, redact->sets, sizeof(once.sets));
	search(&once, size);
	found = once.found != 0;
	OPENSSL_cleanse(&once, sizeof(once));
	return found;
}

unsigned redact_count(const struct redact *redact)
{
	return redact->found;
}
