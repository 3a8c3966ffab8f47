/*
 * proxy/exchange.c - the bytes of one request and of its answer.
 *
 * Both flow at once, since a server may answer before it has read all (or instead of
 * reading it).  Each is read no faster than the other side takes it, and passed on
 * piece by piece, so events stream and no body is too long.
 */
#include "proxy/http.h"
#include "proxy/refuse.h"
#include "proxy/vault.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS 8           /* reads before others have their turn: */
#define ROUNDS_SEARCHED 1  /* some texts take a thousand times as long to search */
#define AHEAD_MAX 65536    /* of the next requests, while an answer is on its way */
#define INTERIM_MAX 16     /* 1xx answers before the final one */

/* ---- the request ---------------------------------------------------------------------- */

static void put_request(struct conn *conn, const uint8_t *data, size_t size)
{
	bool chunked = conn->http->request.kind == HEAD_BODY_CHUNKED;
	char line[20];

	if (!size)
		return;
	placeholder_scan(&conn->http->placeholders, data, size);
	if (chunked)
		stream_write(&conn->server, line,
			     (size_t)snprintf(line, sizeof(line), "%zx\r\n", size));
	stream_write(&conn->server, data, size);
	if (chunked)
		stream_write(&conn->server, "\r\n", 2);
}

/* Content of what was read goes out, the rest is the next request's. */
static bool use_request(struct conn *conn, const uint8_t *data, size_t size)
{
	const uint8_t *content;
	size_t content_size;

	do {
		if (!body_next(&conn->http->request, &data, &size, &content, &content_size))
			return false;
		put_request(conn, content, content_size);
	} while (size && !conn->http->request.done);
	return stream_keep(&conn->client, data, size);
}

/*
 * While the answer is on its way, what the client sends is kept, up to a limit: only
 * who reads learns that the other side has gone.
 */
static bool read_ahead(struct conn *conn)
{
	struct stream *client = &conn->client;

	if (stream_held(client) >= AHEAD_MAX || client->ended) {
		stream_listen(client, false);
		return !client->failed;
	}
	stream_listen(client, true);
	return stream_gather(client) != STREAM_FAIL;
}

static void end_request(struct conn *conn)
{
	if (conn->http->framed)
		return;
	conn->http->framed = true;
	if (conn->http->request.kind == HEAD_BODY_CHUNKED)
		stream_write(&conn->server, "0\r\n\r\n", 5);
}

/* False: the client is gone, or sent what is no body; the connection has ended. */
static bool pump_request(struct conn *conn)
{
	struct stream *client = &conn->client, *server = &conn->server;
	struct http *http = conn->http;
	uint8_t *data;
	ssize_t got;

	for (int round = 0; round < ROUNDS && !http->request.done; round++) {
		if (stream_backed(server) || server->deaf || server->ended) {
			stream_listen(client, false);
			return true;
		}
		stream_listen(client, true);
		got = stream_read(client, &data);
		if (got == STREAM_WAIT)
			return true;
		if (got <= 0 || !use_request(conn, data, (size_t)got)) {
			snprintf(conn->record.reason, sizeof(conn->record.reason), "%s",
				 got > 0 ? "the request's chunks are malformed"
					 : "the program went away within its request");
			conn->record.verdict = "failed";
			conn->record.gone = got <= 0;
			conn_end(conn);
			return false;
		}
	}
	if (!http->request.done) {
		stream_again(client);
		return true;
	}
	end_request(conn);
	if (read_ahead(conn))
		return true;
	conn_end(conn);
	return false;
}

static void send_head(struct conn *conn)
{
	struct http *http = conn->http;

	if (!http->head)
		return;
	stream_write(&conn->server, http->head, http->head_size);
	OPENSSL_clear_free(http->head, http->head_size);
	http->head = NULL;
	/* Its own Expect was not passed on: we are the one who waits for it. */
	if (http->expects && !stream_held(&conn->client))
		stream_write(&conn->client, "HTTP/1.1 100 Continue\r\n\r\n", 25);
}

/* ---- the answer ----------------------------------------------------------------------- */

static void failed_with_secret(struct conn *conn, unsigned status)
{
	struct http *http = conn->http;

	if (http->credential != SBX_NONE && (status == 401 || status == 403))
		vault_refused(conn->worker->vault, http->credential, status, conn->target.host);
}

/* A head that was found is used up.  False: the connection has ended. */
static bool take_head(struct conn *conn, struct head *head)
{
	struct http *http = conn->http;
	const char *why = "";
	bool passed = true;

	if (head->status == 101 && http->upgrade && head->upgrade) {
		http->upgraded = true;
		passed = answer_head(conn, head, &why);
	} else if (head->status == 101) {
		why = "it switches protocols unasked";
		passed = false;
	} else if (head->status >= 200) {
		failed_with_secret(conn, head->status);
		passed = answer_head(conn, head, &why);
	} else if (++http->interim > INTERIM_MAX) {
		why = "it does not come to its answer";
		passed = false;
	}
	if (!passed) {
		http_server_failed(conn, 502, why);
		return false;
	}
	stream_use(&conn->server, head->size);
	return true;
}

/* 1: the head was passed on; 0: it is not whole; -1: the connection has ended. */
static int pump_head(struct conn *conn)
{
	struct stream *server = &conn->server;
	enum head_result result;
	struct head head;
	char why[160];
	ssize_t got;

	while (!conn->http->answering) {
		const char *bytes = (const char *)stream_bytes(server);

		result = stream_held(server)
				 ? head_scan(bytes, stream_held(server), &conn->scanned, &head)
				 : HEAD_MORE;
		if (result == HEAD_DONE && head_parse(HEAD_RESPONSE, bytes, &head)) {
			conn->scanned = 0;
			if (!take_head(conn, &head))
				return -1;
			continue;
		}
		if (result != HEAD_MORE) {
			snprintf(why, sizeof(why), "its answer is malformed: %s", head.wrong);
			http_server_failed(conn, 502, why);
			return -1;
		}
		got = stream_gather(server);
		if (got == STREAM_WAIT)
			return 0;
		if (got <= 0) {
			http_server_failed(conn, 502, "it closes the connection without an answer");
			return -1;
		}
	}
	return 1;
}

