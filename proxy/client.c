/*
 * proxy/client.c - the first bytes of a connection: SOCKS5 or HTTP, and where to.
 *
 * CONNECT and SOCKS lead to the same three steps: the name gate, the dial with its
 * address gate, and then a tunnel, or TLS that ends here where the policy reads or
 * changes requests.  The client is told that it is connected once it is.
 */
#include "proxy/conn.h"
#include "proxy/dial.h"
#include "proxy/refuse.h"
#include "proxy/socks.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define HEAD_SECONDS 30

static void first_bytes(struct conn *conn);

static void head_late(struct conn *conn)
{
	if (stream_held(&conn->client) && !conn->socks)
		refuse_text(conn, 408, "no whole request within %u seconds", HEAD_SECONDS);
	else
		conn_end(conn);
}

void client_begin(struct conn *conn)
{
	conn->stage = first_bytes;
	conn_deadline(conn, HEAD_SECONDS, head_late);
	stream_listen(&conn->client, true);
}

/* ---- connecting --------------------------------------------------------------- */

/* Nothing is read meanwhile, but a client that goes away shows by an error alone. */
static void waiting(struct conn *conn)
{
	if (conn->client.failed)
		conn_end(conn);
}

static void dialled(struct conn *conn, const struct dial_outcome *outcome)
{
	const struct session *session = conn->worker->session;

	switch (outcome->result) {
	case DIAL_REFUSED:
		refuse_rule(conn, outcome->rule, "its address");
		return;
	case DIAL_LATE:
		refuse_text(conn, 504, "%s", outcome->text);
		return;
	case DIAL_UNKNOWN:
	case DIAL_UNREACHED:
		refuse_text(conn, 502, "%s", outcome->text);
		return;
	case DIAL_DONE:
		break;
	}
	if (!conn_server(conn, outcome->fd))
		return;
	if (conn->socks)
		socks_answer(conn, SOCKS_GRANTED);
	else
		stream_write(&conn->client, "HTTP/1.1 200 Connection established\r\n\r\n", 39);
	if (sbx_net_ends_tls(&session->blob, &session->vars, conn->target.host, conn->target.port))
		http_begin_tls(conn);
	else
		tunnel_begin(conn);
}

static void connect_to_target(struct conn *conn)
{
	stream_listen(&conn->client, false);
	conn->stage = waiting;
	record_begin(&conn->record, conn->socks ? "socks" : "connect", conn->target.host,
		     conn->target.port);
	if (!refuse_unless_allowed(conn))
		return;
	evtimer_del(conn->timer);
	dial_begin(conn, dialled);
}

/* ---- SOCKS -------------------------------------------------------------------- */

static void socks_request_bytes(struct conn *conn)
{
	enum socks_code code;
	size_t used;
	int result;

	do {
		result = socks_request(stream_bytes(&conn->client), stream_held(&conn->client), &used, &conn->target,
				       &code);
	} while (!result && stream_gather(&conn->client) > 0);
	if (result > 0) {
		stream_use(&conn->client, used);
		connect_to_target(conn);
	} else if (result < 0) {
		record_begin(&conn->record, "socks", "", conn->target.port);
		conn->record.verdict = "refused";
		snprintf(conn->record.reason, sizeof(conn->record.reason), "a malformed request");
		socks_answer(conn, code);
		conn_linger(conn);
	} else if (conn->client.ended || conn->client.failed) {
		conn_end(conn);
	}
}

static void socks_greeting_bytes(struct conn *conn)
{
	enum socks_code code;
	size_t used;
	int result;

	do {
		result = socks_greeting(stream_bytes(&conn->client), stream_held(&conn->client), &used, &code);
	} while (!result && stream_gather(&conn->client) > 0);
	if (result > 0) {
		stream_use(&conn->client, used);
		stream_write(&conn->client, (const uint8_t[]){ SOCKS_VERSION, 0 }, 2);
		conn->stage = socks_request_bytes;
		socks_request_bytes(conn);
	} else if (result < 0) {
		stream_write(&conn->client, (const uint8_t[]){ SOCKS_VERSION, SOCKS_NO_METHOD }, 2);
		conn_linger(conn);
	} else if (conn->client.ended || conn->client.failed) {
		conn_end(conn);
	}
}

/* ---- HTTP --------------------------------------------------------------------- */

int client_head(struct conn *conn, struct head *head)
{
	enum head_result result;

	do {
		result = stream_held(&conn->client)
				 ? head_scan((const char *)stream_bytes(&conn->client), stream_held(&conn->client),
					     &conn->scanned, head)
				 : HEAD_MORE;
	} while (result == HEAD_MORE && stream_gather(&conn->client) > 0);
	if (result == HEAD_MORE && !conn->client.ended && !conn->client.failed)
		return 0;
	conn->scanned = 0;
	if (result == HEAD_MORE) {
		conn_end(conn);
		return -1;
	}
	if (result == HEAD_DONE && head_parse(HEAD_REQUEST, (const char *)stream_bytes(&conn->client), head))
		return 1;
	refuse_text(conn, head->wrong_status, "malformed request: %s", head->wrong);
	return -1;
}

static void begin_connect(struct conn *conn, const struct head *head)
{
	struct span host = head->host;
	char named[TARGET_HOST];
	uint16_t port;

	record_begin(&conn->record, "connect", "", 0);
	if (!head_target(head, &conn->target)) {
		conn->target.host[0] = '\0';
		refuse_text(conn, 400, "malformed request: CONNECT wants HOST:PORT");
		return;
	}
	if (head->body != HEAD_BODY_NONE) {
		refuse_text(conn, 400, "malformed request: a CONNECT with a body");
		return;
	}
	/* Some send Host without the port, so the name alone is compared. */
	if (host.size && (!head_authority(host, named, &port) || strcmp(named, conn->target.host) ||
			  (port && port != conn->target.port))) {
		refuse_text(conn, 400, "malformed request: Host is another than the target");
		return;
	}
	stream_use(&conn->client, head->size);
	connect_to_target(conn);
}

static void http_bytes(struct conn *conn)
{
	struct head head;

	if (client_head(conn, &head) != 1)
		return;
	if (span_is(head.method, "CONNECT"))
		begin_connect(conn, &head);
	else
		http_begin(conn, &head);
}

static void first_bytes(struct conn *conn)
{
	uint8_t first;

	if (!stream_held(&conn->client) && stream_gather(&conn->client) <= 0) {
		if (conn->client.ended || conn->client.failed)
			conn_end(conn);
		return;
	}
	first = *stream_bytes(&conn->client);
	conn->socks = first == SOCKS_VERSION;
	if (!conn->socks && !isalpha(first)) {
		refuse_text(conn, 400, "malformed request: neither HTTP nor SOCKS5");
		return;
	}
	conn->stage = conn->socks ? socks_greeting_bytes : http_bytes;
	conn->stage(conn);
}
