/*
 * emit/slurm.c - Slurm rules, and the policy of jobs.
 */
#include "emit/order.h"
#include "emit/parts.h"

static void make_key(struct order_key *key, const void *item)
{
	const struct slurm_rule *rule = item;

	key_number(key, rule->verb);
	key_str(key, rule->command);
	key_str(key, rule->option);
	key_number(key, rule->op);
	key_tmpls(key, rule->values);
	key_str(key, rule->short_name);
	key_number(key, rule->value_kind);
	key_number(key, rule->flags);
	key_str(key, rule->env);
	key_number(key, rule->period_s);
	key_head(key, &rule->head);
}

void emit_slurm(struct writer *writer, const struct policy *policy)
{
	const size_t *order = order_items(writer->arena, policy->slurm.items, policy->slurm.count,
					  sizeof(struct slurm_rule), make_key);

	for (size_t i = 0; i < policy->slurm.count; i++) {
		const struct slurm_rule *rule = &policy->slurm.items[order[i]];
		struct sbx_slurm_rule record = {
			.head = writer_head(writer, &rule->head, rule->verb),
			.value_kind = (uint8_t)rule->value_kind,
			.op = (uint8_t)rule->op,
			.flags = (uint8_t)rule->flags,
			.command = writer_string_opt(writer, rule->command),
			.option = writer_string_opt(writer, rule->option),
			.short_name = writer_string_opt(writer, rule->short_name),
			.env = writer_string_opt(writer, rule->env),
			.value_first = writer_tmpls(writer, rule->values),
			.value_count = writer_u32(writer, rule->values.count, "values"),
			.period_s = rule->period_s,
		};

		WRITER_ADD_RULE(writer, SLURM, &record, &rule->head);
	}
	writer_append(writer, SBX_SEC_JOBS, policy->jobs.ptr, policy->jobs.len);
}
