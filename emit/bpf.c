/*
 * emit/bpf.c - an assembler for the part of a filter that is our own.
 */
#include "emit/bpf.h"

uint32_t assembler_label(struct assembler *as)
{
	*VEC_PUSH(as->arena, &as->labels) = UINT32_MAX;
	return (uint32_t)as->labels.count - 1;
}

void assembler_place(struct assembler *as, uint32_t label)
{
	if (as->labels.items[label] != UINT32_MAX)
		BUG("label placed twice");
	as->labels.items[label] = (uint32_t)as->insns.count;
}

void assembler_op(struct assembler *as, uint16_t code, uint32_t k)
{
	*VEC_PUSH(as->arena, &as->insns) = (struct sbx_bpf){ .code = code, .k = k };
}

static void jump(struct assembler *as, uint16_t code, uint32_t k, uint32_t yes, uint32_t no)
{
	*VEC_PUSH(as->arena, &as->jumps) =
	    (struct assembler_jump){ (uint32_t)as->insns.count, yes, no, as->branches };
	assembler_op(as, code, k);
}

void assembler_jump(struct assembler *as, uint32_t label)
{
	jump(as, SBX_BPF_JA, 0, label, LABEL_NEXT);
}

static bool is_far(const struct assembler *as, size_t branch)
{
	for (size_t i = 0; i < as->far.count; i++)
		if (as->far.items[i] == branch)
			return true;
	return false;
}

void assembler_branch(struct assembler *as, uint16_t code, uint32_t k, uint32_t yes, uint32_t no)
{
	uint32_t taken, behind;

	as->branches++;
	if (!is_far(as, as->branches)) {
		jump(as, code, k, yes, no);
		return;
	}
	taken = assembler_label(as);
	behind = assembler_label(as);
	jump(as, code, k, taken, LABEL_NEXT);
	assembler_jump(as, no == LABEL_NEXT ? behind : no);
	assembler_place(as, taken);
	if (yes != LABEL_NEXT)
		assembler_jump(as, yes);
	assembler_place(as, behind);
}

static uint32_t distance(const struct assembler *as, uint32_t insn, uint32_t label)
{
	if (label == LABEL_NEXT)
		return 0;
	if (as->labels.items[label] == UINT32_MAX || as->labels.items[label] <= insn)
		BUG("a jump that does not go forward");
	return as->labels.items[label] - insn - 1;
}

static void start_again(struct assembler *as)
{
	as->insns.count = as->jumps.count = as->labels.count = 0;
	as->branches = 0;
}

bool assembler_link(struct assembler *as)
{
	bool reaches = true;

	for (size_t i = 0; i < as->jumps.count; i++) {
		const struct assembler_jump *jump_at = &as->jumps.items[i];
		struct sbx_bpf *insn = &as->insns.items[jump_at->insn];
		uint32_t yes = distance(as, jump_at->insn, jump_at->yes);
		uint32_t no = distance(as, jump_at->insn, jump_at->no);

		if (insn->code == SBX_BPF_JA) {
			insn->k = yes;
		} else if (yes > UINT8_MAX || no > UINT8_MAX) {
			*VEC_PUSH(as->arena, &as->far) = jump_at->branch;
			reaches = false;
		} else {
			insn->jt = (uint8_t)yes;
			insn->jf = (uint8_t)no;
		}
	}
	if (!reaches)
		start_again(as);
	return reaches;
}
