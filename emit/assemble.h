/*
 * emit/assemble.h - a filter written out.
 */
#ifndef SBX_EMIT_ASSEMBLE_H
#define SBX_EMIT_ASSEMBLE_H

#include "emit/calls.h"
#include "emit/emit.h"
#include "emit/ranges.h"

/* What @ranges answer to call @index: its return value, or where it depends on
 * arguments a placeholder, RET TRACE|index+1. */
uint32_t calls_answer_at(const struct call *calls, size_t index);

struct filter {
	uint32_t audit_arch; /* another one is killed; 0: not looked at */
	const struct call *calls;
	size_t count;
	const struct ranges *ranges; /* at least one */
};
/* Returns NULL, or that it is too long. */
const char *assemble_filter(struct arena *arena, const struct filter *filter,
			    struct bpf_program *out);

#endif
