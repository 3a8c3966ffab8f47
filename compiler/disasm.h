/*
 * compiler/disasm.h - a seccomp program as text.
 */
#ifndef SBX_COMPILER_DISASM_H
#define SBX_COMPILER_DISASM_H

#include <stdio.h>

#include "base/arena.h"
#include "blob/blob.h"

/* One instruction a line; jumps name the line they go to. */
/* @id: its section. */
void disasm_print(FILE *out, struct arena *arena, const struct sbx_blob *blob, uint32_t id);

#endif
