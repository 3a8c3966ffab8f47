/*
 * proxy/chunk.c - see chunk.h.
 */
#include "proxy/chunk.h"

enum chunk_state {
	CHUNK_SIZE,      /* hexadecimal digits */
	CHUNK_EXTENSION, /* up to the CR */
	CHUNK_SIZE_LF,
	CHUNK_DATA,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	CHUNK_TRAILER,   /* the beginning of a line behind the last chunk */
	CHUNK_FIELD,     /* within such a line */
	CHUNK_FIELD_LF,
	CHUNK_LAST_LF,
};
#define CHUNK_DIGITS 15   /* fits 64 bits with room to spare */
#define CHUNK_EXTRA 16384 /* of extensions and trailers in one message */

void body_init(struct body *body, enum head_body kind, uint64_t length)
{
	*body = (struct body){ .kind = kind, .state = CHUNK_SIZE };
	if (kind == HEAD_BODY_LENGTH)
		body->left = length;
	body->done = kind == HEAD_BODY_NONE || (kind == HEAD_BODY_LENGTH && !length);
}

static int hex(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool size_byte(struct body *body, uint8_t c)
{
	int digit = hex(c);

	if (digit >= 0) {
		body->left = body->left << 4 | (unsigned)digit;
		return ++body->line <= CHUNK_DIGITS;
	}
	if (!body->line)
		return false;
	body->state = c == '\r' ? CHUNK_SIZE_LF : CHUNK_EXTENSION;
	return c == '\r' || c == ';' || c == ' ' || c == '\t';
}

/* A byte of an extension or a trailer: text up to the CR. */
static bool skipped_byte(struct body *body, uint8_t c, enum chunk_state end)
{
	if (c == '\r') {
		body->state = end;
		return true;
	}
	return (c >= ' ' || c == '\t') && c != 0x7f && ++body->extra <= CHUNK_EXTRA;
}

/* One byte that is not content. */
static bool frame_byte(struct body *body, uint8_t c)
{
	switch ((enum chunk_state)body->state) {
	case CHUNK_SIZE:
		return size_byte(body, c);
	case CHUNK_EXTENSION:
		return skipped_byte(body, c, CHUNK_SIZE_LF);
	case CHUNK_SIZE_LF:
		body->state = body->left ? CHUNK_DATA : CHUNK_TRAILER;
		return c == '\n';
	case CHUNK_DATA_CR:
		body->state = CHUNK_DATA_LF;
		return c == '\r';
	case CHUNK_DATA_LF:
		body->state = CHUNK_SIZE;
		body->line = 0;
		return c == '\n';
	case CHUNK_TRAILER:
		if (c == '\r') {
			body->state = CHUNK_LAST_LF;
			return true;
		}
		body->state = CHUNK_FIELD;
		return c != ' ' && c != '\t' && skipped_byte(body, c, CHUNK_FIELD_LF);
	case CHUNK_FIELD:
		return skipped_byte(body, c, CHUNK_FIELD_LF);
	case CHUNK_FIELD_LF:
		body->state = CHUNK_TRAILER;
		return c == '\n';
	case CHUNK_LAST_LF:
		body->done = true;
		return c == '\n';
	case CHUNK_DATA:
		break;
	}
	return false;
}

bool body_next(struct body *body, const uint8_t **data, size_t *size, const uint8_t **content,
	       size_t *content_size)
{
	size_t run = 0;

	while (!body->done && *size && body->kind == HEAD_BODY_CHUNKED &&
	       body->state != CHUNK_DATA) {
		if (!frame_byte(body, **data))
			return false;
		++*data;
		--*size;
	}
	if (!body->done)
		run = body->kind == HEAD_BODY_CLOSE || *size < body->left ? *size : body->left;
	*content = *data;
	*content_size = run;
	*data += run;
	*size -= run;
	if (body->kind == HEAD_BODY_CLOSE)
		return true;
	if (!run)
		return true;
	body->left -= run;
	if (!body->left && body->kind == HEAD_BODY_LENGTH)
		body->done = true;
	if (!body->left && body->kind == HEAD_BODY_CHUNKED)
		body->state = CHUNK_DATA_CR;
	return true;
}

void body_return(struct body *body, size_t size)
{
	if (!size || body->kind == HEAD_BODY_CLOSE)
		return;
	body->left += size;
	body->done = false;
	if (body->kind == HEAD_BODY_CHUNKED)
		body->state = CHUNK_DATA;
}
