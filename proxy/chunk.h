/*
 * proxy/chunk.h - the body of a message, by its length or by chunks.
 *
 * Pure.  A reader is fed what came and says which bytes are content; a chunked
 * body is read strictly (RFC 9112 7.1: hexadecimal sizes, CR LF everywhere,
 * short extensions, which are dropped as are trailers).
 */
#ifndef SBX_PROXY_CHUNK_H
#define SBX_PROXY_CHUNK_H

#include "proxy/head.h"

struct body {
	enum head_body kind;
	unsigned state;  /* of a chunked one */
	uint64_t left;   /* of the length, or of this chunk */
	unsigned line;   /* bytes of this line so far */
	unsigned extra;  /* bytes of extensions and trailers so far */
	bool done;       /* @kind HEAD_BODY_CLOSE: set by who sees the end */
};
void body_init(struct body *body, enum head_body kind, uint64_t length);
/*
 * Takes bytes from *data, *size, and gives the next run of content; returns
 * false when they break the form.  An empty run with *size 0 left: more is
 * needed; with body->done: the message ends here, and *data is what follows.
 */
bool body_next(struct body *body, const uint8_t **data, size_t *size, const uint8_t **content,
	       size_t *content_size);
/* The last @size bytes of that run were not used, and are to be given again. */
void body_return(struct body *body, size_t size);

#endif
