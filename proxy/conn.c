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

void conn_end(struct conn *conn)
{
	struct worker *worker = conn->worker;

	if (conn->dead)
		return;
	conn->dead = true;
	if (conn->http)
		http_end(conn);
	dial_end(conn);
	record_write(worker->session, &conn->record);
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

bool conn_server(struct conn *conn, int fd)
{
	if (!stream_open(&conn->server, conn->worker->base, fd, step, conn))
		return true;
	conn_end(conn);
	return false;
}

static void lingering(struct conn *conn)
{
	const uint8_t *data;
	ssize_t got;

	do
		got = stream_read(&conn->client, &data);
	while (got > 0 && conn->client.received < LINGER_BYTES);
	if (got == STREAM_WAIT)
		return;
	conn_end(conn);
}

void conn_linger(struct conn *conn)
{
	if (conn->dead)
		return;
	record_write(conn->worker->session, &conn->record);
	stream_close(&conn->server);
	stream_shut(&conn->client);
	conn->client.received = 0;
	conn->stage = lingering;
	conn_deadline(conn, LINGER_SECONDS, conn_end);
	stream_listen(&conn->client, true);
	stream_again(&conn->client);
}
