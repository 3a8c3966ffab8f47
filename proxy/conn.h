/*
 * proxy/conn.h - one connection of the program's, and what all of them share.
 *
 * A connection is at one stage at a time: a function that is called whenever one of
 * its streams may go on, and that does as much as it can.  It ends by conn_end(),
 * which leaves the memory until the loop comes round, so whoever is on the way up
 * only looks at conn->dead.
 */
#ifndef SBX_PROXY_CONN_H
#define SBX_PROXY_CONN_H

#include "proxy/head.h"
#include "proxy/log.h"
#include "proxy/session.h"
#include "proxy/stream.h"
#include "proxy/tally.h"

struct resolver;
struct dial;
struct conn;

struct worker {
	struct session *session;
	struct event_base *base;
	struct resolver *resolver;
	struct authority *authority; /* NULL: TLS is ended nowhere */
	struct upstream *upstream;   /* and reads, */
	char *roots;                 /* the system's, PEM */
	struct vault *vault;         /* the credentials */
	struct tally tally;
	struct conn *conns, *ended;
	unsigned count, limit;       /* of @conns */
};

struct conn {
	struct conn *next, **link;
	struct worker *worker;
	struct stream client, server;
	void (*stage)(struct conn *conn);
	void (*late)(struct conn *conn); /* what to do when @timer is over */
	struct event *timer;
	struct record record;
	struct dial *dial;
	struct http *http;   /* HTTP that we read, else NULL */
	struct target target; /* host and port it goes to */
	size_t scanned;      /* of a head that is not whole yet */
	uint64_t passed;     /* bytes at the last look, and looks since they grew */
	unsigned quiet;
	void (*idle)(struct conn *conn);
	bool socks;          /* answers are SOCKS's */
	bool dead;
};

/* Takes @fd over. */
void conn_begin(struct worker *worker, int fd);
void conn_end(struct conn *conn);
/* Frees those that have ended. */
void conn_bury(struct worker *worker);
/* Within @seconds, or @late is called. */
void conn_deadline(struct conn *conn, unsigned seconds, void (*late)(struct conn *conn));
/* Once nothing passed either stream for IDLE_MINUTES, @idle is called. */
#define IDLE_MINUTES 10
void conn_watch(struct conn *conn, void (*idle)(struct conn *conn));
/* Opens conn->server on @fd.  False: no memory; the connection has ended. */
bool conn_server(struct conn *conn, int fd);
/* Writes the record, with the bytes so far. */
void conn_record(struct conn *conn);
/* Says no more; takes what the client still sends for a while, since closing with
 * bytes unread would take away what it has not read yet. */
void conn_linger(struct conn *conn);

/* client.c: the first bytes: which protocol, where to? */
void client_begin(struct conn *conn);
/* Has a head, or what was read of one, in conn->client.in; asks for more.  1: @head is
 * parsed; 0: wait; -1: answered and over. */
int client_head(struct conn *conn, struct head *head);

/* tunnel.c: bytes pass as they are; the client waits for its answer. */
void tunnel_begin(struct conn *conn);

/* http.c: requests are read, one by one. */
void http_begin(struct conn *conn, const struct head *first);
void http_begin_tls(struct conn *conn);
void http_count(struct conn *conn); /* into the record */
void http_end(struct conn *conn);

#endif
