/*
 * emit/network.c - network rules.
 */
#include "emit/order.h"
#include "emit/parts.h"

static void make_key(struct order_key *key, const void *item)
{
	const struct net_rule *rule = item;

	key_number(key, rule->verb);
	key_number(key, rule->kind);
	key_str(key, rule->host);
	key_cidr(key, &rule->cidr);
	key_tmpl(key, rule->path);
	key_number(key, rule->port);
	key_number(key, rule->at_count);
	for (size_t i = 0; i < rule->at_count; i++)
		key_cidr(key, &rule->at[i]);
	key_tmpls(key, rule->methods);
	key_tmpl(key, rule->prefix);
	key_head(key, &rule->head);
}

void emit_network(struct writer *writer, const struct policy *policy)
{
	const size_t *order = order_items(writer->arena, policy->net.items, policy->net.count,
					  sizeof(struct net_rule), make_key);

	for (size_t i = 0; i < policy->net.count; i++) {
		const struct net_rule *rule = &policy->net.items[order[i]];
		struct sbx_net_rule record = {
			.head = writer_head(writer, &rule->head, rule->verb),
			.kind = (uint8_t)rule->kind,
			.port = writer_u16(writer, rule->port, "port"),
			.host = writer_string_opt(writer, rule->host),
			.cidr = rule->cidr,
			.path = writer_tmpl(writer, rule->path),
			.at_first = writer_cidrs(writer, rule->at, rule->at_count),
			.at_count = writer_u32(writer, rule->at_count, "addresses"),
			.method_first = writer_tmpls(writer, rule->methods),
			.method_count = writer_u32(writer, rule->methods.count, "methods"),
			.prefix = writer_tmpl(writer, rule->prefix),
		};

		WRITER_ADD_RULE(writer, NET, &record, &rule->head);
	}
}
