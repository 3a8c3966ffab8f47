/*
 * proxy/http.h - requests that are read: one exchange after the other.
 *
 * In the order of a request: terminate.c ends the program's TLS, http.c reads the head
 * and decides, outgoing.c gets its credential and builds what goes out, reach.c gets
 * its server, exchange.c passes its bytes and answer.c those of the answer.
 */
#ifndef SBX_PROXY_HTTP_H
#define SBX_PROXY_HTTP_H

#include "proxy/chunk.h"
#include "proxy/conn.h"
#include "proxy/inject.h"
#include "proxy/redact.h"
#include "proxy/websocket.h"

enum http_framing { FRAME_NONE, FRAME_LENGTH, FRAME_CHUNKED, FRAME_CLOSE };

struct http {
	bool tls; /* ended here; else absolute-form requests */

	/* The server that conn->server is connected to. */
	char host[TARGET_HOST];
	uint16_t port;
	bool greeted; /* its TLS is up and was looked at */
	bool fresh;   /* connected for this request, not since the CONNECT */

	/* The exchange. */
	char *head;   /* the request's, as it goes out; NULL once it has */
	size_t head_size;
	char *method, *path; /* as the verdict functions want them */
	struct body request, answer;
	bool active;         /* between a request's head and the end of its answer */
	bool is_head;        /* HEAD: an answer without a body */
	bool minor;          /* the client speaks HTTP/1.1 */
	bool expects;        /* it waits to be told to go on */
	bool keeps;          /* it sends more requests on this connection */
	bool server_keeps;
	bool upgrade;        /* asked for; then: both agreed */
	bool upgraded;
	bool answering;      /* the head of the answer was passed on */
	unsigned interim;    /* answers before the final one */
	bool framed;         /* the end of the request's chunks was written */
	enum http_framing framing; /* of the answer, to the client */
	uint64_t sent, received;   /* of conn->server, before this exchange */

	/* What is put in, and looked for in the answer. */
	uint32_t credential; /* SBX_NONE: nothing */
	struct redact_set *secrets;
	struct redact *redact;
	unsigned changes; /* of the vault's, as far as that looks for them */
	struct event *silence; /* of the server's, while a part of its answer waits in there */
	struct websocket websocket; /* what it sends once both have agreed */
	struct unpack *unpack;
	bool unpacks; /* more is in it than the client took */
	struct placeholder_scan placeholders;
	struct conn *next_waiting; /* in the vault's line */
	bool waiting;
};

bool http_make(struct conn *conn, bool tls); /* conn->http; false: the connection has ended */
void http_next(struct conn *conn);           /* waits for a request */
void http_done(struct conn *conn);           /* the answer is whole */
void http_waiting(struct conn *conn);        /* a stage: for something else than a stream */

/* outgoing.c: for a request that is allowed and still in conn->client.in: gets its
 * credential, builds its head, and goes on to its server. */
void outgoing_begin(struct conn *conn, struct head *head, const struct target *target);

/* reach.c: the server for conn->target, then the exchange. */
void reach_server(struct conn *conn);
/* Begins TLS on a server that is connected.  False: no memory. */
bool reach_tls(struct conn *conn);
/* Why the server's side failed, to a client that has no answer yet; else its
 * connection is closed. */
void http_server_failed(struct conn *conn, unsigned status, const char *why);

/* exchange.c: a stage. */
void exchange_begin(struct conn *conn);

/* answer.c: the final head of an answer, rewritten for the client; sets what becomes of
 * its body.  False: it cannot be passed on, *why. */
bool answer_head(struct conn *conn, const struct head *head, const char **why);
/*
 * A run of its body (or of what follows an upgrade), of which it leaves *size bytes while the client takes no more
 * (http->unpacks: to be called again, even if none are left); and its end.  False: it
 * is broken.
 */
bool answer_body(struct conn *conn, uint8_t *data, size_t *size);
/* All that came was used, and the server is waited for; what waits for more of it goes on
 * at last. */
void answer_wait(struct conn *conn);
void answer_release(struct conn *conn);
bool answer_end(struct conn *conn);

#endif
