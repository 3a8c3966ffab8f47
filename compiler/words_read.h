/*
 * compiler/words_read.h - between words.c and its neighbours words_*.c.
 */
#ifndef SBX_COMPILER_WORDS_READ_H
#define SBX_COMPILER_WORDS_READ_H

#include "compiler/words.h"

#define READ_PATH    0x100u /* a path: checks on variables and ~ */
#define READ_PATTERN 0x200u /* * ? [ ] of a bare word are wildcards */

/* The texts that @word stands for, {a,b} multiplied out. */
bool words_alternatives(const struct words *words, const struct ast_word *word,
			struct str_list *out);
/* Reads one of them; @exact: it is the whole word, so messages can point into it. */
bool words_read(const struct words *words, const struct ast_word *word, struct str text, bool exact,
		unsigned flags, struct tmpl *out);
/* Bytes [from, to) of the word's text, or all of it. */
struct span word_span(const struct ast_word *word, bool exact, size_t from, size_t to);
const struct var *scope_find(const struct scope *scope, struct str name);

#endif
