/*
 * proxy/http.c - requests that are read: each decided anew, whatever came before.
 *
 * Two ways lead here: requests with a whole URL, in the clear, to any allowed host;
 * and requests inside TLS that ends here, all to the host of the CONNECT.  One after
 * the other: the next one is read when the answer to the last is whole.  A request
 * waits for three things in this order: its verdict, its credential, its server.
 */
#include "proxy/http.h"

#include "proxy/refuse.h"
#include "proxy/vault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_SECONDS 30
#define IDLE_SECONDS 600 /* between two requests */

/* ---- what one exchange leaves ----------------------------------------------------- */

static void clear_exchange(struct http *http)
{
	if (http->head)
		OPENSSL_clear_free(http->head, http->head_size);
	free(http->method);
	free(http->path);
	redact_free(http->redact);
	if (http->silence)
		event_free(http->silence);
	if (http->secrets)
		stream_wipe();
	redact_set_drop(http->secrets);
	unpack_free(http->unpack);
	http->head = http->method = http->path = NULL;
	http->redact = NULL;
	http->silence = NULL;
	http->websocket = (struct websocket){ 0 };
	http->secrets = NULL;
	http->unpack = NULL;
	http->credential = SBX_NONE;
	http->placeholders = (struct placeholder_scan){ 0 };
	http->active = http->expects = http->upgrade = http->upgraded = false;
	http->answering = http->framed = http->unpacks = false;
}

void http_count(struct conn *conn)
{
	struct http *http = conn->http;

	if (!http->active)
		return;
	conn->record.sent = conn->server.sent - http->sent;
	conn->record.received = conn->server.received - http->received;
	conn->record.placeholder |= http->placeholders.found;
	if (http->redact)
		conn->record.redacted += redact_count(http->redact);
}

void http_end(struct conn *conn)
{
	struct http *http = conn->http;

	if (http->waiting)
		vault_forget(conn->worker->vault, conn);
	clear_exchange(http);
	free(http);
	conn->http = NULL;
}

bool http_make(struct conn *conn, bool tls)
{
	conn->http = calloc(1, sizeof(*conn->http));
	if (!conn->http) {
		conn_end(conn);
		return false;
	}
	conn->http->tls = tls;
	conn->http->credential = SBX_NONE;
	return true;
}

void http_waiting(struct conn *conn)
{
	if (conn->client.failed)
		conn_end(conn);
}

/* ---- the verdict ------------------------------------------------------------------ */

/* Host, and the target where it is whole, name the host that we decide about. */
static bool check_authority(struct conn *conn, const struct head *head,
			    const struct target *target)
{
	struct span host = head->host;
	char named[TARGET_HOST];
	uint16_t port;

	if (conn->http->tls && target->form == TARGET_ABSOLUTE &&
	    (!target->secure || target->port != conn->target.port ||
	     strcmp(target->host, conn->target.host))) {
		refuse_text(conn, 403, "the request's target is another host than the connection's");
		return false;
	}
	if (!host.size && !head->minor)
		return true;
	if (!head_authority(host, named, &port) || strcmp(named, conn->target.host) ||
	    (port && port != conn->target.port)) {
		refuse_text(conn, 403, "the request's Host is another than the %s",
			    conn->http->tls ? "connection's" : "target's");
		return false;
	}
	return true;
}

static bool check_form(struct conn *conn, const struct head *head, struct target *target)
{
	if (!head_target(head, target) || target->form == TARGET_AUTHORITY) {
		refuse_text(conn, 400, "malformed request: its target");
		return false;
	}
	if (conn->http->tls)
		return true;
	if (target->form != TARGET_ABSOLUTE) {
		refuse_text(conn, 400, "this is a proxy: the target is to be a whole URL");
		return false;
	}
	conn->target = *target;
	conn->target.path = (struct span){ "", 0 };
	snprintf(conn->record.host, sizeof(conn->record.host), "%s", target->host);
	conn->record.port = target->port;
	if (target->secure || target->port == 443) {
		if (!refuse_unless_allowed(conn))
			return false;
		refuse_text(conn, 400, "TLS goes by CONNECT: set HTTPS_PROXY");
		return false;
	}
	return true;
}

