/*
 * stub/mem.h - memory: one arena over mmap, nothing is given back.
 *
 * A launch is one pass and then an exec, so there is nothing to free.  Running
 * out ends the launch with 125; no function here returns NULL.
 */
#ifndef SBX_STUB_MEM_H
#define SBX_STUB_MEM_H

#include <stddef.h>

/* Zeroed, aligned for anything. */
void *mem_get(size_t size);
/* @length bytes of @text and a NUL. */
char *mem_copy(const char *text, size_t length);
char *mem_string(const char *text);
/* "@a@b". */
char *mem_join(const char *a, const char *b);

/* Growing arrays: VEC(struct thing) things; struct thing *t = vec_add(&things); */
#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *items;                                                                       \
		size_t count, room;                                                                \
	}
#define vec_add(vec)                                                                               \
	((vec)->items = mem_more((vec)->items, (vec)->count, &(vec)->room, sizeof(*(vec)->items)), \
	 &(vec)->items[(vec)->count++])
/* Sorts in place, by heapsort: no more memory, and never slow.  @size is a
 * multiple of a word's. */
void mem_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));
/* Room for one more item; the new one is zeroed. */
void *mem_more(void *items, size_t count, size_t *room, size_t size);

#endif
