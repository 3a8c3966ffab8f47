/*
 * proxy/answer.c - what a server answers, as the program gets it.
 *
 * The head is written anew; the body is framed for the client, which may speak
 * HTTP/1.0.  Where a credential went out, its echo is looked for in both, and a packed
 * body is unpacked for that.
 */
#include "proxy/charset.h"
#include "proxy/http.h"
#include "proxy/vault.h"

#include <stdio.h>
#include <string.h>

#define UNPACK_PIECE 16384
#define UNPACK_TURN  65536 /* before others have theirs */

/* A server that shows what it got writes it in one go: after this long what waits can be no
 * part of more. */
static const struct timeval silence = { .tv_sec = 1 };

static struct span find(const struct head *head, const char *name)
{
	for (unsigned i = 0; i < head->field_count; i++)
		if (span_is(head->field[i].name, name))
			return head->field[i].value;
	return (struct span){ "", 0 };
}

static unsigned count(const struct head *head, const char *name)
{
	unsigned found = 0;

	for (unsigned i = 0; i < head->field_count; i++)
		found += span_is(head->field[i].name, name);
	return found;
}

static void on_silence(evutil_socket_t fd, short what, void *context)
{
	struct conn *conn = context;

	(void)fd, (void)what;
	/* Where the program takes no more, it is not the server that is silent. */
	if (conn->dead || stream_backed(&conn->client))
		return;
	stream_cork(&conn->client);
	answer_release(conn);
	stream_uncork(&conn->client);
	stream_again(&conn->client); /* which may have gone */
}

/*
 * What went out, and all else that goes to this host: the server may keep what one
 * request had, and show it to the next.
 */
static bool search_all(struct conn *conn)
{
	const struct session *session = conn->worker->session;
	struct http *http = conn->http;
	uint32_t i = sbx_credential_for(&session->blob, &session->vars, conn->target.host,
					conn->target.port, 0);
	bool good = true;

	http->changes = vault_changes(conn->worker->vault);
	while (good && i != SBX_NONE) {
		good = vault_search(conn->worker->vault, i, http->redact);
		i = sbx_credential_for(&session->blob, &session->vars, conn->target.host,
				       conn->target.port, i + 1);
	}
	return good;
}

static bool open_redact(struct conn *conn)
{
	struct http *http = conn->http;

	http->redact = redact_make(http->secrets);
	http->silence = evtimer_new(conn->worker->base, on_silence, conn);
	return http->redact && http->silence && search_all(conn);
}

/* With a credential: can we read what comes?  Sets up what reads it.  Of two codings one
 * may be overlooked, by us or by the program: also where the first says that there is none. */
static bool open_secrets(struct conn *conn, const struct head *head, const char **why)
{
	struct http *http = conn->http;
	struct span coding = find(head, "content-encoding");
	unsigned codings = count(head, "content-encoding");

	if (!http->secrets)
		return true;
	*why = "no memory";
	if (!open_redact(conn))
		return false;
	*why = "it compresses frames that are to be searched for the credential";
	if (http->upgraded && count(head, "sec-websocket-extensions"))
		return false;
	if (http->answer.kind == HEAD_BODY_NONE || (head->body == HEAD_BODY_LENGTH && !head->length))
		return true;
	*why = "it answers in a charset that cannot be searched for the credential";
	if (!charset_is_read(head))
		return false;
	if (!codings)
		return true;
	*why = "it answers in a coding that cannot be searched for the credential";
	if (codings != 1)
		return false;
	if (!coding.size || span_is(coding, "identity"))
		return true;
	if (!span_is(coding, "gzip") && !span_is(coding, "deflate") && !span_is(coding, "x-gzip"))
		return false;
	http->unpack = unpack_make();
	*why = "no memory";
	return http->unpack != NULL;
}

static void choose_framing(struct http *http)
{
	if (http->answer.kind == HEAD_BODY_NONE)
		http->framing = FRAME_NONE;
	else if (http->answer.kind == HEAD_BODY_LENGTH && !http->unpack)
		http->framing = FRAME_LENGTH;
	else
		http->framing = http->minor ? FRAME_CHUNKED : FRAME_CLOSE;
}

struct text {
	char *at;
	size_t used, size;
	bool full;
};

static void add(struct text *text, const char *data, size_t size)
{
	if (text->full || size > text->size - text->used) {
		text->full = true;
		return;
	}
	memcpy(text->at + text->used, data, size);
	text->used += size;
}

static void add_string(struct text *text, const char *string)
{
	add(text, string, strlen(string));
}

/* Alt-Svc would lead the program past us, to another port or to QUIC. */
static bool passes(const struct http *http, const struct head *head,
		   const struct head_field *field)
{
	if (span_is(field->name, "alt-svc"))
		return false;
	if (http->unpack && span_is(field->name, "content-encoding"))
		return false;
	return !head_hop_by_hop(head, field);
}

