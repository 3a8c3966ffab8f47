/*
 * emit/environment.c - environment rules and credentials.
 */
#include "emit/order.h"
#include "emit/parts.h"

static void make_env_key(struct order_key *key, const void *item)
{
	const struct env_rule *rule = item;

	key_str(key, rule->name);
	key_number(key, rule->verb);
	key_tmpl(key, rule->value);
	key_head(key, &rule->head);
}

void emit_environment(struct writer *writer, const struct policy *policy)
{
	const size_t *order = order_items(writer->arena, policy->env.items, policy->env.count,
					  sizeof(struct env_rule), make_env_key);

	for (size_t i = 0; i < policy->env.count; i++) {
		const struct env_rule *rule = &policy->env.items[order[i]];
		struct sbx_env_rule record = {
			.head = writer_head(writer, &rule->head, rule->verb),
			.name = writer_string(writer, rule->name),
			.value = writer_tmpl(writer, rule->value),
		};

		WRITER_ADD_RULE(writer, ENV, &record, &rule->head);
	}
}

static void make_credential_key(struct order_key *key, const void *item)
{
	const struct credential *credential = item;

	key_str(key, credential->name);
	key_number(key, credential->source);
	key_tmpls(key, credential->source_words);
	key_tmpls(key, credential->hosts);
}

void emit_credentials(struct writer *writer, const struct policy *policy)
{
	const size_t *order =
	    order_items(writer->arena, policy->credentials.items, policy->credentials.count,
			sizeof(struct credential), make_credential_key);

	for (size_t i = 0; i < policy->credentials.count; i++) {
		const struct credential *credential = &policy->credentials.items[order[i]];
		struct sbx_credential record = {
			.head = writer_head(writer, &credential->head, 0),
			.name = writer_string(writer, credential->name),
			.source = credential->source,
			.source_first = writer_tmpls(writer, credential->source_words),
			.source_count =
			    writer_u32(writer, credential->source_words.count, "source"),
			.json = writer_string_opt(writer, credential->json),
			.host_first = writer_tmpls(writer, credential->hosts),
			.host_count = writer_u32(writer, credential->hosts.count, "hosts"),
			.header = writer_string_opt(writer, credential->header),
			.scheme = credential->scheme,
			.basic_user = writer_string_opt(writer, credential->basic_user),
			.refresh_s = credential->refresh_s,
			.lifetime_s = credential->lifetime_s,
		};

		WRITER_ADD_RULE(writer, CREDENTIALS, &record, &credential->head);
	}
}
