/*
 * proxy/stream.c - see stream.h.
 */
#include "proxy/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SCRATCH 65536
#define CORK_PIECE 4096  /* larger ones are written at once */
#define CORK_BACKED 32768
static uint8_t scratch[SCRATCH];

void stream_wipe(void)
{
	OPENSSL_cleanse(scratch, sizeof(scratch));
}

/* Heads and their credentials pass here, so nothing is left behind. */
static void buffer_free(struct buffer *buffer)
{
	if (buffer->data)
		OPENSSL_clear_free(buffer->data, buffer->size);
	*buffer = (struct buffer){ 0 };
}

static size_t buffer_held(const struct buffer *buffer)
{
	return buffer->end - buffer->start;
}

static bool buffer_add(struct buffer *buffer, const void *data, size_t size)
{
	size_t held = buffer_held(buffer);

	if (buffer->size - buffer->end < size) {
		size_t wanted = buffer->size ? buffer->size : 1024;
		uint8_t *grown;

		while (wanted < held + size)
			wanted *= 2;
		grown = OPENSSL_malloc(wanted);
		if (!grown)
			return false;
		if (held)
			memcpy(grown, buffer->data + buffer->start, held);
		buffer_free(buffer);
		*buffer = (struct buffer){ grown, 0, held, wanted };
	}
	memcpy(buffer->data + buffer->end, data, size);
	buffer->end += size;
	return true;
}

static void buffer_use(struct buffer *buffer, size_t size)
{
	buffer->start += size;
	if (buffer->start == buffer->end)
		buffer_free(buffer);
}

static void flush(struct stream *stream);

static void on_event(evutil_socket_t fd, short what, void *context)
{
	struct stream *stream = context;

	(void)fd;
	if (what & EV_WRITE) {
		stream->write_wanted = false;
		flush(stream);
	}
	if (what & EV_READ)
		stream->ready = true;
	stream->step(stream->owner);
}

int stream_open(struct stream *stream, struct event_base *base, int fd,
		void (*step)(void *owner), void *owner)
{
	int on = 1, idle = 120, interval = 30, count = 4;

	*stream = (struct stream){ .fd = fd, .step = step, .owner = owner };
	stream->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_event, stream);
	stream->writable = event_new(base, fd, EV_WRITE, on_event, stream);
	/* Of its own, since libevent adds no event that is active. */
	stream->soon = event_new(base, -1, 0, on_event, stream);
	if (!stream->readable || !stream->writable || !stream->soon) {
		stream_close(stream);
		return -1;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	return 0;
}

void stream_close(struct stream *stream)
{
	struct event *events[] = { stream->readable, stream->writable, stream->soon };

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i])
			event_free(events[i]);
	SSL_free(stream->ssl);
	buffer_free(&stream->in);
	buffer_free(&stream->out);
	if (stream->fd >= 0)
		close(stream->fd);
	stream->failed = true;
	stream->readable = stream->writable = stream->soon = NULL;
	stream->ssl = NULL;
	stream->fd = -1;
}

/* ---- TLS -------------------------------------------------------------------- */

/*
 * What was read ahead (a ClientHello, mostly) must reach TLS before the
 * socket's bytes: its memory is read first, then the socket takes its place.
 */
void stream_start_tls(struct stream *stream, SSL *ssl)
{
	BIO *socket = BIO_new_socket(stream->fd, BIO_NOCLOSE), *ahead = NULL;
	size_t held = stream_held(stream);

	stream->ssl = ssl;
	SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				  SSL_MODE_RELEASE_BUFFERS);
	if (held) {
		ahead = BIO_new(BIO_s_mem());
		if (ahead && BIO_write(ahead, stream->in.data + stream->in.start, (int)held) !=
				     (int)held)
			stream->failed = true;
		BIO_set_mem_eof_return(ahead, -1);
	}
	stream->failed |= !socket || (held && !ahead);
	buffer_free(&stream->in);
	SSL_set_bio(ssl, ahead ? ahead : socket, socket);
	stream_again(stream);
}

