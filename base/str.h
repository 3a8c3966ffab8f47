/*
 * base/str.h - byte slices, growing vectors, our own bugs.
 *
 * A slice may hold any byte and is not NUL-terminated; it never owns what it
 * points to (the arena or the source text does).
 */
#ifndef SBX_BASE_STR_H
#define SBX_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"

struct str {
	const char *ptr;
	size_t len;
};

/* printf("%.*s", STR_ARG(s)) */
#define STR_ARG(s) (int)(s).len, (s).ptr
#define STR_LIT(literal) ((struct str){ (literal), sizeof(literal) - 1 })

static inline struct str str_from(const char *text)
{
	return (struct str){ text, strlen(text) };
}

bool str_equal(struct str a, struct str b);
bool str_is(struct str a, const char *text);
bool str_starts(struct str s, const char *prefix);
/* NUL-terminated copy in the arena. */
char *str_cstr(struct arena *arena, struct str s);

/*
 * A growing array in the arena:
 *	struct { VEC_OF(struct rule) } rules = { 0 };
 *	*VEC_PUSH(arena, &rules) = rule;	for (i < rules.count) rules.items[i]
 * Growth copies; old storage stays in the arena.
 */
#define VEC_OF(type)                                                           \
	type *items;                                                           \
	size_t count;                                                          \
	size_t room;
#define VEC_PUSH(arena, vec)                                                   \
	((vec)->items = vec_grow((arena), (vec)->items, (vec)->count,          \
				 &(vec)->room, sizeof(*(vec)->items)),         \
	 &(vec)->items[(vec)->count++])
void *vec_grow(struct arena *arena, void *items, size_t count, size_t *room,
	       size_t size);

/* A state that only a fault of ours can bring: never compiled out. */
#define BUG(what) bug_at(__FILE__, __LINE__, (what))
_Noreturn void bug_at(const char *file, int line, const char *what);

#endif
