/*
 * A compiled policy or the source of one, whichever a path names.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/stages.h"

static bool fail(const char *path, const char *what)
{
	struct arena arena = { 0 };

	fprintf(stderr, "sbxc: %s: %s\n", diag_escape(&arena, str_from(path)), what);
	arena_free(&arena);
	return false;
}

/* Reads the rest of a blob whose size is known to be sane. */
static bool read_blob(struct compilation *c, int fd, const char *path, size_t size)
{
	uint8_t *data = arena_alloc(&c->arena, size);
	size_t have = 0;

	while (have < size) {
		ssize_t got = pread(fd, data + have, size - have, (off_t)have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail(path, strerror(errno));
		if (got == 0)
			break;
		have += (size_t)got;
	}
	c->blob = (struct emitted){ .data = data, .size = have };
	*VEC_PUSH(&c->arena, &c->read) = path;
	return true;
}

/* 1: it is a blob and read, 0: it is not one, -1: it is, and a message is printed. */
static int try_blob(struct compilation *c, const char *path)
{
	char magic[8];
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), result = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	    memcmp(magic, SBX_MAGIC, sizeof(magic)) == 0) {
		if (st.st_size > SBX_BLOB_SIZE_MAX)
			result = fail(path, "larger than a blob can be") ? 1 : -1;
		else
			result = read_blob(c, fd, path, (size_t)st.st_size) ? 1 : -1;
	}
	close(fd);
	return result;
}

bool open_blob_or_compile(struct compilation *c, const char *path, struct sbx_blob *blob)
{
	int found = try_blob(c, path);

	if (found < 0)
		return false;
	if (found == 0) {
		bool good = compile_path(c, path);

		diag_flush(c->diags, stderr, colour_on(stderr));
		if (!good)
			return false;
	}
	const char *reason = sbx_blob_open(c->blob.data, c->blob.size, blob);
	return reason ? fail(path, reason) : true;
}
