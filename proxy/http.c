/*
 * proxy/http.c - requests that are read: each decided anew, whatever came before.
 *
 * Two ways lead here: requests with a whole URL, in the clear, to any allowed host;
 * and requests inside TLS that ends here, all to the host of the CONNECT.  One after
 * the other: the next one is read when the answer to the last is whole.  A request
 * waits for three things in this order: its verdict, its credential, its server.
 */
#include "proxy/http.h"

#include "proxy/authority.h"
#include "proxy/dial.h"
#include "proxy/hello.h"
#include "proxy/refuse.h"
#include "proxy/upstream.h"
#include "proxy/vault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_SECONDS 30
#define IDLE_SECONDS 600 /* between two requests */
#define TLS_SECONDS 10

static void dialled(struct conn *conn, const struct dial_outcome *outcome);

static const struct sbx_blob *blob_of(const struct conn *conn)
{
	return &conn->worker->session->blob;
}

/* ---- what one exchange leaves ----------------------------------------------------- */

static void clear_exchange(struct http *http)
{
	if (http->head)
		OPENSSL_clear_free(http->head, http->head_size);
	free(http->method);
	free(http->path);
	redact_free(http->redact);
	if (http->secrets)
		stream_wipe();
	redact_set_drop(http->secrets);
	unpack_free(http->unpack);
	http->head = http->method = http->path = NULL;
	http->redact = NULL;
	http->secrets = NULL;
	http->unpack = NULL;
	http->credential = SBX_NONE;
	http->placeholders = (struct placeholder_scan){ 0 };
	http->active = http->expects = http->upgrade = http->upgraded = false;
	http->answering = http->framed = false;
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

static bool make(struct conn *conn, bool tls)
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

/* ---- the server ------------------------------------------------------------------- */

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

	sbx_net_decide_request(blob_of(conn), conn->target.host, conn->target.port,
			       dial_address(conn), conn->http->method, conn->http->path, &verdict);
	conn->record.rule = verdict.rule;
	if (verdict.allowed)
		return true;
	refuse_rule(conn, verdict.rule, "at this address");
	return false;
}

