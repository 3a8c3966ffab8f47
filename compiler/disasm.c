/*
 * compiler/disasm.c - a seccomp program as text.
 *
 *	  3  jge 0x40000000    -> 4 else 5
 *	  9  jeq 16            -> 36 else 10	ioctl
 *
 * What the accumulator holds at each place decides how its comparisons read,
 * so it is followed along the jumps; they only go forward, so one pass does.
 */
#include "compiler/disasm.h"

#include <string.h>

#include "blob/bpf.h"
#include "compiler/render.h"

#define HOLDS_NOTHING UINT32_MAX /* not reached yet */
#define HOLDS_MIXED   (UINT32_MAX - 1)

static void reach(uint32_t *holds, uint32_t what)
{
	if (*holds == HOLDS_NOTHING)
		*holds = what;
	else if (*holds != what)
		*holds = HOLDS_MIXED;
}

static const char *load_name(struct arena *arena, uint32_t offset)
{
	switch (offset) {
	case SBX_DATA_NR:
		return "nr";
	case SBX_DATA_ARCH:
		return "arch";
	case SBX_DATA_ARCH + 4:
	case SBX_DATA_ARCH + 8:
		return "instruction pointer";
	}
	return arena_printf(arena, "arg%u %s", (offset - 16) / 8, offset % 8 ? "high" : "low");
}

static const char *answer_name(struct arena *arena, uint32_t answer)
{
	struct sbx_sys_stmt stmt = { .action = SBX_ACT_ERRNO,
				     .error = (uint16_t)(answer & SBX_RET_DATA) };

	if (answer == SBX_RET_ALLOW)
		return "allow";
	if (answer == SBX_RET_KILL_PROCESS)
		return "kill process";
	return render_answer(arena, &stmt);
}

static const char *compared_with(struct arena *arena, const struct sbx_blob *blob,
				 enum sbx_arch arch, uint32_t holds, uint32_t k)
{
	uint16_t nr[SBX_ARCH_COUNT] = { SBX_SYS_ABSENT, SBX_SYS_ABSENT };

	if (holds == SBX_DATA_ARCH)
		return k == SBX_AUDIT_X86_64 ? "x86_64" : k == SBX_AUDIT_AARCH64 ? "aarch64" : "";
	if (holds != SBX_DATA_NR || k >= SBX_SYS_ABSENT)
		return "";
	nr[arch] = (uint16_t)k;
	return render_call(arena, blob, nr);
}

static void print_jump(FILE *out, struct arena *arena, const struct sbx_blob *blob,
		       enum sbx_arch arch, const struct sbx_bpf *insns, uint32_t at, uint32_t holds)
{
	const struct sbx_bpf *insn = &insns[at];
	const char *op = insn->code == SBX_BPF_JEQ   ? "jeq"
			 : insn->code == SBX_BPF_JGT ? "jgt"
			 : insn->code == SBX_BPF_JGE ? "jge"
						     : "jset";
	bool number = holds == SBX_DATA_NR && insn->k < SBX_SYS_ABSENT;
	const char *k = arena_printf(arena, number ? "%u" : "%#x", insn->k);
	const char *what = compared_with(arena, blob, arch, holds, insn->k);

	fprintf(out, "%-4s %-12s -> %u else %u", op, k, at + 1 + insn->jt, at + 1 + insn->jf);
	if (*what)
		fprintf(out, "\t%s", what);
}

void disasm_print(FILE *out, struct arena *arena, const struct sbx_blob *blob, uint32_t id)
{
	const enum sbx_arch arch =
	    id == SBX_SEC_BPF_X86_64 || id == SBX_SEC_BPF_SHARED_X86_64 ? SBX_X86_64 : SBX_AARCH64;
	const struct sbx_bpf *insns = blob->section[id].records;
	uint32_t count = blob->section[id].count;
	uint32_t *holds = arena_array(arena, count, sizeof(*holds));

	memset(holds, 0xff, count * sizeof(*holds));
	for (uint32_t i = 0; i < count; i++) {
		const struct sbx_bpf *insn = &insns[i];

		fprintf(out, "    %4u  ", i);
		switch (insn->code) {
		case SBX_BPF_LOAD:
			fprintf(out, "load %s", load_name(arena, insn->k));
			reach(&holds[i + 1], insn->k);
			break;
		case SBX_BPF_AND:
		case SBX_BPF_XOR:
			fprintf(out, "%s %#x", insn->code == SBX_BPF_AND ? "and " : "xor ",
				insn->k);
			reach(&holds[i + 1], HOLDS_MIXED);
			break;
		case SBX_BPF_RET:
			fprintf(out, "ret  %s", answer_name(arena, insn->k));
			break;
		case SBX_BPF_JA:
			fprintf(out, "jump -> %u", i + 1 + insn->k);
			reach(&holds[i + 1 + insn->k], holds[i]);
			break;
		default:
			print_jump(out, arena, blob, arch, insns, i, holds[i]);
			reach(&holds[i + 1 + insn->jt], holds[i]);
			reach(&holds[i + 1 + insn->jf], holds[i]);
		}
		fputc('\n', out);
	}
}
