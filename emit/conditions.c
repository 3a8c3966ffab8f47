/*
 * emit/conditions.c - a `where` as instructions.
 *
 * A filter sees each argument as two 32-bit words.  Where the kernel takes
 * only the low one (int, unsigned int, a descriptor), only that is compared:
 * the caller can set the high word to anything, and TIOCSTI with bit 32 set is
 * still TIOCSTI to ioctl(2).  Signed order is unsigned order with the sign bit
 * flipped on both sides.
 */
#include "emit/conditions.h"

static uint32_t low(uint64_t value)
{
	return (uint32_t)value;
}

static uint32_t high(uint64_t value)
{
	return (uint32_t)(value >> 32);
}

/* A = the masked word of the argument. */
static void load_word(struct assembler *as, const struct sys_cond *cond, bool high_word, bool flip)
{
	uint32_t mask = high_word ? high(cond->mask) : low(cond->mask);

	assembler_op(as, SBX_BPF_LOAD, SBX_DATA_ARG(cond->arg) + (high_word ? 4 : 0));
	if (mask != UINT32_MAX)
		assembler_op(as, SBX_BPF_AND, mask);
	if (flip)
		assembler_op(as, SBX_BPF_XOR, 0x80000000);
}

/* argument == any of the values, which share their high word. */
static void equal_low(struct assembler *as, const struct sys_cond *cond, const uint64_t *values,
		      size_t count, uint32_t yes, uint32_t no)
{
	load_word(as, cond, false, false);
	for (size_t i = 0; i < count; i++)
		assembler_branch(as, SBX_BPF_JEQ, low(values[i]), yes,
				 i + 1 < count ? LABEL_NEXT : no);
}

static void equal(struct assembler *as, const struct sys_cond *cond, uint32_t yes, uint32_t no)
{
	size_t end;

	if (cond->width == 4) {
		equal_low(as, cond, cond->values, cond->value_count, yes, no);
		return;
	}
	for (size_t start = 0; start < cond->value_count; start = end) {
		uint32_t other = no;

		for (end = start + 1; end < cond->value_count &&
				      high(cond->values[end]) == high(cond->values[start]);)
			end++;
		if (end < cond->value_count)
			other = assembler_label(as);
		load_word(as, cond, true, false);
		assembler_branch(as, SBX_BPF_JEQ, high(cond->values[start]), LABEL_NEXT, other);
		equal_low(as, cond, cond->values + start, end - start, yes, other);
		if (other != no)
			assembler_place(as, other);
	}
}

/* argument > value, or with @code SBX_BPF_JGE argument >= value. */
static void above(struct assembler *as, const struct sys_cond *cond, uint16_t code, uint32_t yes,
		  uint32_t no)
{
	uint64_t value = cond->values[0];
	uint32_t sign = cond->is_signed ? 0x80000000 : 0;

	if (cond->width == 4) {
		load_word(as, cond, false, cond->is_signed);
		assembler_branch(as, code, low(value) ^ sign, yes, no);
		return;
	}
	load_word(as, cond, true, cond->is_signed);
	assembler_branch(as, SBX_BPF_JGT, high(value) ^ sign, yes, LABEL_NEXT);
	assembler_branch(as, SBX_BPF_JEQ, high(value) ^ sign, LABEL_NEXT, no);
	load_word(as, cond, false, false);
	assembler_branch(as, code, low(value), yes, no);
}

void emit_condition(struct assembler *as, const struct sys_cond *cond, uint32_t no)
{
	uint32_t yes = assembler_label(as);

	switch (cond->op) {
	case SBX_EQ:
	case SBX_IN:
		equal(as, cond, yes, no);
		break;
	case SBX_NE:
		equal(as, cond, no, yes);
		break;
	case SBX_GT:
		above(as, cond, SBX_BPF_JGT, yes, no);
		break;
	case SBX_GE:
		above(as, cond, SBX_BPF_JGE, yes, no);
		break;
	case SBX_LT:
		above(as, cond, SBX_BPF_JGE, no, yes);
		break;
	case SBX_LE:
		above(as, cond, SBX_BPF_JGT, no, yes);
		break;
	}
	assembler_place(as, yes);
}
