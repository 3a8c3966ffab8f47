/*
 * emit/limits.c - limits, process rules, requirements, slots.
 */
#include "emit/order.h"
#include "emit/parts.h"

static void make_limit_key(struct order_key *key, const void *item)
{
	const struct limit_rule *rule = item;

	key_number(key, rule->limit);
	key_number(key, rule->value);
	key_head(key, &rule->head);
}

static void emit_limit_rules(struct writer *writer, const struct policy *policy)
{
	const size_t *order = order_items(writer->arena, policy->limits.items, policy->limits.count,
					  sizeof(struct limit_rule), make_limit_key);

	for (size_t i = 0; i < policy->limits.count; i++) {
		const struct limit_rule *rule = &policy->limits.items[order[i]];
		struct sbx_limit_rule record = {
			.head = writer_head(writer, &rule->head, 0),
			.limit = rule->limit,
			.value = rule->value,
		};

		WRITER_ADD_RULE(writer, LIMITS, &record, &rule->head);
	}
}

static void make_process_key(struct order_key *key, const void *item)
{
	const struct process_rule *rule = item;

	key_number(key, rule->what);
	key_number(key, rule->value);
	key_head(key, &rule->head);
}

static void emit_process_rules(struct writer *writer, const struct policy *policy)
{
	const size_t *order =
	    order_items(writer->arena, policy->process.items, policy->process.count,
			sizeof(struct process_rule), make_process_key);

	for (size_t i = 0; i < policy->process.count; i++) {
		const struct process_rule *rule = &policy->process.items[order[i]];
		struct sbx_process_rule record = {
			.head = writer_head(writer, &rule->head, 0),
			.what = rule->what,
			.value = rule->value,
		};

		WRITER_ADD_RULE(writer, PROCESS, &record, &rule->head);
	}
}

static void make_require_key(struct order_key *key, const void *item)
{
	const struct require_rule *rule = item;

	key_number(key, rule->what);
	key_number(key, rule->value);
	key_tmpls(key, rule->words);
	key_head(key, &rule->head);
}

static void emit_requirements(struct writer *writer, const struct policy *policy)
{
	const size_t *order =
	    order_items(writer->arena, policy->require.items, policy->require.count,
			sizeof(struct require_rule), make_require_key);

	for (size_t i = 0; i < policy->require.count; i++) {
		const struct require_rule *rule = &policy->require.items[order[i]];
		struct sbx_require_rule record = {
			.head = writer_head(writer, &rule->head, 0),
			.what = rule->what,
			.value = rule->value,
			.first = writer_tmpls(writer, rule->words),
			.count = writer_u32(writer, rule->words.count, "require"),
		};

		WRITER_ADD_RULE(writer, REQUIRE, &record, &rule->head);
	}
}

static void make_slot_key(struct order_key *key, const void *item)
{
	const struct slot *slot = item;

	key_str(key, slot->name);
	key_number(key, slot->rights);
	key_tmpl(key, slot->under);
	key_head(key, &slot->head);
}

static void emit_slots(struct writer *writer, const struct policy *policy)
{
	const size_t *order = order_items(writer->arena, policy->slots.items, policy->slots.count,
					  sizeof(struct slot), make_slot_key);

	for (size_t i = 0; i < policy->slots.count; i++) {
		const struct slot *slot = &policy->slots.items[order[i]];
		struct sbx_slot record = {
			.head = writer_head(writer, &slot->head, 0),
			.name = writer_string(writer, slot->name),
			.rights = slot->rights,
			.under = writer_tmpl(writer, slot->under),
			.for_s = slot->for_s,
			.count = slot->count,
		};

		WRITER_ADD_RULE(writer, SLOTS, &record, &slot->head);
	}
}

void emit_limits(struct writer *writer, const struct policy *policy)
{
	emit_limit_rules(writer, policy);
	emit_process_rules(writer, policy);
	emit_requirements(writer, policy);
	emit_slots(writer, policy);
}
