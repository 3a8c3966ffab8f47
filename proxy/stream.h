/*
 * proxy/stream.h - one end of a connection: a socket, TLS on it or not.
 *
 * All streams read into one shared piece of memory and write from it at once;
 * only what the other side does not take yet is kept, and then its owner reads
 * no more (stream_backed).  So a connection at rest costs no buffer, and a slow
 * one no more than one read.
 */
#ifndef SBX_PROXY_STREAM_H
#define SBX_PROXY_STREAM_H

#include <event2/event.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buffer {
	uint8_t *data;
	size_t start, end, size;
};

struct stream {
	int fd; /* -1: not open */
	SSL *ssl;
	struct event *readable, *writable, *soon;
	void (*step)(void *owner); /* something may go on: called from the loop alone */
	void *owner;
	struct buffer in;  /* read, not used yet */
	struct buffer out; /* to be written */
	uint64_t received, sent; /* what TLS adds not counted */
	bool listening;    /* the event for reading is on */
	bool ready;        /* and has come since all was read */
	bool write_wanted; /* TLS must write before it can read */
	bool ended;        /* the other side writes no more */
	bool shut;         /* nor do we, once @out is empty */
	bool shut_done;
	bool failed;       /* reset, or broken TLS */
	bool deaf;         /* the other side reads no more; it may still write */
	bool corked;       /* small pieces are gathered first */
	bool truncated;    /* ended without TLS's own end */
};

/* Takes @fd over, or closes it; -1 when there is no memory. */
int stream_open(struct stream *stream, struct event_base *base, int fd,
		void (*step)(void *owner), void *owner);
void stream_close(struct stream *stream);
/* TLS from here on; bytes in @in are given to it first.  Takes @ssl over. */
void stream_start_tls(struct stream *stream, SSL *ssl);
/* 1: done, 0: goes on, -1: failed. */
int stream_handshake(struct stream *stream);

#define STREAM_WAIT (-1)
#define STREAM_FAIL (-2)
/*
 * What can be read now: *data, the caller's to change until any stream is read
 * again.  It uses all, or gives the rest back by stream_keep.  0: the end.
 */
ssize_t stream_read(struct stream *stream, uint8_t **data);
bool stream_keep(struct stream *stream, const void *rest, size_t size);
/* Wipes what was read last, which may be the echo of a credential. */
void stream_wipe(void);
/* Adds what can be read to stream->in; as stream_read, but nothing to use up. */
ssize_t stream_gather(struct stream *stream);
void stream_use(struct stream *stream, size_t size); /* of stream->in */
size_t stream_held(const struct stream *stream);     /* bytes in stream->in, */
const uint8_t *stream_bytes(const struct stream *stream); /* and where they are */

/* Writes, or keeps what the other side does not take.  False: it takes no more. */
bool stream_write(struct stream *stream, const void *data, size_t size);
bool stream_backed(const struct stream *stream); /* enough is in @out */
/* Many small pieces, one system call: between cork and uncork they are gathered. */
void stream_cork(struct stream *stream);
void stream_uncork(struct stream *stream);
void stream_shut(struct stream *stream); /* no more will be written */
void stream_listen(struct stream *stream, bool on);
/* Calls step soon, without an event: a share of work was done, more is there. */
void stream_again(struct stream *stream);

/* More of @from's bytes may wait although its socket has none: TLS keeps some. */
bool stream_hides(const struct stream *stream);

#endif
