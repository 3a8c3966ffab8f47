/*
 * tests/lib/sim.c - a seccomp program run by hand.
 *
 * Written from the description of classic BPF in the kernel's
 * Documentation/networking/filter.rst, not from what emit/ does, so that it
 * can be its oracle.
 */
#include "tests/lib/sim.h"

#include <linux/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void stop(const char *what, uint32_t pc)
{
	fprintf(stderr, "instruction %u: %s\n", pc, what);
	exit(2);
}

struct sim_result sim_run(const struct sbx_bpf *insns, uint32_t count, const struct sim_data *data)
{
	struct sim_result result = { 0 };
	uint32_t a = 0;

	for (uint32_t pc = 0; pc < count; pc++) {
		const struct sbx_bpf *insn = &insns[pc];
		bool taken = false;

		result.steps++;
		switch (BPF_CLASS(insn->code)) {
		case BPF_LD:
			if (insn->code != (BPF_LD | BPF_W | BPF_ABS) || insn->k % 4 ||
			    insn->k + 4 > sizeof(*data))
				stop("load", pc);
			memcpy(&a, (const char *)data + insn->k, sizeof(a));
			continue;
		case BPF_ALU:
			if (BPF_OP(insn->code) == BPF_AND)
				a &= insn->k;
			else if (BPF_OP(insn->code) == BPF_XOR)
				a ^= insn->k;
			else
				stop("arithmetic", pc);
			continue;
		case BPF_RET:
			result.answer = insn->k;
			return result;
		case BPF_JMP:
			break;
		default:
			stop("class", pc);
		}
		if (BPF_OP(insn->code) == BPF_JA) {
			pc += insn->k;
			continue;
		}
		result.branches++;
		switch (BPF_OP(insn->code)) {
		case BPF_JEQ:
			taken = a == insn->k;
			break;
		case BPF_JGT:
			taken = a > insn->k;
			break;
		case BPF_JGE:
			taken = a >= insn->k;
			break;
		case BPF_JSET:
			taken = a & insn->k;
			break;
		default:
			stop("jump", pc);
		}
		pc += taken ? insn->jt : insn->jf;
	}
	stop("behind the end", count);
}
