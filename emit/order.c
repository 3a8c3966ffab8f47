/*
 * emit/order.c - an order of rules that does not depend on where they stood.
 */
#include "emit/order.h"

#include <stdlib.h>
#include <string.h>

static void key_byte(struct order_key *key, char byte)
{
	*VEC_PUSH(key->arena, &key->bytes) = byte;
}

void key_number(struct order_key *key, uint64_t number)
{
	for (int shift = 56; shift >= 0; shift -= 8)
		key_byte(key, (char)(number >> shift & 0xff));
}

/* Ended by a NUL, which no text holds; absent sorts before empty. */
void key_str(struct order_key *key, struct str text)
{
	key_byte(key, text.ptr ? 1 : 0);
	for (size_t i = 0; i < text.len; i++)
		key_byte(key, text.ptr[i]);
	key_byte(key, 0);
}

void key_tmpl(struct order_key *key, struct tmpl tmpl)
{
	for (size_t i = 0; i < tmpl.count; i++) {
		key_byte(key, (char)(1 + tmpl.segs[i].kind));
		if (tmpl.segs[i].kind == SBX_SEG_VAR)
			key_number(key, tmpl.segs[i].var);
		else
			key_str(key, tmpl.segs[i].text);
	}
	key_byte(key, 0);
}

void key_tmpls(struct order_key *key, struct tmpls tmpls)
{
	key_number(key, tmpls.count);
	for (size_t i = 0; i < tmpls.count; i++)
		key_tmpl(key, tmpls.items[i]);
}

void key_cidr(struct order_key *key, const struct sbx_cidr *cidr)
{
	for (size_t i = 0; i < sizeof(cidr->address); i++)
		key_byte(key, (char)cidr->address[i]);
	key_number(key, cidr->bits);
}

void key_head(struct order_key *key, const struct rule_head *head)
{
	key_number(key, head->flags);
	key_str(key, head->compat);
	key_str(key, head->because);
	key_str(key, head->guards);
	if (head->waivers) {
		key_str(key, head->waivers->code);
		key_str(key, head->waivers->why);
	}
}

struct keyed {
	const char *bytes;
	size_t length, index;
};

static int compare(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;
	int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);

	if (order)
		return order;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

const size_t *order_items(struct arena *arena, const void *items, size_t count, size_t size,
			  void (*make_key)(struct order_key *key, const void *item))
{
	struct keyed *keyed = arena_array(arena, count, sizeof(*keyed));
	size_t *order = arena_array(arena, count, sizeof(*order));

	for (size_t i = 0; i < count; i++) {
		struct order_key key = { .arena = arena };

		make_key(&key, (const char *)items + i * size);
		keyed[i] = (struct keyed){ key.bytes.items, key.bytes.count, i };
	}
	qsort(keyed, count, sizeof(*keyed), compare);
	for (size_t i = 0; i < count; i++)
		order[i] = keyed[i].index;
	return order;
}
