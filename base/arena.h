/*
 * base/arena.h - one arena for a whole compilation.
 *
 * Nothing is freed singly: everything a compilation allocates lives until
 * arena_free().  Running out of memory ends the program with a message
 * (exit 1), so no caller checks for NULL.
 */
#ifndef SBX_BASE_ARENA_H
#define SBX_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *head;
	size_t size; /* of all blocks */
};

/* Zeroed memory, aligned for any type.  @size may be 0. */
void *arena_alloc(struct arena *arena, size_t size);
/* Zeroed array of @count elements of @size bytes; overflow ends the program. */
void *arena_array(struct arena *arena, size_t count, size_t size);
/* A NUL-terminated copy of @len bytes. */
char *arena_copy(struct arena *arena, const char *text, size_t len);
char *arena_printf(struct arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void arena_free(struct arena *arena);
/* How all of the above end when there is none; for memory from elsewhere. */
_Noreturn void out_of_memory(void);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))

#endif
