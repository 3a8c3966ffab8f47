/*
 * proxy/dial.c - see dial.h.
 */
#include "proxy/dial.h"

#include "blob/match.h"
#include "proxy/resolve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DIAL_SECONDS 10 /* for the last address there is */
#define TURN_SECONDS 3  /* where there is another one */

struct dial {
	struct conn *conn;
	void (*done)(struct conn *conn, const struct dial_outcome *outcome);
	char host[TARGET_HOST];
	uint16_t port;
	struct lookup *lookup;
	uint8_t address[LOOKUP_MAX][16]; /* that passed the gate */
	size_t count, next;
	int fd;
	struct event *connected;
	int error; /* of the last address that failed */
	char text[200];
};

static void next_address(struct dial *dial);

static void finish(struct dial *dial, enum dial_result result, uint32_t rule)
{
	struct dial_outcome outcome = { result, dial->fd, rule, dial->text };

	dial->fd = -1;
	dial->done(dial->conn, &outcome);
}

static const uint8_t *current(const struct dial *dial)
{
	return dial->address[dial->next - 1];
}

static socklen_t socket_address(const struct dial *dial, struct sockaddr_storage *out)
{
	const uint8_t *address = current(dial);

	memset(out, 0, sizeof(*out));
	if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)address)) {
		struct sockaddr_in *four = (struct sockaddr_in *)out;

		four->sin_family = AF_INET;
		four->sin_port = htons(dial->port);
		memcpy(&four->sin_addr, address + 12, 4);
		return sizeof(*four);
	}
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;

	six->sin6_family = AF_INET6;
	six->sin6_port = htons(dial->port);
	memcpy(&six->sin6_addr, address, 16);
	return sizeof(*six);
}

static void drop_socket(struct dial *dial)
{
	if (dial->connected)
		event_free(dial->connected);
	if (dial->fd >= 0)
		close(dial->fd);
	dial->connected = NULL;
	dial->fd = -1;
}

static void name_address(struct record *record, const uint8_t *address)
{
	if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)address))
		inet_ntop(AF_INET, address + 12, record->address, sizeof(record->address));
	else
		inet_ntop(AF_INET6, address, record->address, sizeof(record->address));
}

static void on_connected(evutil_socket_t fd, short what, void *context)
{
	struct dial *dial = context;
	socklen_t size = sizeof(dial->error);

	dial->error = ETIMEDOUT;
	if (what & EV_WRITE)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &dial->error, &size);
	event_free(dial->connected);
	dial->connected = NULL;
	if (dial->error) {
		drop_socket(dial);
		next_address(dial);
		return;
	}
	finish(dial, DIAL_DONE, SBX_NONE);
}

/* False: the address is not for us, such as IPv6 without a route. */
static bool try_address(struct dial *dial)
{
	struct timeval limit = { .tv_sec = dial->next < dial->count ? TURN_SECONDS : DIAL_SECONDS };
	struct sockaddr_storage address;
	socklen_t size = socket_address(dial, &address);

	dial->fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (dial->fd >= 0 &&
	    (!connect(dial->fd, (struct sockaddr *)&address, size) || errno == EINPROGRESS)) {
		dial->connected = event_new(dial->conn->worker->base, dial->fd, EV_WRITE,
					    on_connected, dial);
		errno = ENOMEM;
		if (dial->connected && !event_add(dial->connected, &limit))
			return true;
	}
	dial->error = errno;
	drop_socket(dial);
	return false;
}

static void next_address(struct dial *dial)
{
	while (dial->next < dial->count) {
		dial->next++;
		name_address(&dial->conn->record, current(dial));
		if (try_address(dial))
			return;
	}
	if (dial->error == ETIMEDOUT) {
		snprintf(dial->text, sizeof(dial->text),
			 "no answer within %u seconds: it is asked directly, by no other proxy",
			 DIAL_SECONDS);
		finish(dial, DIAL_LATE, SBX_NONE);
		return;
	}
	snprintf(dial->text, sizeof(dial->text), "cannot connect: %s", strerror(dial->error));
	finish(dial, DIAL_UNREACHED, SBX_NONE);
}

static void take(struct dial *dial, const struct lookup_answer *answer)
{
	struct sbx_net_verdict verdict = { false, SBX_NONE };
	uint32_t refusing = SBX_NONE;

	for (size_t i = 0; i < answer->count; i++) {
		sbx_net_decide_address(&dial->conn->worker->session->blob, dial->host,
				       answer->address[i], dial->port, &verdict);
		if (verdict.allowed)
			memcpy(dial->address[dial->count++], answer->address[i], 16);
		else
			refusing = verdict.rule;
	}
	if (!answer->count) {
		snprintf(dial->text, sizeof(dial->text), "%s", answer->wrong);
		finish(dial, answer->late ? DIAL_LATE : DIAL_UNKNOWN, SBX_NONE);
	} else if (!dial->count) {
		finish(dial, DIAL_REFUSED, refusing);
	} else {
		next_address(dial);
	}
}

static void resolved(void *context, const struct lookup_answer *answer)
{
	struct dial *dial = context;

	dial->lookup = NULL;
	take(dial, answer);
}

static struct dial *make(struct conn *conn)
{
	struct dial *dial = calloc(1, sizeof(*dial));

	if (!dial)
		return NULL;
	dial->conn = conn;
	dial->fd = -1;
	dial->port = conn->target.port;
	memcpy(dial->host, conn->target.host, sizeof(dial->host));
	return dial;
}

void dial_begin(struct conn *conn, void (*done)(struct conn *conn, const struct dial_outcome *))
{
	struct dial *dial = conn->dial;
	struct lookup_answer literal = { .count = 1 };
	struct lookup *lookup;

	if (dial && dial->count && dial->port == conn->target.port &&
	    !strcmp(dial->host, conn->target.host)) {
		dial->done = done;
		dial->next = 0;
		next_address(dial);
		return;
	}
	dial_end(conn);
	conn->dial = dial = make(conn);
	if (!dial) {
		conn_end(conn);
		return;
	}
	dial->done = done;
	if (sbx_host_kind(dial->host, literal.address[0]) == SBX_HOST_ADDRESS) {
		take(dial, &literal);
		return;
	}
	lookup = lookup_begin(conn->worker->resolver, dial->host, resolved, dial);
	if (lookup) /* else it is answered, and @dial may be gone */
		dial->lookup = lookup;
}

void dial_end(struct conn *conn)
{
	struct dial *dial = conn->dial;

	if (!dial)
		return;
	if (dial->lookup)
		lookup_cancel(dial->lookup);
	drop_socket(dial);
	free(dial);
	conn->dial = NULL;
}

void dial_name(struct conn *conn)
{
	const uint8_t *address = dial_address(conn);

	if (address)
		name_address(&conn->record, address);
}

const uint8_t *dial_address(const struct conn *conn)
{
	return conn->dial && conn->dial->next ? current(conn->dial) : NULL;
}
