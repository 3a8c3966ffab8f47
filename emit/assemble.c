/*
 * emit/assemble.c - a filter written out: a tree over the numbers, blocks of
 * conditions, one return of each answer.
 */
#include "emit/assemble.h"

#include "blob/check.h"
#include "emit/conditions.h"
#include "emit/tree.h"

uint32_t calls_answer_at(const struct call *calls, size_t index)
{
	const struct call *call = &calls[index];

	return call->count > 1 ? SBX_RET_TRACE | (uint32_t)(index + 1)
			       : calls_answer(call->tries[0]);
}

struct returns { /* one of each answer, and the blocks */
	struct assembler *as;
	struct {
		VEC_OF(struct return_at)
	} items;
};
struct return_at {
	uint32_t answer, label;
};

static uint32_t label_of(void *context, uint32_t answer)
{
	struct returns *returns = context;
	struct return_at *item;

	for (size_t i = 0; i < returns->items.count; i++)
		if (returns->items.items[i].answer == answer)
			return returns->items.items[i].label;
	item = VEC_PUSH(returns->as->arena, &returns->items);
	*item = (struct return_at){ answer, assembler_label(returns->as) };
	return item->label;
}

/* The statements of a call in turn; the last has no condition. */
static void emit_tries(struct assembler *as, const struct call *call, struct returns *returns)
{
	for (size_t i = 0; i + 1 < call->count; i++) {
		const struct sys_stmt *stmt = call->tries[i], *after = call->tries[i + 1];
		bool last = i + 2 == call->count;
		uint32_t next = last ? label_of(returns, calls_answer(after)) : assembler_label(as);

		for (size_t n = 0; n < stmt->cond_count; n++)
			emit_condition(as, &stmt->conds[n], next);
		assembler_op(as, SBX_BPF_RET, calls_answer(stmt));
		if (!last)
			assembler_place(as, next);
	}
}

static void write_program(const struct filter *filter, struct assembler *as)
{
	struct returns returns = { .as = as };

	if (filter->audit_arch) {
		assembler_op(as, SBX_BPF_LOAD, SBX_DATA_ARCH);
		assembler_branch(as, SBX_BPF_JEQ, filter->audit_arch, LABEL_NEXT,
				 label_of(&returns, SBX_RET_KILL_PROCESS));
	}
	assembler_op(as, SBX_BPF_LOAD, SBX_DATA_NR);
	emit_tree(as, filter->ranges->items, filter->ranges->count, label_of, &returns);
	for (size_t i = 0; i < filter->count; i++)
		if (filter->calls[i].count > 1) {
			assembler_place(as, label_of(&returns, calls_answer_at(filter->calls, i)));
			emit_tries(as, &filter->calls[i], &returns);
		}
	for (size_t i = 0; i < returns.items.count; i++) {
		const struct return_at *item = &returns.items.items[i];

		if ((item->answer & SBX_RET_ACTION) == SBX_RET_TRACE)
			continue;
		assembler_place(as, item->label);
		assembler_op(as, SBX_BPF_RET, item->answer);
	}
}

const char *assemble_filter(struct arena *arena, const struct filter *filter,
			    struct bpf_program *out)
{
	struct assembler as = { .arena = arena };

	do
		write_program(filter, &as);
	while (!assembler_link(&as));
	*out = (struct bpf_program){ as.insns.items, as.insns.count };
	if (as.insns.count <= SBX_BPF_MAX)
		return NULL;
	return arena_printf(arena,
			    "the system call rules need %zu instructions, the kernel takes %d",
			    as.insns.count, SBX_BPF_MAX);
}
