/*
 * emit/conditions.h - a `where` as instructions.
 */
#ifndef SBX_EMIT_CONDITIONS_H
#define SBX_EMIT_CONDITIONS_H

#include "emit/bpf.h"
#include "ir/policy.h"

/* Falls through where @cond holds, else goes to @no. */
void emit_condition(struct assembler *as, const struct sys_cond *cond, uint32_t no);

#endif
