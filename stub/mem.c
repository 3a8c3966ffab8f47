/*
 * stub/mem.c - a bump arena.
 *
 * Chunks of 128 KB come from mmap and are zero by nature; a larger request has
 * a chunk of its own.  A growing array is copied to twice its room, so what it
 * wastes is at most what it holds.
 */
#include "stub/mem.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "stub/out.h"

#define CHUNK ((size_t)128 << 10)
#define ALIGN ((size_t)16)

static char *chunk_at, *chunk_end;

static void *map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		refuse("out of memory (%llu bytes more): raise the limit on memory (ulimit -v)",
		       (unsigned long long)size);
	return at;
}

void *mem_get(size_t size)
{
	void *at;

	if (size > SIZE_MAX / 2)
		refuse("a table would not fit into memory");
	size = (size + ALIGN - 1) & ~(ALIGN - 1);
	if (size > CHUNK / 4)
		return map(size);
	if (size > (size_t)(chunk_end - chunk_at)) {
		chunk_at = map(CHUNK);
		chunk_end = chunk_at + CHUNK;
	}
	at = chunk_at;
	chunk_at += size;
	return at;
}

char *mem_copy(const char *text, size_t length)
{
	char *copy = mem_get(length + 1);

	memcpy(copy, text, length);
	return copy;
}

char *mem_string(const char *text)
{
	return mem_copy(text, strlen(text));
}

char *mem_join(const char *a, const char *b)
{
	size_t length = strlen(a), more = strlen(b);
	char *both = mem_get(length + more + 1);

	memcpy(both, a, length);
	memcpy(both + length, b, more);
	return both;
}

/* Items are structures and pointers: whole words. */
static void swap(void *a, void *b, size_t size)
{
	size_t *left = a, *right = b;

	for (size_t i = 0; i < size / sizeof(size_t); i++) {
		size_t word = left[i];

		left[i] = right[i];
		right[i] = word;
	}
}

/* Lets the item at @root sink to its place in the heap of @count. */
static void sink(char *items, size_t root, size_t count, size_t size,
		 int (*compare)(const void *, const void *))
{
	size_t child;

	while ((child = 2 * root + 1) < count) {
		if (child + 1 < count &&
		    compare(items + child * size, items + (child + 1) * size) < 0)
			child++;
		if (compare(items + root * size, items + child * size) >= 0)
			return;
		swap(items + root * size, items + child * size, size);
		root = child;
	}
}

void mem_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	for (size_t i = count / 2; i-- > 0;)
		sink(items, i, count, size, compare);
	for (size_t end = count; end-- > 1;) {
		swap(items, (char *)items + end * size, size);
		sink(items, 0, end, size, compare);
	}
}

void *mem_more(void *items, size_t count, size_t *room, size_t size)
{
	char *more;

	if (count < *room)
		return items;
	if (count > SIZE_MAX / 4 / size)
		refuse("a table would not fit into memory");
	*room = count ? 2 * count : 16;
	more = mem_get(*room * size);
	if (count)
		memcpy(more, items, count * size);
	return more;
}
