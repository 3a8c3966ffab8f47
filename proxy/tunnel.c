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

/* One direction.  False: it cannot go on. */
static bool pump(struct stream *from, struct stream *to)
{
	uint8_t *data;
	ssize_t got;

	if (to->shut)
		return !to->failed;
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
			stream_shut(to);
			return !to->failed;
		}
		if (!stream_write(to, data, (size_t)got)) {
			stream_listen(from, false);
			return !to->failed;
		}
		if (got < 32768 && !stream_hides(from)) {
			from->ready = false; /* most likely all there is, else the event comes again */
			return true;
		}
	}
	stream_again(from);
	return true;
}

/* A server that reads no more may still have something to say. */
static void relay(struct conn *conn)
{
	struct stream *client = &conn->client, *server = &conn->server;
	bool goes_on = pump(server, client) && (server->deaf || pump(client, server));

	if (!goes_on || client->deaf || client->failed || server->failed ||
	    (client->shut_done && (server->shut_done || server->deaf)))
		conn_end(conn);
}

static void idle(struct conn *conn)
{
	snprintf(conn->record.reason, sizeof(conn->record.reason), "closed: idle for %u minutes",
		 IDLE_MINUTES);
	conn_end(conn);
}

/* Its client waits for TLS or SSH, not for a line of ours: closed and logged. */
static void refuse_hello(struct conn *conn, const char *why)
{
	conn->record.verdict = "refused";
	snprintf(conn->record.reason, sizeof(conn->record.reason), "%s", why);
	conn_end(conn);
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
			conn_end(conn);
		return;
	}
	if (got == STREAM_FAIL) {
		conn_end(conn);
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
	conn_watch(conn, idle);
	stream_listen(&conn->client, true);
	stream_listen(&conn->server, true);
	first_bytes(conn);
}
