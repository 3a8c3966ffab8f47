/*
 * A policy file is read once, whole, and kept: spans point into it until the
 * compilation ends.  The line table is made with it; a place is found in the
 * table by bisection, only when a message is printed.
 */
#include "base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void index_lines(struct arena *arena, struct source *source)
{
	struct str text = source->text;
	uint32_t count = 1;

	for (size_t i = 0; i < text.len; i++)
		count += text.ptr[i] == '\n';
	source->lines = arena_array(arena, count, sizeof(*source->lines));
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] == '\n')
			source->lines[++source->line_count] = (uint32_t)i + 1;
	source->line_count++;
}

struct source *source_from_text(struct arena *arena, const char *path, const char *name,
				struct str text)
{
	struct source *source = ARENA_NEW(arena, struct source);

	if (text.len > SOURCE_SIZE_MAX)
		BUG("a source text over the limit");
	source->path = arena_copy(arena, path, strlen(path));
	source->name = arena_copy(arena, name, strlen(name));
	source->text = (struct str){ str_cstr(arena, text), text.len };
	index_lines(arena, source);
	return source;
}

/* Reads @fd to its end; returns 0 or an errno value.  *text is malloc'd. */
static int read_all(int fd, char **text, size_t *len)
{
	size_t room = 0;

	*text = NULL;
	*len = 0;
	for (;;) {
		ssize_t got;

		if (*len == room) {
			room = room ? room * 2 : 64 << 10;
			char *grown = realloc(*text, room);

			if (!grown)
				return ENOMEM;
			*text = grown;
		}
		got = read(fd, *text + *len, room - *len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		if (got == 0)
			return 0;
		*len += (size_t)got;
		if (*len > SOURCE_SIZE_MAX)
			return EFBIG;
	}
}

struct source *source_read(struct arena *arena, const char *path, const char *name, int *error)
{
	struct source *source = NULL;
	bool standard_input = strcmp(path, "-") == 0;
	int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char *text;
	size_t len;

	if (fd < 0) {
		*error = errno;
		return NULL;
	}
	*error = read_all(fd, &text, &len);
	if (!*error)
		source = source_from_text(arena, standard_input ? "<stdin>" : path, name,
					  (struct str){ text, len });
	free(text);
	if (!standard_input)
		close(fd);
	return source;
}

struct line_column source_locate(const struct source *source, uint32_t offset)
{
	uint32_t low = 0, high = source->line_count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (source->lines[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return (struct line_column){ low + 1, offset - source->lines[low] + 1 };
}

struct str source_line(const struct source *source, uint32_t line)
{
	size_t start, end;

	if (line == 0 || line > source->line_count)
		BUG("no such line");
	start = source->lines[line - 1];
	end = line < source->line_count ? source->lines[line] - 1 : source->text.len;
	if (end > start && source->text.ptr[end - 1] == '\r')
		end--;
	return (struct str){ source->text.ptr + start, end - start };
}
