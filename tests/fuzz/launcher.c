/*
 * tests/fuzz/launcher.c - see launcher.h; and stub/mem.h in another way.
 *
 * The launcher's arena gives nothing back and puts things side by side.  Here each
 * is a block of its own, so that a byte too far is seen, and lives for one run.
 */
#include "tests/fuzz/launcher.h"

#include <setjmp.h>
#include <string.h>

#include "stub/mem.h"

#undef write

static struct block {
	struct block *next;
	size_t size; /* so that what follows is aligned for anything */
} * blocks;
static size_t total;
static jmp_buf home;
static int ended;

static void free_all(void)
{
	while (blocks) {
		struct block *next = blocks->next;

		free(blocks);
		blocks = next;
	}
	total = 0;
}

int launcher_run(void (*run)(void *data), void *data)
{
	ended = -1;
	if (!setjmp(home))
		run(data);
	free_all();
	return ended;
}

void launcher_exit(int status)
{
	ended = status;
	longjmp(home, 1);
}

/* Only newlines and tabs of the control bytes. */
ssize_t launcher_write(int fd, const void *bytes, size_t size)
{
	const unsigned char *text = bytes;

	/* SBX_FUZZ_LOUD=1: to see what it says to one input. */
	if ((fd != STDOUT_FILENO && fd != STDERR_FILENO) || getenv("SBX_FUZZ_LOUD"))
		return write(fd, bytes, size);
	for (size_t i = 0; i < size; i++)
		if ((text[i] < 0x20 && text[i] != '\n' && text[i] != '\t') || text[i] == 0x7f)
			fuzz_fault("a control byte was printed: %zu of '%.*s'", i, (int)size, text);
	return (ssize_t)size;
}

/* ---- stub/mem.h ------------------------------------------------------------------- */

#define TOTAL_MAX ((size_t)512 << 20)

void *mem_get(size_t size)
{
	struct block *block;

	if (size > TOTAL_MAX || (total += size) > TOTAL_MAX)
		launcher_exit(125);
	block = calloc(1, sizeof(*block) + size);
	block->next = blocks;
	blocks = block;
	return block + 1;
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
	char *both = mem_get(strlen(a) + strlen(b) + 1);

	strcpy(both, a);
	strcat(both, b);
	return both;
}

void mem_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	if (count)
		qsort(items, count, size, compare);
}

void *mem_more(void *items, size_t count, size_t *room, size_t size)
{
	char *more;

	if (count < *room)
		return items;
	*room = count ? 2 * count : 16;
	more = mem_get(*room * size);
	if (count)
		memcpy(more, items, count * size);
	return more;
}
