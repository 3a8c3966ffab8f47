/*
 * emit/syscalls.c - system calls: the statements, which call each speaks of,
 * and the programs the kernel runs.
 *
 * The tables are for people and for the verdict functions, the programs for
 * the kernel; both come from the same statements and tests/bpf holds them
 * against each other.
 */
#include <errno.h>
#include <stdlib.h>

#include "emit/calls.h"
#include "emit/order.h"
#include "emit/parts.h"

struct sys_stmt emit_default(const struct policy *policy)
{
	struct sys_stmt stmt = policy->sys_default;

	stmt.verb = SBX_SYS_DEFAULT;
	if (policy->sys_default_said)
		return stmt;
	if (policy->kind == SBX_SITE && policy->unbounded & 1u << SBX_UNBOUNDED_SYSCALLS) {
		stmt.action = SBX_ACT_ALLOW;
		stmt.error = 0;
	} else {
		stmt.action = SBX_ACT_ERRNO;
		stmt.error = ENOSYS;
	}
	return stmt;
}

static uint32_t emit_conditions(struct writer *writer, const struct sys_stmt *stmt)
{
	struct sbx_sys_cond *records =
	    arena_array(writer->arena, stmt->cond_count, sizeof(*records));

	for (size_t i = 0; i < stmt->cond_count; i++) {
		const struct sys_cond *cond = &stmt->conds[i];

		records[i] = (struct sbx_sys_cond){
			.arg = (uint8_t)cond->arg,
			.op = (uint8_t)cond->op,
			.width = (uint8_t)cond->width,
			.is_signed = cond->is_signed,
			.value_first = writer_values(writer, cond->values, cond->value_count),
			.value_count = writer_u32(writer, cond->value_count, "values"),
			.name = writer_string_opt(writer, cond->name),
			.mask = cond->mask,
		};

		if (cond->width == 4)
			records[i].mask = (uint32_t)cond->mask;
	}
	return writer_conditions(writer, records, stmt->cond_count);
}

static void emit_statement(struct writer *writer, const struct sys_stmt *stmt,
			   const struct rule_head *head)
{
	struct sbx_sys_stmt record = {
		.head = writer_head(writer, head, stmt->verb),
		.cond_first = emit_conditions(writer, stmt),
		.cond_count = writer_u8(writer, stmt->cond_count, "conditions"),
		.action = (uint8_t)stmt->action,
		.error =
		    writer_u16(writer, stmt->action == SBX_ACT_ERRNO ? stmt->error : 0, "errno"),
	};

	WRITER_ADD_RULE(writer, SYS_STMTS, &record, head);
}

static int compare_entries(const void *left, const void *right)
{
	const struct sbx_sys_entry *a = left, *b = right;

	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++)
		if (a->nr[arch] != b->nr[arch])
			return a->nr[arch] < b->nr[arch] ? -1 : 1;
	if (a->stmt != b->stmt)
		return a->stmt < b->stmt ? -1 : 1;
	return (a->rank < b->rank) - (a->rank > b->rank); /* the higher first */
}

static void emit_entries(struct writer *writer, const struct policy *policy, const size_t *order)
{
	struct {
		VEC_OF(struct sbx_sys_entry)
	} entries = { 0 };
	const struct sbx_sys_entry *before = NULL;

	if (policy->sys.count >= SBX_SYS_STMTS_MAX)
		writer_fail(writer, "system call statements");
	for (size_t i = 0; i < policy->sys.count; i++) {
		const struct sys_stmt *stmt = &policy->sys.items[order[i]];

		for (size_t n = 0; n < stmt->uses.count; n++) {
			const struct sys_use *use = &stmt->uses.items[n];
			struct sbx_sys_entry entry = {
				.nr = { use->nr[SBX_X86_64], use->nr[SBX_AARCH64] },
				.stmt = (i + 1) & (SBX_SYS_STMTS_MAX - 1),
				.rank = use->rank & 7u,
			};

			if (entry.nr[SBX_X86_64] != SBX_SYS_ABSENT ||
			    entry.nr[SBX_AARCH64] != SBX_SYS_ABSENT)
				*VEC_PUSH(writer->arena, &entries) = entry;
		}
	}
	if (entries.count)
		qsort(entries.items, entries.count, sizeof(struct sbx_sys_entry), compare_entries);
	for (size_t i = 0; i < entries.count; i++) {
		const struct sbx_sys_entry *entry = &entries.items[i];

		/* named by itself and in a group of one statement: the higher rank */
		if (before && before->nr[SBX_X86_64] == entry->nr[SBX_X86_64] &&
		    before->nr[SBX_AARCH64] == entry->nr[SBX_AARCH64] &&
		    before->stmt == entry->stmt)
			continue;
		before = entry;
		WRITER_ADD(writer, SYS_ENTRIES, entry);
	}
}

static void make_name_key(struct order_key *key, const void *item)
{
	const struct sys_name *name = item;

	key_str(key, name->name);
	key_number(key, name->nr);
}

static void emit_names(struct writer *writer, const struct policy *policy)
{
	const size_t *order =
	    order_items(writer->arena, policy->sys_names.items, policy->sys_names.count,
			sizeof(struct sys_name), make_name_key);

	for (size_t i = 0; i < policy->sys_names.count; i++) {
		const struct sys_name *name = &policy->sys_names.items[order[i]];
		struct sbx_sys_name record = {
			.name = writer_string(writer, name->name),
			.nr = name->nr,
		};

		WRITER_ADD(writer, SYS_NAMES, &record);
	}
}

uint32_t emit_syscalls(struct writer *writer, const struct policy *policy,
		       const struct programs *programs)
{
	const struct sys_stmt default_stmt = emit_default(policy);
	const size_t *order = calls_order(writer->arena, policy);

	emit_statement(writer, &default_stmt, &policy->sys_default.head);
	for (size_t i = 0; i < policy->sys.count; i++)
		emit_statement(writer, &policy->sys.items[order[i]],
			       &policy->sys.items[order[i]].head);
	emit_entries(writer, policy, order);
	emit_names(writer, policy);
	for (int arch = 0; arch < SBX_ARCH_COUNT; arch++) {
		writer_append(writer, (enum sbx_section_id)(SBX_SEC_BPF_X86_64 + arch),
			      programs->main[arch].insns, programs->main[arch].count);
		writer_append(writer, (enum sbx_section_id)(SBX_SEC_BPF_SHARED_X86_64 + arch),
			      programs->shared[arch].insns, programs->shared[arch].count);
	}
	return 0;
}
