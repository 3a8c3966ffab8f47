/*
 * proxy/outgoing.c - a request's head as it goes out, with its credential.
 *
 * The client's head stays where it was read until the keeper has answered; only then
 * the new one is built.
 */
#include "proxy/http.h"

#include "proxy/refuse.h"
#include "proxy/vault.h"

#include <stdio.h>
#include <string.h>

/* Which of those that go to the host; SBX_NONE where there is none. */
static uint32_t choose_credential(const struct conn *conn, const struct head *head)
{
	const struct session *session = conn->worker->session;
	struct inject_choice choices[SBX_HOST_CREDENTIALS];
	uint32_t found[SBX_HOST_CREDENTIALS], next = 0;
	size_t count = 0;

	while (count < SBX_HOST_CREDENTIALS && conn->worker->vault) {
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
			given_named(&session->given, "placeholder", name),
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

/* The fields of all credentials that the policy has for the host, also where one is
 * absent.  0: more than @names has room for. */
static size_t fields_of_host(const struct conn *conn, const char *names[SBX_HOST_CREDENTIALS])
{
	const struct session *session = conn->worker->session;
	size_t count = 0;

	for (uint32_t i = 0;; i++) {
		i = sbx_credential_for(&session->blob, &session->vars, conn->target.host,
				       conn->target.port, i);
		if (i == SBX_NONE)
			return count;
		if (count == SBX_HOST_CREDENTIALS)
			return 0;
		names[count++] = sbx_string(
			&session->blob, SBX_AT(&session->blob, CREDENTIALS, sbx_credential, i)->header);
	}
}

/* Is the rule that allows this request about more than the host? */
static bool narrows(const struct conn *conn)
{
	const struct sbx_net_rule *rule;

	if (conn->record.rule == SBX_NONE)
		return false;
	rule = SBX_AT(&conn->worker->session->blob, NET, sbx_net_rule, conn->record.rule);
	return rule->method_count || sbx_present(rule->prefix);
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
	const char *others[SBX_HOST_CREDENTIALS];
	long size;

	if (field.size) {
		request.others = others;
		request.other_count = fields_of_host(conn, others);
		if (!request.other_count)
			return false;
	}
	request.narrowed = narrows(conn);
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
	const struct sbx_credential *credential = SBX_AT(&conn->worker->session->blob, CREDENTIALS, sbx_credential,
							 conn->http->credential);
	struct span field = { sbx_string(&conn->worker->session->blob, credential->header), 0 };
	struct target target;
	struct head head;
	char value[KEEPER_VALUE_MAX * 2];
	long size;

	if (!answer || answer->status != KEEPER_VALUE) {
		refuse_text(conn, 502, "the credential %s cannot be had now%s",
			    sbx_string(&conn->worker->session->blob, credential->name),
			    answer ? ": sbx-exec says why" : "");
		return;
	}
	size = inject_value(&conn->worker->session->blob, credential, answer->value, answer->value_size, value,
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

void outgoing_begin(struct conn *conn, struct head *head, const struct target *target)
{
	static const struct span none = { "", 0 };
	struct http *http = conn->http;

	if (http->tls)
		http->credential = choose_credential(conn, head);
	if (http->credential == SBX_NONE)
		prepare(conn, head, target, none, none);
	else
		vault_ask(conn->worker->vault, conn, with_value);
}
