/*
 * emit/bpf.h - an assembler for the part of a filter that is our own.
 *
 * Jumps go to labels, forward only; a label is placed once.  Conditional jumps
 * reach 255 instructions: where that is too short, assemble again with
 * @far set, which puts an unconditional jump behind each.
 */
#ifndef SBX_EMIT_BPF_H
#define SBX_EMIT_BPF_H

#include "base/arena.h"
#include "base/str.h"
#include "blob/blob.h"
#include "blob/bpf.h"

#define LABEL_NEXT UINT32_MAX /* fall through */

struct assembler {
	struct arena *arena;
	bool far;
	struct {
		VEC_OF(struct sbx_bpf)
	} insns;
	struct {
		VEC_OF(struct assembler_jump)
	} jumps;
	struct {
		VEC_OF(uint32_t)
	} labels; /* where they stand */
};
struct assembler_jump {
	uint32_t insn, yes, no;
};

uint32_t assembler_label(struct assembler *as);
void assembler_place(struct assembler *as, uint32_t label);
/* Load, AND, XOR, RET. */
void assembler_op(struct assembler *as, uint16_t code, uint32_t k);
void assembler_jump(struct assembler *as, uint32_t label);
void assembler_branch(struct assembler *as, uint16_t code, uint32_t k, uint32_t yes, uint32_t no);
/* Fills in the jumps; false: one is too short, set @far and start again. */
bool assembler_link(struct assembler *as);

#endif
