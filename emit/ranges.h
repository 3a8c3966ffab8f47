/*
 * emit/ranges.h - a program that looks at the number alone, as a table.
 */
#ifndef SBX_EMIT_RANGES_H
#define SBX_EMIT_RANGES_H

#include "base/arena.h"
#include "base/str.h"
#include "blob/blob.h"
#include "emit/emit.h"

struct range { /* up to the next one, the last up to UINT32_MAX */
	uint32_t first, answer;
};
struct ranges {
	VEC_OF(struct range)
};

/* Does each way through @program end at a return?  Of one that was cut short, none else. */
bool ranges_is_whole(const struct bpf_program *program);
/*
 * The answers of @program, which is whole, to calls of @audit_arch, by ascending number,
 * neighbours different.  False: it has an instruction that is not understood.
 */
bool ranges_of_program(struct arena *arena, const struct bpf_program *program, uint32_t audit_arch,
		       struct ranges *out);
/* Has that number answered by @answer instead. */
void ranges_set(struct arena *arena, struct ranges *ranges, uint32_t nr, uint32_t answer);

#endif
