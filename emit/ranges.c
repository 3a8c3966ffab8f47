/*
 * emit/ranges.c - a program that looks at the number alone, as a table.
 *
 * Such a program can only tell two numbers apart by comparing with a constant
 * between them.  So its answers can change at its constants and right behind
 * them and nowhere else: running it at each of these says what it answers to
 * every number there is.
 */
#include "emit/ranges.h"

#include <stdlib.h>

#include "blob/bpf.h"

static bool jumps(const struct sbx_bpf *insn, uint32_t a)
{
	switch (insn->code) {
	case SBX_BPF_JEQ:
		return a == insn->k;
	case SBX_BPF_JGT:
		return a > insn->k;
	default:
		return a >= insn->k;
	}
}

static bool understood(const struct bpf_program *program)
{
	for (size_t i = 0; i < program->count; i++) {
		const struct sbx_bpf *insn = &program->insns[i];

		switch (insn->code) {
		case SBX_BPF_LOAD:
			if (insn->k != SBX_DATA_NR && insn->k != SBX_DATA_ARCH)
				return false;
			break;
		case SBX_BPF_RET:
		case SBX_BPF_JA:
		case SBX_BPF_JEQ:
		case SBX_BPF_JGT:
		case SBX_BPF_JGE:
			break;
		default:
			return false;
		}
	}
	return true;
}

bool ranges_is_whole(const struct bpf_program *program)
{
	for (size_t i = 0; i < program->count; i++) {
		const struct sbx_bpf *insn = &program->insns[i];
		size_t far = insn->jt > insn->jf ? insn->jt : insn->jf;

		if (insn->code == SBX_BPF_RET)
			continue;
		if (insn->code == SBX_BPF_LOAD)
			far = 0;
		else if (insn->code == SBX_BPF_JA)
			far = insn->k;
		if (far >= program->count - i - 1)
			return false;
	}
	return program->count;
}

static uint32_t run(const struct bpf_program *program, uint32_t audit_arch, uint32_t nr)
{
	uint32_t a = 0;

	for (size_t i = 0; i < program->count; i++) {
		const struct sbx_bpf *insn = &program->insns[i];

		if (insn->code == SBX_BPF_RET)
			return insn->k;
		if (insn->code == SBX_BPF_LOAD)
			a = insn->k == SBX_DATA_NR ? nr : audit_arch;
		else if (insn->code == SBX_BPF_JA)
			i += insn->k;
		else
			i += jumps(insn, a) ? insn->jt : insn->jf;
	}
	BUG("a program that does not return");
}

static void add(struct arena *arena, struct ranges *ranges, uint32_t first, uint32_t answer)
{
	if (!ranges->count || ranges->items[ranges->count - 1].answer != answer)
		*VEC_PUSH(arena, ranges) = (struct range){ first, answer };
}

static int compare_numbers(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

bool ranges_of_program(struct arena *arena, const struct bpf_program *program, uint32_t audit_arch,
		       struct ranges *out)
{
	uint32_t *starts = arena_array(arena, 2 * program->count + 1, sizeof(*starts));
	size_t count = 1; /* 0 is one */

	if (!understood(program))
		return false;
	for (size_t i = 0; i < program->count; i++) {
		const struct sbx_bpf *insn = &program->insns[i];

		if (insn->code != SBX_BPF_JEQ && insn->code != SBX_BPF_JGT &&
		    insn->code != SBX_BPF_JGE)
			continue;
		starts[count++] = insn->k;
		if (insn->k < UINT32_MAX)
			starts[count++] = insn->k + 1;
	}
	qsort(starts, count, sizeof(*starts), compare_numbers);
	for (size_t i = 0; i < count; i++)
		add(arena, out, starts[i], run(program, audit_arch, starts[i]));
	return true;
}

void ranges_set(struct arena *arena, struct ranges *ranges, uint32_t nr, uint32_t answer)
{
	struct ranges out = { 0 };

	for (size_t i = 0; i < ranges->count; i++) {
		const struct range *range = &ranges->items[i];
		uint32_t last = i + 1 < ranges->count ? range[1].first - 1 : UINT32_MAX;

		if (range->first != nr)
			add(arena, &out, range->first, range->answer);
		if (range->first > nr || last < nr)
			continue;
		add(arena, &out, nr, answer);
		if (last > nr)
			add(arena, &out, nr + 1, range->answer);
	}
	*ranges = out;
}
