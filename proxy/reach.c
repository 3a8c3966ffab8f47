/*
 * proxy/reach.c - the server of a request: the kept connection, or a new one.
 *
 * With TLS, nothing of the request goes out before the handshake is done and what was
 * agreed upon was looked at.
 */
#include "proxy/http.h"

#include "proxy/dial.h"
#include "proxy/refuse.h"
#include "proxy/upstream.h"

#include <stdio.h>
#include <string.h>

#define TLS_SECONDS 10

static void dialled(struct conn *conn, const struct dial_outcome *outcome);

void http_server_failed(struct conn *conn, unsigned status, const char *why)
{
	if (!conn->http->answering) {
		refuse_text(conn, status, "%s", why);
		return;
	}
	conn->record.verdict = "failed";
	snprintf(conn->record.reason, sizeof(conn->record.reason), "%s", why);
	conn_end(conn);
}

/* The rules that open the host may want other addresses for other paths. */
static bool decide_at_address(struct conn *conn)
{
	struct sbx_request_verdict verdict;

	sbx_net_decide_request(&conn->worker->session->blob, conn->target.host, conn->target.port,
			       dial_address(conn), conn->http->method, conn->http->path, &verdict);
	conn->record.rule = verdict.rule;
	if (verdict.allowed)
		return true;
	refuse_request(conn, verdict.rule, "no rule for this at its address");
	return false;
}

static void server_is_up(struct conn *conn)
{
	struct http *http = conn->http;

	dial_name(conn);
	if (!decide_at_address(conn))
		return;
	http->sent = conn->server.sent;
	http->received = conn->server.received;
	exchange_begin(conn);
}

static void server_tls_late(struct conn *conn)
{
	http_server_failed(conn, 504, "its TLS handshake does not come to an end");
}

/* The handshake with the server; nothing of the request goes out before it is done
 * and what was agreed upon is looked at. */
static void greeting(struct conn *conn)
{
	const char *objection;
	char why[256];
	int result = stream_handshake(&conn->server);

	if (!result)
		return;
	evtimer_del(conn->timer);
	if (result < 0 && conn->server.truncated && !conn->http->fresh) {
		/* Connected since the CONNECT, and the server has waited long enough. */
		stream_close(&conn->server);
		dial_begin(conn, dialled);
		return;
	}
	if (result < 0) {
		upstream_why(conn->server.ssl, why, sizeof(why));
		refuse_text(conn, 502, "%s", why);
		return;
	}
	objection = upstream_objection(conn->server.ssl);
	if (objection) {
		refuse_text(conn, 502, "%s", objection);
		return;
	}
	conn->http->greeted = true;
	server_is_up(conn);
}

bool reach_tls(struct conn *conn)
{
	SSL *ssl = upstream_connect(conn->worker->upstream, conn->target.host, conn->target.port);

	if (ssl)
		stream_start_tls(&conn->server, ssl);
	conn->http->greeted = false;
	return ssl != NULL;
}

static void go_on_to_server(struct conn *conn)
{
	if (!conn->http->tls || conn->http->greeted) {
		server_is_up(conn);
		return;
	}
	conn->stage = greeting;
	conn_deadline(conn, TLS_SECONDS, server_tls_late);
	stream_listen(&conn->server, true);
	greeting(conn);
}

static void dialled(struct conn *conn, const struct dial_outcome *outcome)
{
	struct http *http = conn->http;

	if (outcome->result == DIAL_REFUSED) {
		refuse_rule(conn, outcome->rule, "its address");
		return;
	}
	if (outcome->result != DIAL_DONE) {
		refuse_text(conn, outcome->result == DIAL_LATE ? 504 : 502, "%s", outcome->text);
		return;
	}
	if (!conn_server(conn, outcome->fd))
		return;
	memcpy(http->host, conn->target.host, sizeof(http->host));
	http->port = conn->target.port;
	http->fresh = true;
	if (http->tls && !reach_tls(conn)) {
		refuse_text(conn, 502, "no memory");
		return;
	}
	go_on_to_server(conn);
}

/* A kept connection to the same server that it has not closed, nor spoken on. */
static bool is_usable(struct conn *conn)
{
	const struct http *http = conn->http;

	if (conn->server.fd < 0 || http->port != conn->target.port ||
	    strcmp(http->host, conn->target.host))
		return false;
	if (http->tls && !http->greeted)
		return !conn->server.failed;
	return !stream_held(&conn->server) && stream_gather(&conn->server) == STREAM_WAIT;
}

void reach_server(struct conn *conn)
{
	conn->stage = http_waiting;
	if (is_usable(conn)) {
		go_on_to_server(conn);
		return;
	}
	stream_close(&conn->server);
	dial_begin(conn, dialled);
}
