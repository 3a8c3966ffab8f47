/*
 * emit/tree.h - ranges of numbers as comparisons.
 */
#ifndef SBX_EMIT_TREE_H
#define SBX_EMIT_TREE_H

#include "emit/bpf.h"
#include "emit/ranges.h"

/*
 * Looks the accumulator up in @count ranges and goes to the label of its
 * answer.  The numbers of the x32 ABI are told apart first.
 */
void emit_tree(struct assembler *as, const struct range *ranges, size_t count,
	       uint32_t (*label_of)(void *context, uint32_t answer), void *context);

#endif
