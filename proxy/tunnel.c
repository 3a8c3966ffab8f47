/*
 * proxy/tunnel.c - bytes that pass unread, both ways, each end closed by itself.
 *
 * But for the first: until the client's ClientHello shows that it speaks to the host
 * that was allowed, nothing of the client's goes out.  What the server says first
 * (SSH, SMTP) passes.  Then whatever one side sends is written to the other at once;
 * where that takes no more, no more is read.
 */
#include "proxy/conn.h"
#include "proxy/hello.h"
#include "proxy/refuse.h"

#include <stdio.h>

#define ROUNDS 16         /* reads before others have their turn */
#define TICK_SECONDS 60
#define IDLE_TICKS 10

static void finish(struct conn *conn)
{
	conn->record.sent = conn->server.sent;
	conn->record.received = conn->server.received;
	conn_end(conn);
}

/* One direction.  False: it cannot go on. */
static bool pump(struct stream *from, struct stream *to)
{
	const uint8_t *data;
	ssize_t got;

	for (int round = 0; round < ROUNDS; round++) {
		if (stream_backed(to)) {
			stream_listen(from, false);
			return true;
		}
		stream_listen(from, true);
		if (!from->ready && !stream_hides(from))
			return true;
		got = stream_read(from, &data);
		if (got == STREAM_WAIT)
			return true;
		if (got == STREAM_FAIL)
			return false;
		if (!got) {
			stream_listen(from, false);
			from->ready = true; /* so that its end is not forgotten */
			if (!to->shut)
				stream_shut(to);
			return !to->failed;
		}
		if (!stream_write(to, data, (size_t)got))
			return false;
		if (got < 32768 && !stream_hides(from))
			return true; /* most likely all there is: the event tells of more */
	}
	stream_again(from);
	return true;
}

static void relay(struct conn *conn)
{
	if (!pump(&conn->server, &conn->client) || !pump(&conn->client, &conn->server) ||
	    (conn->client.shut_done && conn->server.shut_done))
		finish(conn);
}

/* The counters tell whether anything passed since the last look. */
static void tick(struct conn *conn)
{
	uint64_t passed = conn->server.sent + conn->server.received;

	conn->idle_ticks = passed == conn->passed ? conn->idle_ticks + 1 : 0;
	conn->passed = passed;
	if (conn->idle_ticks < IDLE_TICKS) {
		conn_deadline(conn, TICK_SECONDS, tick);
		return;
	}
	snprintf(conn->record.reason, sizeof(conn->record.reason), "closed: idle for %u minutes",
		 IDLE_TICKS * TICK_SECONDS / 60);
	finish(conn);
}

/* Its client waits for TLS or SSH, not for a line of ours: closed and logged. */
static void refuse_hello(struct conn *conn, const char *why)
{
	conn->record.verdict = "refused";
	snprintf(conn->record.reason, sizeof(conn->record.reason), "%s", why);
	finish(conn);
}

static void first_bytes(struct conn *conn)
{
	struct stream *client = &conn->client;
	struct hello hello;
	enum hello_state state;
	const char *why;
	ssize_t got;

	do {
		state = hello_read(stream_bytes(client), stream_held(client), &hello);
		got = state == HELLO_MORE ? stream_gather(client) : 0;
	} while (got > 0);
	if (state == HELLO_MORE && got == STREAM_WAIT) {
		if (!pump(&conn->server, client))
			finish(conn);
		return;
	}
	if (got == STREAM_FAIL) {
		finish(conn);
		return;
	}
	why = hello_objection(state, &hello, conn->target.host, conn->target.port);
	if (why && (stream_held(client) || conn->target.port == 443)) {
		refuse_hello(conn, why);
		return;
	}
	conn->stage = relay;
	relay(conn);
}

void tunnel_begin(struct conn *conn)
{
	conn->stage = first_bytes;
	conn_deadline(conn, TICK_SECONDS, tick);
	stream_listen(&conn->client, true);
	stream_listen(&conn->server, true);
	first_bytes(conn);
}
