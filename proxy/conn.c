/*
 * proxy/conn.c - see conn.h.
 */
#include "proxy/conn.h"

#include "proxy/dial.h"

#include <stdlib.h>
#include <unistd.h>

#define LINGER_SECONDS 3
#define LINGER_BYTES (1u << 20)

static void step(void *owner)
{
	struct conn *conn = owner;

	if (!conn->dead)
		conn->stage(conn);
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
	struct conn *conn = context;

	(void)fd;
	(void)what;
	if (!conn->dead)
		conn->late(conn);
}

void conn_begin(struct worker *worker, int fd)
{
	struct conn *conn = calloc(1, sizeof(*conn));

	if (!conn) {
		close(fd);
		return;
	}
	conn->worker = worker;
	conn->server.fd = -1;
	conn->next = worker->conns;
	conn->link = &worker->conns;
	if (conn->next)
		conn->next->link = &conn->next;
	worker->conns = conn;
	worker->count++;
	conn->timer = evtimer_new(worker->base, on_timer, conn);
	if (stream_open(&conn->client, worker->base, fd, step, conn) || !conn->timer) {
		conn_end(conn);
		return;
	}
	client_begin(conn);
}

void conn_record(struct conn *conn)
{
	if (conn->http) {
		http_count(conn);
	} else {
		conn->record.sent = conn->server.sent;
		conn->record.received = conn->server.received;
	}
	tally_count(&conn->worker->tally, &conn->record);
	record_write(conn->worker->session, &conn->record);
}

void conn_end(struct conn *conn)
{
	struct worker *worker = conn->worker;

	if (conn->dead)
		return;
	conn->dead = true;
	conn_record(conn);
	if (conn->http)
		http_end(conn);
	dial_end(conn);
	stream_close(&conn->client);
	stream_close(&conn->server);
	if (conn->timer)
		event_free(conn->timer);
	*conn->link = conn->next;
	if (conn->next)
		conn->next->link = conn->link;
	worker->count--;
	conn->next = worker->ended;
	worker->ended = conn;
}

void conn_bury(struct worker *worker)
{
	while (worker->ended) {
		struct conn *conn = worker->ended;

		worker->ended = conn->next;
		free(conn);
	}
}

void conn_deadline(struct conn *conn, unsigned seconds, void (*late)(struct conn *conn))
{
	struct timeval time = { .tv_sec = seconds };

	if (conn->dead)
		return;
	conn->late = late;
	evtimer_add(conn->timer, &time);
}

/* The counters tell whether anything passed since the last look. */
static void look(struct conn *conn)
{
	uint64_t passed = conn->client.received + conn->client.sent + conn->server.received +
			  conn->server.sent;

	conn->quiet = passed == conn->passed ? conn->quiet + 1 : 0;
	conn->passed = passed;
	if (conn->quiet < IDLE_MINUTES)
		conn_deadline(conn, 60, look);
	else
		conn->idle(conn);
}

void conn_watch(struct conn *conn, void (*idle)(struct conn *conn))
{
	conn->quiet = 0;
	conn->idle = idle;
	conn_deadline(conn, 60, look);
}

bool conn_server(struct conn *conn, int fd)
{
	if (!stream_open(&conn->server, conn->worker->base, fd, step, conn))
		return true;
	conn_end(conn);
	return false;
}

static void lingering(struct conn *conn)
{
	uint8_t *data;
	ssize_t got;

	if (stream_backed(&conn->client))
		return; /* first it has to take what is said; conn_watch sees to it */
	if (conn->late != conn_end) {
		conn_deadline(conn, LINGER_SECONDS, conn_end);
		stream_listen(&conn->client, true);
	}
	do
		got = stream_read(&conn->client, &data);
	while (got > 0 && conn->client.received < LINGER_BYTES);
	if (got != STREAM_WAIT)
		conn_end(conn);
}

void conn_linger(struct conn *conn)
{
	if (conn->dead)
		return;
	conn_record(conn);
	stream_close(&conn->server);
	stream_shut(&conn->client);
	stream_listen(&conn->client, false);
	conn->client.received = 0;
	conn->stage = lingering;
	conn_watch(conn, conn_end);
	stream_again(&conn->client);
}
