/*
 * compiler/render_calls.c - system call statements.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/render.h"
#include "compiler/render_words.h"
#include "emit/emit.h"

const char *render_call(struct arena *arena, const struct sbx_blob *blob,
			const uint16_t nr[SBX_ARCH_COUNT])
{
	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++) {
		const char *name = NULL;

		if (nr[arch] != SBX_SYS_ABSENT)
			name = emit_syscall_name(arena, (enum sbx_arch)arch, nr[arch]);
		if (name)
			return name;
	}
	for (uint32_t i = 0; i < SBX_COUNT(blob, SYS_NAMES); i++) {
		const struct sbx_sys_name *name = SBX_AT(blob, SYS_NAMES, sbx_sys_name, i);

		if (name->nr == nr[SBX_X86_64] || name->nr == nr[SBX_AARCH64])
			return sbx_string(blob, name->name);
	}
	return arena_printf(arena, "%u", nr[nr[SBX_X86_64] == SBX_SYS_ABSENT]);
}

const char *render_answer(struct arena *arena, const struct sbx_sys_stmt *stmt)
{
	const char *name;

	if (stmt->action == SBX_ACT_ALLOW)
		return "allow";
	if (stmt->action == SBX_ACT_KILL)
		return "kill";
	name = strerrorname_np(stmt->error);
	return name ? name : arena_printf(arena, "errno %u", stmt->error);
}

static void add_condition(struct text *text, const struct sbx_blob *blob,
			  const struct sbx_sys_cond *cond)
{
	static const char *const ops[] = {
		[SBX_EQ] = "==", [SBX_NE] = "!=", [SBX_LT] = "<",  [SBX_LE] = "<=",
		[SBX_GT] = ">",  [SBX_GE] = ">=", [SBX_IN] = "in",
	};
	const uint64_t *values = blob->section[SBX_SEC_VALUES].records;
	uint64_t all = cond->width == 4 ? UINT32_MAX : UINT64_MAX;

	if (cond->name == SBX_NONE)
		text_add(text, "arg%u", cond->arg);
	else
		text_add(text, "%s", sbx_string(blob, cond->name));
	if (cond->mask != all)
		text_add(text, " & %#" PRIx64, cond->mask);
	text_add(text, " %s", WORD_OF(ops, cond->op));
	for (uint32_t i = 0; i < cond->value_count; i++) {
		uint64_t value = values[cond->value_first + i] & all;

		text_add(text, value < 10 ? " %" PRIu64 : " %#" PRIx64, value);
	}
}

static void add_rest(struct text *text, const struct sbx_blob *blob,
		     const struct sbx_sys_stmt *stmt)
{
	for (uint32_t i = 0; i < stmt->cond_count; i++) {
		text_add(text, i ? " and " : " where ");
		add_condition(text, blob,
			      SBX_AT(blob, SYS_CONDS, sbx_sys_cond, stmt->cond_first + i));
	}
	if (stmt->head.verb == SBX_SYS_DEFAULT)
		text_add(text, " %s", render_answer(text->arena, stmt));
	else if (stmt->head.verb != SBX_SYS_ALLOW)
		text_add(text, " with %s", render_answer(text->arena, stmt));
	words_head(text, blob, &stmt->head);
}

static void add_verb(struct text *text, const struct sbx_sys_stmt *stmt)
{
	static const char *const verbs[] = { "allow", "deny", "seal", "default" };

	text_add(text, "%s", WORD_OF(verbs, stmt->head.verb));
}

void render_statement(struct text *text, const struct sbx_blob *blob, uint32_t index,
		      unsigned calls)
{
	const struct sbx_sys_stmt *stmt = SBX_AT(blob, SYS_STMTS, sbx_sys_stmt, index);
	unsigned shown = 0, more = 0;

	add_verb(text, stmt);
	for (uint32_t i = 0; i < SBX_COUNT(blob, SYS_ENTRIES); i++) {
		const struct sbx_sys_entry *entry = SBX_AT(blob, SYS_ENTRIES, sbx_sys_entry, i);

		if (entry->stmt != index)
			continue;
		if (calls && shown == calls)
			more++;
		else if (++shown)
			text_add(text, " %s", render_call(text->arena, blob, entry->nr));
	}
	if (more)
		text_add(text, " and %u more", more);
	add_rest(text, blob, stmt);
}

const char *render_rule_for_call(struct arena *arena, const struct sbx_blob *blob, uint32_t index,
				 const uint16_t nr[SBX_ARCH_COUNT])
{
	const struct sbx_sys_stmt *stmt = SBX_AT(blob, SYS_STMTS, sbx_sys_stmt, index);
	struct text text = { .arena = arena };
	unsigned others = 0;

	add_verb(&text, stmt);
	if (stmt->head.verb != SBX_SYS_DEFAULT)
		text_add(&text, " %s", render_call(arena, blob, nr));
	for (uint32_t i = 0; i < SBX_COUNT(blob, SYS_ENTRIES); i++)
		others += SBX_AT(blob, SYS_ENTRIES, sbx_sys_entry, i)->stmt == index;
	if (others > 1)
		text_add(&text, " (one of %u calls)", others);
	add_rest(&text, blob, stmt);
	return text_end(&text);
}