static void end_ahead(struct stream *stream)
{
	BIO *from = SSL_get_rbio(stream->ssl), *to = SSL_get_wbio(stream->ssl);

	if (from == to || BIO_pending(from))
		return;
	BIO_up_ref(to);
	SSL_set0_rbio(stream->ssl, to);
}

/* What an answer of OpenSSL's below 1 means for the stream. */
static ssize_t tls_result(struct stream *stream, int result)
{
	int saved = errno;

	switch (SSL_get_error(stream->ssl, result)) {
	case SSL_ERROR_WANT_READ:
		return STREAM_WAIT;
	case SSL_ERROR_WANT_WRITE:
		if (!stream->write_wanted)
			event_add(stream->writable, NULL);
		stream->write_wanted = true;
		return STREAM_WAIT;
	case SSL_ERROR_ZERO_RETURN:
		stream->ended = true;
		return 0;
	case SSL_ERROR_SSL:
		stream->truncated = ERR_GET_REASON(ERR_peek_error()) ==
				    SSL_R_UNEXPECTED_EOF_WHILE_READING;
		break;
	default:
		stream->truncated = !saved;
	}
	stream->failed = true;
	return STREAM_FAIL;
}

int stream_handshake(struct stream *stream)
{
	bool ahead;
	int result;

	if (stream->failed)
		return -1;
	do {
		ahead = SSL_get_rbio(stream->ssl) != SSL_get_wbio(stream->ssl);
		ERR_clear_error();
		errno = 0;
		result = SSL_do_handshake(stream->ssl);
		if (result != 1 && tls_result(stream, result) != STREAM_WAIT)
			return -1;
		end_ahead(stream);
	} while (result != 1 && ahead); /* it may wait for what the socket has by now */
	return result == 1;
}

/* Several records at once: each is at most 16 KB. */
static ssize_t tls_read(struct stream *stream)
{
	size_t total = 0;
	ssize_t result;
	int got;

	do {
		ERR_clear_error();
		errno = 0;
		end_ahead(stream);
		got = SSL_read(stream->ssl, scratch + total, (int)(SCRATCH - total));
		if (got > 0)
			total += (size_t)got;
	} while (got > 0 && SCRATCH - total >= 16384);
	if (got > 0 || total)
		return (ssize_t)total;
	result = tls_result(stream, got);
	if (result == STREAM_FAIL && stream->truncated)
		stream->ended = true;
	return result;
}

bool stream_hides(const struct stream *stream)
{
	return stream_held(stream) || (stream->ssl && SSL_has_pending(stream->ssl));
}

/* ---- reading ------------------------------------------------------------------ */

static ssize_t receive(struct stream *stream)
{
	ssize_t got;

	if (stream->failed)
		return STREAM_FAIL;
	if (stream->ended)
		return 0;
	if (stream->ssl) {
		got = tls_read(stream);
		stream->ready = got > 0;
	} else {
		got = recv(stream->fd, scratch, SCRATCH, 0);
		if (got < 0) {
			stream->ready = false;
			if (errno == EAGAIN || errno == EINTR)
				return STREAM_WAIT;
			stream->failed = true;
			return STREAM_FAIL;
		}
		stream->ended = !got;
	}
	if (got > 0)
		stream->received += (uint64_t)got;
	return got;
}

ssize_t stream_read(struct stream *stream, uint8_t **data)
{
	size_t held = stream_held(stream);

	*data = scratch;
	if (!held)
		return receive(stream);
	if (held > SCRATCH)
		held = SCRATCH;
	memcpy(scratch, stream_bytes(stream), held);
	buffer_use(&stream->in, held);
	return (ssize_t)held;
}

/* Goes before what is held already. */
bool stream_keep(struct stream *stream, const void *rest, size_t size)
{
	struct buffer later = stream->in;
	bool kept;

	if (!size)
		return true;
	stream->in = (struct buffer){ 0 };
	kept = buffer_add(&stream->in, rest, size) &&
	       (!buffer_held(&later) ||
		buffer_add(&stream->in, later.data + later.start, buffer_held(&later)));
	buffer_free(&later);
	return kept;
}

