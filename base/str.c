/*
 * Byte slices compare as bytes; vectors double.  Both live in the arena, so
 * nothing here frees.
 */
#include "base/str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

bool str_equal(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool str_is(struct str a, const char *text)
{
	return str_equal(a, str_from(text));
}

bool str_starts(struct str s, const char *prefix)
{
	size_t len = strlen(prefix);

	return s.len >= len && str_equal((struct str){ s.ptr, len }, (struct str){ prefix, len });
}

char *str_cstr(struct arena *arena, struct str s)
{
	return arena_copy(arena, s.ptr, s.len);
}

void *vec_grow(struct arena *arena, void *items, size_t count, size_t *room, size_t size)
{
	void *grown;

	if (count < *room)
		return items;
	*room = *room ? *room * 2 : 8;
	grown = arena_array(arena, *room, size);
	if (count)
		memcpy(grown, items, count * size);
	return grown;
}

void bug_at(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: bug in sbx: %s\n", file, line, what);
	abort();
}