static void add_framing(struct text *text, const struct http *http, const struct head *head)
{
	char line[64];

	/* HEAD is told the length that GET would have. */
	if (http->framing == FRAME_LENGTH ||
	    (http->is_head && head->body == HEAD_BODY_LENGTH)) {
		snprintf(line, sizeof(line), "Content-Length: %llu\r\n",
			 (unsigned long long)head->length);
		add_string(text, line);
	}
	if (http->framing == FRAME_CHUNKED)
		add_string(text, "Transfer-Encoding: chunked\r\n");
	if (http->upgraded)
		add_string(text, "Connection: Upgrade\r\nUpgrade: websocket\r\n");
	else if (!http->keeps || http->framing == FRAME_CLOSE)
		add_string(text, "Connection: close\r\n");
	else if (!http->minor)
		add_string(text, "Connection: keep-alive\r\n");
}

static void write_head(struct text *text, const struct http *http, const struct head *head)
{
	char line[32];

	snprintf(line, sizeof(line), "HTTP/1.1 %03u ", head->status);
	add_string(text, line);
	add(text, head->reason.at, head->reason.size);
	add_string(text, "\r\n");
	for (unsigned i = 0; i < head->field_count; i++) {
		const struct head_field *field = &head->field[i];

		if (!passes(http, head, field))
			continue;
		add(text, field->name.at, field->name.size);
		add_string(text, ": ");
		add(text, field->value.at, field->value.size);
		add_string(text, "\r\n");
	}
	add_framing(text, http, head);
	add_string(text, "\r\n");
}

bool answer_head(struct conn *conn, const struct head *head, const char **why)
{
	static char room[HEAD_MAX + 1024];
	struct http *http = conn->http;
	struct text text = { room, 0, sizeof(room), false };

	body_init(&http->answer, http->is_head ? HEAD_BODY_NONE : head->body, head->length);
	if (!open_secrets(conn, head, why))
		return false;
	choose_framing(http);
	http->server_keeps = head->keep_alive && http->answer.kind != HEAD_BODY_CLOSE;
	write_head(&text, http, head);
	*why = "a head of more than 64 KB";
	if (text.full)
		return false;
	*why = "no memory";
	if (http->redact && !redact_whole(http->redact, (uint8_t *)room, text.used))
		return false;
	conn->record.status = head->status;
	http->answering = true;
	stream_write(&conn->client, room, text.used);
	return true;
}

/* ---- the body ----------------------------------------------------------------------- */

static void put(void *context, const uint8_t *data, size_t size)
{
	struct conn *conn = context;
	char line[20];

	if (!size)
		return;
	if (conn->http->framing != FRAME_CHUNKED) {
		stream_write(&conn->client, data, size);
		return;
	}
	stream_write(&conn->client, line, (size_t)snprintf(line, sizeof(line), "%zx\r\n", size));
	stream_write(&conn->client, data, size);
	stream_write(&conn->client, "\r\n", 2);
}

static bool clean(struct conn *conn, uint8_t *data, size_t size)
{
	struct http *http = conn->http;

	if (!http->redact) {
		put(conn, data, size);
		return true;
	}
	evtimer_del(http->silence);
	/* An answer may go on for hours, and show what other requests have got since. */
	if (http->changes != vault_changes(conn->worker->vault) && !search_all(conn))
		return false;
	if (http->upgraded)
		return websocket_feed(&http->websocket, http->redact, data, size, put, conn);
	return redact_feed(http->redact, data, size, put, conn);
}

void answer_wait(struct conn *conn)
{
	struct http *http = conn->http;

	if (http->redact && redact_waits(http->redact))
		evtimer_add(http->silence, &silence);
}

void answer_release(struct conn *conn)
{
	struct http *http = conn->http;

	if (!http->redact)
		return;
	evtimer_del(http->silence);
	if (http->upgraded)
		websocket_release(&http->websocket, http->redact, put, conn);
	else
		redact_release(http->redact, put, conn);
}

/* A thousand bytes may come out of each: no more than the client takes, the rest later. */
static bool unpack(struct conn *conn, const uint8_t *data, size_t *size, bool last)
{
	uint8_t plain[UNPACK_PIECE];
	size_t total = 0;
	long got;

	do {
		got = unpack_feed(conn->http->unpack, &data, size, last, plain, sizeof(plain));
		if (got < 0 || !clean(conn, plain, (size_t)got))
			return false;
		total += (size_t)got;
		conn->http->unpacks = got == sizeof(plain);
	} while (conn->http->unpacks && total < UNPACK_TURN && !stream_backed(&conn->client));
	return true;
}

bool answer_body(struct conn *conn, uint8_t *data, size_t *size)
{
	size_t whole = *size;

	if (conn->http->unpack)
		return unpack(conn, data, size, false);
	*size = 0;
	return clean(conn, data, whole);
}

bool answer_end(struct conn *conn)
{
	struct http *http = conn->http;
	size_t none = 0;

	if (http->unpack && !unpack(conn, (const uint8_t *)"", &none, true))
		return false;
	answer_release(conn);
	if (http->framing == FRAME_CHUNKED)
		stream_write(&conn->client, "0\r\n\r\n", 5);
	return true;
}
