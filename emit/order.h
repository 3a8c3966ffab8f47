/*
 * emit/order.h - an order of rules that does not depend on where they stood.
 *
 * The order of statements means nothing, so it must not show in the blob
 * either: each group of rules is written sorted by content.  A key is the
 * content as bytes, made of the pieces below so that no two different rules
 * have equal keys and a shorter text sorts before a longer one.
 */
#ifndef SBX_EMIT_ORDER_H
#define SBX_EMIT_ORDER_H

#include "base/arena.h"
#include "ir/policy.h"

struct order_key {
	struct arena *arena;
	struct {
		VEC_OF(char)
	} bytes;
};

void key_number(struct order_key *key, uint64_t number);
void key_str(struct order_key *key, struct str text);
void key_tmpl(struct order_key *key, struct tmpl tmpl);
void key_tmpls(struct order_key *key, struct tmpls tmpls);
void key_cidr(struct order_key *key, const struct sbx_cidr *cidr);
/* Flags and reasons, not places. */
void key_head(struct order_key *key, const struct rule_head *head);

/*
 * The indices of @count items of @size bytes in the order of their keys, equal
 * ones as they stood.
 */
const size_t *order_items(struct arena *arena, const void *items, size_t count, size_t size,
			  void (*make_key)(struct order_key *key, const void *item));

#endif
