/*
 * compiler/lint_fix.h - sbxc lint --fix.
 */
#ifndef SBX_COMPILER_LINT_FIX_H
#define SBX_COMPILER_LINT_FIX_H

#include "compiler/compiler.h"

/*
 * Mends in the policy's own text what the findings in @c say how to, as often as there is
 * something, asking @again about each result: what does not compile is not done.
 * Then writes it to @path by a rename ("-": to standard output) and says on standard error what
 * was done.  @c is then that of the mended text.  @clean: it has compiled.  False: the
 * result cannot be written.
 */
bool lint_fix(struct compilation *c, const char *path,
	      bool (*again)(struct compilation *c, const char *path), bool clean);

#endif
