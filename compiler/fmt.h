/*
 * compiler/fmt.h - the one layout of a policy source.
 */
#ifndef SBX_COMPILER_FMT_H
#define SBX_COMPILER_FMT_H

#include "grammar/ast.h"

/*
 * The text of @file, which parsed without an error, in its canonical layout: a
 * function of its tokens, comments and line breaks, whatever blanks are between
 * them.  Words, strings and comments are copied byte for byte, in their order.
 * In @arena.
 */
struct str fmt_layout(struct arena *arena, const struct ast_file *file);

/* Have the two, which parsed without an error, the same tokens, comments and line breaks? */
bool fmt_same(const struct ast_file *a, const struct ast_file *b);

#endif
