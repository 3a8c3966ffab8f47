/*
 * base/source.h - the text of one policy file, and places in it.
 *
 * A place is two byte offsets into a source; line and column are computed
 * when a message is printed (columns count bytes from 1, a tab is one byte).
 */
#ifndef SBX_BASE_SOURCE_H
#define SBX_BASE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct source {
	const char *path;   /* as the user named it: what messages print */
	const char *name;   /* machine-independent: "std/git.pol", or the base
			     * name of a file that is not a library's */
	struct str text;    /* always followed by a NUL byte */
	uint32_t *lines;    /* offset at which each line starts */
	uint32_t line_count;
};

struct span {
	const struct source *source; /* NULL: no place (command line) */
	uint32_t start, end;         /* [start, end) in source->text */
};

struct line_column {
	uint32_t line, column; /* both from 1 */
};

/* At most SOURCE_SIZE_MAX bytes are accepted as one policy file. */
#define SOURCE_SIZE_MAX (16u << 20)

/*
 * Reads @path ("-": standard input).  On failure returns NULL and an errno
 * value in *error (EFBIG: larger than SOURCE_SIZE_MAX; EISDIR: a directory).
 */
struct source *source_read(struct arena *arena, const char *path,
			   const char *name, int *error);
struct source *source_from_text(struct arena *arena, const char *path,
				const char *name, struct str text);
struct line_column source_locate(const struct source *source, uint32_t offset);
/* The line's text without its newline. */
struct str source_line(const struct source *source, uint32_t line);

#endif