static void server_is_up(struct conn *conn)
{
	struct http *http = conn->http;

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

static bool start_server_tls(struct conn *conn)
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
	if (http->tls && !start_server_tls(conn)) {
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

static void waiting(struct conn *conn)
{
	if (conn->client.failed)
		conn_end(conn);
}

static void reach_server(struct conn *conn)
{
	conn->stage = waiting;
	if (is_usable(conn)) {
		go_on_to_server(conn);
		return;
	}
	stream_close(&conn->server);
	dial_begin(conn, dialled);
}

/* ---- the credential --------------------------------------------------------------- */

#define CHOICES 16

/* Which of those that go to the host; SBX_NONE where there is none. */
static uint32_t choose_credential(const struct conn *conn, const struct head *head)
{
	const struct session *session = conn->worker->session;
	struct inject_choice choices[CHOICES];
	uint32_t found[CHOICES], next = 0;
	size_t count = 0;

	while (count < CHOICES && conn->worker->vault) {
		const struct sbx_credential *credential;
		const char *name;

		next = sbx_credential_for(&session->blob, &session->vars, conn->target.host,
					  conn->target.port, next);
		if (next == SBX_NONE)
			break;
		credential = SBX_AT(&session->blob, CREDENTIALS, sbx_credential, next);
		name = sbx_string(&session->blob, credential->name);
		choices[count] = (struct inject_choice){
			sbx_string(&session->blob, credential->header),
			session_value(session, "placeholder", name),
		};
		if (!vault_is_absent(conn->worker->vault, next))
			found[count++] = next;
		next++;
	}
	return count ? found[inject_choose(head, choices, count)] : SBX_NONE;
}

/* "host" or "host:port", as it stands in Host. */
static void authority_text(const struct conn *conn, char *out, size_t size)
{
	bool brackets = strchr(conn->target.host, ':');
	unsigned usual = conn->http->tls ? 443 : 80;
	char port[8] = "";

	if (conn->target.port != usual)
		snprintf(port, sizeof(port), ":%u", conn->target.port);
	snprintf(out, size, "%s%s%s%s", brackets ? "[" : "", conn->target.host,
		 brackets ? "]" : "", port);
}

/* Builds what goes to the server from the head that is still in conn->client.in. */
static bool build_head(struct conn *conn, const struct head *head, const struct target *target,
		       struct span field, struct span value)
{
	struct http *http = conn->http;
	char authority[TARGET_HOST + 10];
	struct inject_request request = { .head = head, .path = target->path,
					  .authority = authority, .field = field, .value = value };
	size_t room = head->size + value.size + field.size + 1024;
	long size;

	authority_text(conn, authority, sizeof(authority));
	http->head = OPENSSL_malloc(room);
	if (!http->head)
		return false;
	http->head_size = room;
	size = inject_head(&request, http->head, room);
	if (size < 0)
		return false;
	http->head = OPENSSL_clear_realloc(http->head, room, (size_t)size);
	http->head_size = (size_t)size;
	conn->record.placeholder = placeholder_in_head(head, field);
	stream_use(&conn->client, head->size);
	return http->head != NULL;
}

/* The head is read again: what its spans point to may have moved since. */
static bool reread(struct conn *conn, struct head *head, struct target *target)
{
	const char *bytes = (const char *)stream_bytes(&conn->client);
	size_t scanned = 0;

	return head_scan(bytes, stream_held(&conn->client), &scanned, head) == HEAD_DONE &&
	       head_parse(HEAD_REQUEST, bytes, head) && head_target(head, target);
}

static bool only_websocket(const struct head *head)
{
	for (unsigned i = 0; i < head->field_count; i++)
		if (span_is(head->field[i].name, "upgrade") &&
		    !span_is(head->field[i].value, "websocket"))
			return false;
	return head->body == HEAD_BODY_NONE;
}

static void prepare(struct conn *conn, struct head *head, const struct target *target,
		    struct span field, struct span value)
{
	struct http *http = conn->http;

	/* Another protocol than WebSocket (h2c) would carry requests past us. */
	head->upgrade = head->upgrade && only_websocket(head);
	http->upgrade = head->upgrade;
	http->is_head = span_is(head->method, "HEAD");
	http->minor = head->minor == 1;
	http->expects = head->expects && head->body != HEAD_BODY_NONE;
	http->keeps = head->keep_alive;
	body_init(&http->request, head->body, head->length);
	if (build_head(conn, head, target, field, value))
		reach_server(conn);
	else
		refuse_text(conn, 502, "no memory");
}

static void with_value(struct conn *conn, const struct keeper_answer *answer,
		       struct redact_set *secrets)
{
	const struct sbx_credential *credential = SBX_AT(blob_of(conn), CREDENTIALS, sbx_credential,
							 conn->http->credential);
	struct span field = { sbx_string(blob_of(conn), credential->header), 0 };
	struct target target;
	struct head head;
	char value[KEEPER_VALUE_MAX * 2];
	long size;

	if (!answer || answer->status != KEEPER_VALUE) {
		refuse_text(conn, 502, "the credential %s cannot be had now%s",
			    sbx_string(blob_of(conn), credential->name),
			    answer ? ": sbx-exec says why" : "");
		return;
	}
	size = inject_value(blob_of(conn), credential, answer->value, answer->value_size, value,
			    sizeof(value));
	if (size < 0 || !reread(conn, &head, &target)) {
		refuse_text(conn, 502, "the credential cannot be put in");
		return;
	}
	field.size = strlen(field.at);
	conn->record.credential = conn->http->credential;
	conn->http->secrets = redact_set_hold(secrets);
	prepare(conn, &head, &target, field, (struct span){ value, (size_t)size });
	OPENSSL_cleanse(value, sizeof(value));
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
	if (target->secure) {
		refuse_text(conn, 400, "https goes by CONNECT: set HTTPS_PROXY");
		return false;
	}
	return true;
}

static bool check_rules(struct conn *conn)
{
	static const char *const why[] = {
		[SBX_REQUEST_METHOD] = "this method",
		[SBX_REQUEST_PATH] = "this path",
		[SBX_REQUEST_UNCLEAR] = "a path that may be read as another",
	};
	struct sbx_request_verdict verdict;

	if (!refuse_unless_allowed(conn))
		return false;
	sbx_net_decide_request(blob_of(conn), conn->target.host, conn->target.port, NULL,
			       conn->http->method, conn->http->path, &verdict);
	conn->record.rule = verdict.rule;
	if (verdict.allowed)
		return true;
	refuse_rule(conn, verdict.rule,
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
	conn->stage = waiting;
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
	if (http->tls)
		http->credential = choose_credential(conn, head);
	if (http->credential == SBX_NONE)
		prepare(conn, head, &target, (struct span){ "", 0 }, (struct span){ "", 0 });
	else
		vault_ask(conn->worker->vault, conn, with_value);
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

static void wait_for_request(struct conn *conn)
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
		wait_for_request(conn);
	else
		conn_linger(conn);
}

void http_begin(struct conn *conn, const struct head *first)
{
	struct head head = *first;

	if (make(conn, false))
		begin_request(conn, &head);
}

/* ---- TLS --------------------------------------------------------------------------- */

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
		wait_for_request(conn);
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
	if (!make(conn, true))
		return;
	memcpy(conn->http->host, conn->target.host, sizeof(conn->http->host));
	conn->http->port = conn->target.port;
	if (!start_server_tls(conn)) {
		conn_end(conn);
		return;
	}
	conn->stage = client_hello;
	conn_deadline(conn, HEAD_SECONDS, client_tls_late);
	stream_listen(&conn->client, true);
	client_hello(conn);
}
