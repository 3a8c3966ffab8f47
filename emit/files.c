/*
 * emit/files.c - file rules.
 */
#include "emit/order.h"
#include "emit/parts.h"

static void make_key(struct order_key *key, const void *item)
{
	const struct fs_rule *rule = item;

	key_tmpl(key, rule->path);
	key_number(key, rule->verb);
	key_number(key, rule->rights);
	key_tmpls(key, rule->excepts);
	key_number(key, rule->placeholder);
	key_str(key, rule->placeholder_text);
	key_number(key, rule->size);
	key_head(key, &rule->head);
}

static uint16_t emit_extra(struct writer *writer, const struct fs_rule *rule)
{
	struct sbx_fs_extra extra = {
		.except_first = writer_tmpls(writer, rule->excepts),
		.except_count = writer_u32(writer, rule->excepts.count, "exceptions"),
		.placeholder_text = writer_string_opt(writer, rule->placeholder_text),
		.size_kib = writer_u32(writer, (rule->size + 1023) / 1024, "tmp size"),
	};

	if (!rule->excepts.count && !rule->placeholder_text.ptr && !rule->size)
		return SBX_NONE16;
	return writer_intern16(writer, SBX_SEC_FS_EXTRAS, &extra);
}

uint32_t emit_files(struct writer *writer, const struct policy *policy)
{
	const size_t *order = order_items(writer->arena, policy->fs.items, policy->fs.count,
					  sizeof(struct fs_rule), make_key);
	uint32_t workspace = SBX_NONE;

	for (size_t i = 0; i < policy->fs.count; i++) {
		const struct fs_rule *rule = &policy->fs.items[order[i]];
		struct sbx_fs_rule record = {
			.head = writer_head(writer, &rule->head, rule->verb),
			.path = writer_tmpl(writer, rule->path),
			.rights = (uint8_t)rule->rights,
			.placeholder = (uint8_t)rule->placeholder,
			.extra = emit_extra(writer, rule),
		};

		if (order[i] == policy->workspace_rule)
			workspace = (uint32_t)i;
		WRITER_ADD_RULE(writer, FS, &record, &rule->head);
	}
	return workspace;
}
