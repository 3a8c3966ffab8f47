/*
 * blob/program.c - is a seccomp program one that we could have written?
 *
 * The kernel checks a filter again when it is installed; this is stricter, so
 * that a damaged or foreign program is refused by name before anything of the
 * sandbox is set up: only the instructions emit/ generates, only its answers
 * (allow, an errno, kill), jumps forward and inside, a return at the end.
 */
#include "blob/bpf.h"
#include "blob/check.h"

static bool answer_known(uint32_t answer)
{
	uint32_t data = answer & SBX_RET_DATA;

	switch (answer & SBX_RET_ACTION) {
	case SBX_RET_ALLOW:
	case SBX_RET_KILL_PROCESS:
		return data == 0;
	case SBX_RET_ERRNO:
		return data > 0 && data < 4096;
	}
	return false;
}

bool sbx_check_program(const struct sbx_bpf *insns, uint32_t count, const char *name,
		       struct sbx_reason *why)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct sbx_bpf *insn = &insns[i];
		uint32_t left = count - i - 1; /* instructions behind this one */
		bool fine = false;

		switch (insn->code) {
		case SBX_BPF_LOAD:
			fine = insn->k < SBX_DATA_SIZE && insn->k % 4 == 0;
			break;
		case SBX_BPF_AND:
		case SBX_BPF_XOR:
			fine = true;
			break;
		case SBX_BPF_RET:
			fine = answer_known(insn->k);
			break;
		case SBX_BPF_JA:
			fine = insn->k < left;
			break;
		case SBX_BPF_JEQ:
		case SBX_BPF_JGT:
		case SBX_BPF_JGE:
		case SBX_BPF_JSET:
			fine = insn->jt < left && insn->jf < left;
			break;
		}
		if (!fine)
			return sbx_refuse(why, "%s, instruction %u is not one of ours", name, i);
	}
	if (!count || insns[count - 1].code != SBX_BPF_RET)
		return sbx_refuse(why, "%s does not end in a return", name);
	return true;
}