static bool check_rules(struct conn *conn)
{
	static const char *const why[] = {
		[SBX_REQUEST_METHOD] = "no rule for this method",
		[SBX_REQUEST_PATH] = "no rule for this path",
		[SBX_REQUEST_UNCLEAR] = "this path may be read as another",
	};
	struct sbx_request_verdict verdict;

	if (!refuse_unless_allowed(conn))
		return false;
	sbx_net_decide_request(&conn->worker->session->blob, conn->target.host, conn->target.port, NULL,
			       conn->http->method, conn->http->path, &verdict);
	conn->record.rule = verdict.rule;
	if (verdict.allowed)
		return true;
	refuse_request(conn, verdict.rule,
		       verdict.why == SBX_REQUEST_NAME ? "" : why[verdict.why]);
	return false;
}

static void name_request(struct conn *conn, const struct head *head)
{
	struct record *record = &conn->record;

	record_begin(record, conn->http->tls ? "tls" : "http",
		     conn->http->tls ? conn->target.host : "",
		     conn->http->tls ? conn->target.port : 0);
	snprintf(record->method, sizeof(record->method), "%.*s", (int)head->method.size,
		 head->method.at);
}

static void name_path(struct conn *conn)
{
	struct record *record = &conn->record;
	size_t length = strcspn(conn->http->path, "?");

	if (length >= sizeof(record->path))
		length = sizeof(record->path) - 1;
	memcpy(record->path, conn->http->path, length);
	record->path[length] = '\0';
}

static void begin_request(struct conn *conn, struct head *head)
{
	struct http *http = conn->http;
	struct target target;

	evtimer_del(conn->timer);
	conn->stage = http_waiting;
	stream_listen(&conn->client, false);
	name_request(conn, head);
	http->active = true;
	http->sent = conn->server.sent;
	http->received = conn->server.received;
	if (!check_form(conn, head, &target))
		return;
	http->method = strndup(head->method.at, head->method.size);
	http->path = strndup(target.path.at, target.path.size);
	if (!http->method || !http->path) {
		conn_end(conn);
		return;
	}
	name_path(conn);
	if (!check_authority(conn, head, &target) || !check_rules(conn))
		return;
	outgoing_begin(conn, head, &target);
}

/* ---- one after the other ------------------------------------------------------------ */

static void head_late(struct conn *conn)
{
	refuse_text(conn, 408, "no whole request within %u seconds", HEAD_SECONDS);
}

static void next_request(struct conn *conn)
{
	bool begun = stream_held(&conn->client) != 0;
	struct head head;
	int result = client_head(conn, &head);

	if (result > 0)
		begin_request(conn, &head);
	else if (!result && !begun && stream_held(&conn->client))
		conn_deadline(conn, HEAD_SECONDS, head_late);
}

void http_next(struct conn *conn)
{
	bool begun = stream_held(&conn->client) != 0;

	conn->stage = next_request;
	conn->scanned = 0;
	conn_deadline(conn, begun ? HEAD_SECONDS : IDLE_SECONDS, begun ? head_late : conn_end);
	stream_listen(&conn->server, false);
	stream_listen(&conn->client, true);
	stream_again(&conn->client);
}

void http_done(struct conn *conn)
{
	struct http *http = conn->http;
	bool keeps = http->keeps && http->request.done && http->framing != FRAME_CLOSE;

	conn_record(conn);
	if (!http->server_keeps || !http->request.done)
		stream_close(&conn->server);
	clear_exchange(http);
	if (keeps)
		http_next(conn);
	else
		conn_linger(conn);
}

void http_begin(struct conn *conn, const struct head *first)
{
	struct head head = *first;

	if (http_make(conn, false))
		begin_request(conn, &head);
}
