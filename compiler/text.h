/*
 * compiler/text.h - a line of text that grows in the arena.
 */
#ifndef SBX_COMPILER_TEXT_H
#define SBX_COMPILER_TEXT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct text {
	struct arena *arena;
	struct {
		VEC_OF(char)
	} bytes;
};

void text_add(struct text *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_byte(struct text *text, char byte);
/* "words" with ", \, $ and newlines escaped. */
void text_quoted(struct text *text, const char *words);
/* The whole, NUL-terminated. */
const char *text_end(struct text *text);

/* 8589934592 as "8G", 5400 as "90m"; the unit that leaves no rest. */
void text_size(struct text *text, uint64_t bytes);
void text_time(struct text *text, uint64_t seconds);

#endif