static const char body_fault[] = "the body of its answer is malformed";

/* What cannot be used now is kept, as if it had not been read. */
static bool use_answer(struct conn *conn, uint8_t *data, size_t size)
{
	struct body *body = &conn->http->answer;
	const uint8_t *at = data, *content;
	size_t left;

	do {
		if (!body_next(body, &at, &size, &content, &left) ||
		    !answer_body(conn, data + (content - data), &left))
			return false;
		body_return(body, left);
		at -= left;
		size += left;
	} while (size && !body->done && !conn->http->unpacks);
	if (!body->done)
		return stream_keep(&conn->server, at, size);
	if (size)
		conn->http->server_keeps = false; /* more than it has announced */
	return true;
}

static int rounds(const struct http *http)
{
	return http->redact ? ROUNDS_SEARCHED : ROUNDS;
}

static bool has_more(const struct http *http)
{
	return http->unpacks || !http->answer.done;
}

/* False: the connection has ended. */
static bool pump_body(struct conn *conn)
{
	struct stream *client = &conn->client, *server = &conn->server;
	struct http *http = conn->http;

	for (int round = 0; round < rounds(http) && has_more(http); round++) {
		uint8_t none, *data = &none;
		ssize_t got = 0;

		if (stream_backed(client)) {
			stream_listen(server, false);
			return true;
		}
		stream_listen(server, true);
		if (!http->unpacks)
			got = stream_read(server, &data);
		if (got == STREAM_WAIT) {
			answer_wait(conn);
			return true;
		}
		if (got > 0 || http->unpacks) {
			if (!use_answer(conn, data, (size_t)got)) {
				http_server_failed(conn, 502, body_fault);
				return false;
			}
		} else if (!got && http->answer.kind == HEAD_BODY_CLOSE) {
			http->answer.done = true;
		} else {
			http_server_failed(conn, 502, "it closes the connection within its answer");
			return false;
		}
	}
	if (has_more(http))
		stream_again(server);
	return true;
}

/* ---- after 101: both ways ------------------------------------------------------------- */

/* False: it cannot go on. */
static bool pass_raw(struct conn *conn, bool answers, uint8_t *data, size_t size)
{
	if (!answers) {
		placeholder_scan(&conn->http->placeholders, data, size);
		stream_write(&conn->server, data, size);
	} else if (!answer_body(conn, data, &size)) {
		snprintf(conn->record.reason, sizeof(conn->record.reason),
			 "what it sends are no frames of WebSocket's");
		conn->record.verdict = "failed";
		return false;
	}
	return true;
}

static bool pump_raw(struct conn *conn, struct stream *from, struct stream *to)
{
	bool answers = from == &conn->server;
	uint8_t *data;
	ssize_t got;

	for (int round = 0; round < rounds(conn->http) && !to->shut; round++) {
		stream_listen(from, !stream_backed(to));
		if (stream_backed(to))
			return true;
		got = stream_read(from, &data);
		if (got == STREAM_WAIT && answers)
			answer_wait(conn);
		if (got == STREAM_WAIT)
			return true;
		if (got == STREAM_FAIL)
			return false;
		if (got > 0 && !pass_raw(conn, answers, data, (size_t)got))
			return false;
		if (!got) {
			stream_listen(from, false);
			if (answers)
				answer_release(conn);
			stream_shut(to);
		}
		if (to->deaf || to->failed)
			return false;
	}
	if (!to->shut)
		stream_again(from);
	return true;
}

static void relay(struct conn *conn)
{
	struct stream *client = &conn->client, *server = &conn->server;
	bool goes_on;

	stream_cork(client);
	goes_on = pump_raw(conn, server, client) && pump_raw(conn, client, server);
	stream_uncork(client);
	if (!goes_on || client->deaf || client->failed || (client->shut_done && server->shut_done))
		conn_end(conn);
}

/* ---- together ------------------------------------------------------------------------- */

static void idle(struct conn *conn)
{
	if (!conn->http->upgraded)
		http_server_failed(conn, 504, "no answer for a long time");
	else
		conn_end(conn);
}

/* False: the connection has ended, or is at another stage. */
static bool go_on(struct conn *conn)
{
	struct http *http = conn->http;

	send_head(conn);
	if (!pump_request(conn))
		return false;
	stream_listen(&conn->server, !stream_backed(&conn->client));
	if (pump_head(conn) < 1)
		return false;
	if (http->upgraded) {
		conn->stage = relay;
		relay(conn);
		return false;
	}
	return pump_body(conn) && !has_more(http);
}

static void exchange(struct conn *conn)
{
	bool whole;

	stream_cork(&conn->client);
	stream_cork(&conn->server);
	whole = go_on(conn);
	if (whole && !answer_end(conn)) {
		http_server_failed(conn, 502, body_fault);
		whole = false;
	}
	stream_uncork(&conn->client);
	stream_uncork(&conn->server);
	if (whole)
		http_done(conn);
	else if (!conn->dead && (conn->client.failed || conn->client.deaf))
		conn_end(conn);
}

void exchange_begin(struct conn *conn)
{
	conn->http->interim = 0;
	conn->scanned = 0;
	conn->stage = exchange;
	conn_watch(conn, idle);
	exchange(conn);
}
