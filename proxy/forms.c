/*
 * proxy/forms.c - the ways to write a secret: what redact.c looks for.
 *
 * A form is a list of elements, each a set of bytes: the secret itself, and its base64
 * at the three offsets it can have within what is encoded.  There the first and the last
 * character have bits of other bytes too, so these elements are known in part.
 */
#include "proxy/forms.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/escape.h"
#include "proxy/keeper.h"

#define NO_BASE64 0x80 /* a bit that none of its 64 values has */

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
	for (unsigned byte = 0; byte < 256; byte++)
		for (unsigned i = 0; i < 3; i++)
			set->early[byte] |= form_fits(form, i, (uint8_t)byte);
}

static void add_bits(struct redact_set *set, size_t index)
{
	const struct form *form = &set->forms[index];
	size_t first = form->count < FORM_WORD ? form->count : FORM_WORD;

	set->turns.of[index] = 1ull << (first - 1);
	for (uint8_t byte = ' '; !forms_delimit(byte); byte++) {
		struct word *fits = set->fits + (byte - ' ') * set->words;

		for (size_t i = 0; i < form->count; i++)
			if (form_fits(form, i, byte))
				fits[i / FORM_WORD].of[index] |= 1ull << i % FORM_WORD;
	}
}

/* Each way to write the first two elements of @form that are wholly known. */
static void add_pairs(struct redact_set *set, const struct form *form)
{
	uint8_t whole = form->map == set->plain ? 0xff : NO_BASE64 | 0x3f;
	size_t first = form->elements[0].mask != whole;

	for (unsigned one = 0; one < 256; one++) {
		if (!form_fits(form, first, (uint8_t)one))
			continue;
		for (unsigned other = 0; other < 256; other++) {
			if (!form_fits(form, first + 1, (uint8_t)other))
				continue;
			set->pairs[set->pair_count][0] = (uint8_t)one;
			set->pairs[set->pair_count++][1] = (uint8_t)other;
		}
	}
}

static bool can_be_value(const uint8_t *secret, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (forms_delimit(secret[i]))
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
	set = calloc(1, sizeof(*set));
	if (!set)
		return NULL;
	set->holders = 1;
	set->longest = longest_form(size);
	set->element_count = size + (FORMS - 1) * encoded;
	set->elements = calloc(set->element_count, sizeof(*set->elements));
	set->words = (encoded + FORM_WORD - 1) / FORM_WORD;
	set->fits = calloc(FORM_BYTES * set->words, sizeof(*set->fits));
	if (!set->elements || !set->fits) {
		redact_set_drop(set);
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
		add_bits(set, i);
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

void redact_set_retire(struct redact_set *set)
{
	set->retired = true;
	redact_set_drop(set);
}

void redact_set_drop(struct redact_set *set)
{
	if (!set || --set->holders)
		return;
	if (set->elements)
		OPENSSL_cleanse(set->elements, set->element_count * sizeof(*set->elements));
	free(set->elements);
	if (set->fits)
		OPENSSL_cleanse(set->fits, FORM_BYTES * set->words * sizeof(*set->fits));
	free(set->fits);
	OPENSSL_cleanse(set, sizeof(*set));
	free(set);
}
