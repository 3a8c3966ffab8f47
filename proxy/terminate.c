/*
 * proxy/terminate.c - the program's side of TLS that ends here.
 */
#include "proxy/http.h"

#include "proxy/authority.h"
#include "proxy/hello.h"

#include <stdio.h>
#include <string.h>

#define HELLO_SECONDS 30

static void client_tls_late(struct conn *conn)
{
	conn->record.verdict = "failed";
	snprintf(conn->record.reason, sizeof(conn->record.reason),
		 "the program's TLS handshake does not come to an end");
	conn_end(conn);
}

static void client_greeting(struct conn *conn)
{
	int result = stream_handshake(&conn->client);

	if (!result)
		return;
	if (result > 0) {
		http_next(conn);
		return;
	}
	conn->record.verdict = "failed";
	snprintf(conn->record.reason, sizeof(conn->record.reason),
		 "the program's TLS handshake fails: does it trust the session's CA?");
	conn_end(conn);
}

/* As in a tunnel, but there is no other protocol to be had here than TLS. */
static void client_hello(struct conn *conn)
{
	struct stream *client = &conn->client;
	enum hello_state state;
	struct hello hello;
	const char *why;
	ssize_t got;
	SSL *ssl;

	do {
		state = hello_read(stream_bytes(client), stream_held(client), &hello);
		got = state == HELLO_MORE ? stream_gather(client) : 0;
	} while (got > 0);
	if (state == HELLO_MORE && got == STREAM_WAIT)
		return;
	why = hello_objection(state, &hello, conn->target.host, 443);
	ssl = why ? NULL : authority_accept(conn->worker->authority, conn->target.host);
	if (!ssl) {
		conn->record.verdict = why ? "refused" : "failed";
		snprintf(conn->record.reason, sizeof(conn->record.reason), "%s",
			 why ? why : "no certificate can be made");
		conn_end(conn);
		return;
	}
	stream_start_tls(client, ssl);
	conn->stage = client_greeting;
	client_greeting(conn);
}

void http_begin_tls(struct conn *conn)
{
	if (!conn->worker->authority) {
		conn_end(conn); /* setup.c and sbx_net_ends_tls do not agree */
		return;
	}
	if (!http_make(conn, true))
		return;
	memcpy(conn->http->host, conn->target.host, sizeof(conn->http->host));
	conn->http->port = conn->target.port;
	if (!reach_tls(conn)) {
		conn_end(conn);
		return;
	}
	conn->stage = client_hello;
	conn_deadline(conn, HELLO_SECONDS, client_tls_late);
	stream_listen(&conn->client, true);
	client_hello(conn);
}
