/*
 * A list of blocks, the newest first; an allocation is cut from the newest or
 * gets a block of its own.  Blocks double in size, so a compilation makes few
 * of them.  Memory comes from calloc and is handed out once, so it is zero.
 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN ((size_t)16 << 10)
#define BLOCK_MAX ((size_t)1 << 20)
#define ALIGN     _Alignof(max_align_t)

struct arena_block {
	struct arena_block *next;
	size_t used, room;
	_Alignas(max_align_t) char bytes[];
};

_Noreturn void out_of_memory(void)
{
	fputs("error: out of memory\n", stderr);
	exit(1);
}

static struct arena_block *block_new(size_t room)
{
	struct arena_block *block;

	if (room > SIZE_MAX - sizeof(*block))
		out_of_memory();
	block = calloc(1, sizeof(*block) + room);
	if (!block)
		out_of_memory();
	block->room = room;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->head;

	if (size > SIZE_MAX - ALIGN)
		out_of_memory();
	size = (size + ALIGN - 1) & ~(ALIGN - 1);
	if (!block || size > block->room - block->used) {
		size_t room = block ? block->room * 2 : BLOCK_MIN;

		if (room > BLOCK_MAX)
			room = BLOCK_MAX;
		block = block_new(size > room ? size : room);
		block->next = arena->head;
		arena->head = block;
		arena->size += block->room;
	}
	block->used += size;
	return block->bytes + block->used - size;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		out_of_memory();
	return arena_alloc(arena, count * size);
}

char *arena_copy(struct arena *arena, const char *text, size_t len)
{
	char *copy;

	if (len == SIZE_MAX)
		out_of_memory();
	copy = arena_alloc(arena, len + 1);
	if (len)
		memcpy(copy, text, len);
	return copy;
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, fmt);
	len = vasprintf(&text, fmt, args);
	va_end(args);
	if (len < 0)
		out_of_memory();
	char *copy = arena_copy(arena, text, (size_t)len);

	free(text);
	return copy;
}

void arena_free(struct arena *arena)
{
	while (arena->head) {
		struct arena_block *next = arena->head->next;

		free(arena->head);
		arena->head = next;
	}
	arena->size = 0;
}
