/*
 * emit/assertions.c - what the policy claims about itself.
 */
#include "emit/order.h"
#include "emit/parts.h"

static void make_key(struct order_key *key, const void *item)
{
	const struct assertion *claim = item;

	key_number(key, claim->polarity);
	key_number(key, claim->action);
	key_str(key, claim->text);
	key_tmpl(key, claim->path);
	key_number(key, claim->port);
	key_head(key, &claim->head);
}

void emit_assertions(struct writer *writer, const struct policy *policy)
{
	const size_t *order =
	    order_items(writer->arena, policy->asserts.items, policy->asserts.count,
			sizeof(struct assertion), make_key);

	for (size_t i = 0; i < policy->asserts.count; i++) {
		const struct assertion *claim = &policy->asserts.items[order[i]];
		struct sbx_assert record = {
			.head = writer_head(writer, &claim->head, claim->polarity),
			.action = (uint8_t)claim->action,
			.is_path = claim->path.count != 0,
			.port = writer_u16(writer, claim->port, "port"),
			.object = claim->path.count
				      ? writer_tmpl(writer, claim->path)
				      : (struct sbx_tmpl){ writer_string(writer, claim->text) },
		};

		for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++)
			record.nr[arch] = claim->nr[arch];
		WRITER_ADD_RULE(writer, ASSERTS, &record, &claim->head);
	}
}
