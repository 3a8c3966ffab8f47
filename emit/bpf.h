/*
 * emit/bpf.h - an assembler for the part of a filter that is our own.
 *
 * Jumps go to labels, forward only; a label is placed once.  Conditional jumps
 * reach 255 instructions: assembler_link() marks those that have to go further
 * and wants the same calls again; these then get an unconditional jump behind
 * them.
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
	struct {
		VEC_OF(struct sbx_bpf)
	} insns;
	struct {
		VEC_OF(struct assembler_jump)
	} jumps;
	struct {
		VEC_OF(uint32_t)
	} labels; /* where they stand */
	size_t branches;
	struct {
		VEC_OF(size_t)
	} far; /* which of the branches, ascending */
};
struct assembler_jump {
	uint32_t insn, yes, no;
	size_t branch;
};

uint32_t assembler_label(struct assembler *as);
void assembler_place(struct assembler *as, uint32_t label);
/* Load, AND, XOR, RET. */
void assembler_op(struct assembler *as, uint16_t code, uint32_t k);
void assembler_jump(struct assembler *as, uint32_t label);
void assembler_branch(struct assembler *as, uint16_t code, uint32_t k, uint32_t yes, uint32_t no);
/* Fills in the jumps; false: some are too short, and @as is empty again. */
bool assembler_link(struct assembler *as);

#endif