ssize_t stream_gather(struct stream *stream)
{
	ssize_t got = receive(stream);

	if (got > 0 && !buffer_add(&stream->in, scratch, (size_t)got))
		stream->failed = true;
	return stream->failed ? STREAM_FAIL : got;
}

void stream_use(struct stream *stream, size_t size)
{
	buffer_use(&stream->in, size);
}

size_t stream_held(const struct stream *stream)
{
	return buffer_held(&stream->in);
}

const uint8_t *stream_bytes(const struct stream *stream)
{
	return stream->in.data ? stream->in.data + stream->in.start : (const uint8_t *)"";
}

void stream_listen(struct stream *stream, bool on)
{
	if (stream->fd < 0 || stream->listening == on)
		return;
	stream->listening = on;
	if (on)
		event_add(stream->readable, NULL);
	else
		event_del(stream->readable);
	if (on && stream_hides(stream))
		stream_again(stream);
}

void stream_again(struct stream *stream)
{
	if (stream->soon)
		event_active(stream->soon, EV_READ, 0);
}

/* ---- writing ------------------------------------------------------------------ */

/* How much went out; 0: none now. */
static size_t transmit(struct stream *stream, const uint8_t *data, size_t size)
{
	ssize_t put;

	if (stream->ssl) {
		ERR_clear_error();
		errno = 0;
		put = SSL_write(stream->ssl, data, (int)size);
		if (put <= 0)
			tls_result(stream, (int)put);
	} else {
		put = send(stream->fd, data, size, MSG_NOSIGNAL);
		if (put < 0 && errno != EAGAIN && errno != EINTR)
			stream->deaf = true;
	}
	if (put <= 0)
		return 0;
	stream->sent += (uint64_t)put;
	return (size_t)put;
}

static void finish(struct stream *stream)
{
	if (!stream->shut || stream->shut_done || buffer_held(&stream->out) || stream->failed)
		return;
	stream->shut_done = true;
	if (stream->ssl && SSL_is_init_finished(stream->ssl)) {
		ERR_clear_error();
		SSL_shutdown(stream->ssl);
	} else {
		shutdown(stream->fd, SHUT_WR);
	}
}

static bool is_open(const struct stream *stream)
{
	return !stream->failed && !stream->deaf;
}

static void flush(struct stream *stream)
{
	while (buffer_held(&stream->out) && is_open(stream)) {
		size_t put = transmit(stream, stream->out.data + stream->out.start,
				      buffer_held(&stream->out));

		if (!put)
			break;
		buffer_use(&stream->out, put);
	}
	if (stream->deaf)
		buffer_free(&stream->out);
	if (buffer_held(&stream->out) && is_open(stream))
		event_add(stream->writable, NULL);
	finish(stream);
}

bool stream_write(struct stream *stream, const void *data, size_t size)
{
	const uint8_t *at = data;

	if (!is_open(stream) || stream->shut)
		return false;
	if (stream->corked && size < CORK_PIECE) {
		stream->failed |= !buffer_add(&stream->out, data, size);
		return !stream->failed;
	}
	if (stream->corked)
		flush(stream);
	while (size && !buffer_held(&stream->out) && is_open(stream)) {
		size_t put = transmit(stream, at, size);

		at += put;
		size -= put;
		if (!put)
			break;
	}
	if (size && is_open(stream)) {
		event_add(stream->writable, NULL);
		stream->failed |= !buffer_add(&stream->out, at, size);
	}
	return is_open(stream);
}

bool stream_backed(const struct stream *stream)
{
	return buffer_held(&stream->out) > (stream->corked ? CORK_BACKED : 0);
}

void stream_cork(struct stream *stream)
{
	stream->corked = true;
}

void stream_uncork(struct stream *stream)
{
	stream->corked = false;
	if (stream->fd >= 0)
		flush(stream);
}

void stream_shut(struct stream *stream)
{
	stream->shut = true;
	finish(stream);
}
