/*
 * emit/strings.h - the string table.
 *
 * A string that is the end of another one shares its bytes, so all must be
 * known before any has a place: add them, lay them out, then ask.
 */
#ifndef SBX_EMIT_STRINGS_H
#define SBX_EMIT_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct strings {
	struct arena *arena;
	struct {
		VEC_OF(struct strings_item)
	} items;
	uint32_t *slots;  /* 1 + index in items; 0: free */
	size_t slot_room; /* a power of two */
	bool laid_out;
	char *bytes; /* the table, once it is laid out */
	size_t size;
};
struct strings_item {
	struct str text;
	uint64_t hash;
	size_t offset;
};

/* The place of @text, which holds no NUL; before the table is laid out it is
 * added and has none: 0. */
size_t strings_place(struct strings *strings, struct str text);
void strings_lay_out(struct strings *strings);

#endif
