/*
 * proxy/listen.c - see listen.h.
 *
 * Where the socket listens on the host's own loopback, each local user can connect
 * to it.  Then sbx-exec announces the port of each connection before the program
 * may make it; one that was not announced is dropped, unread.  Since a connection
 * that is there was announced before, it is accepted first and the messages are
 * read then: none can be missed.
 */
#include "proxy/listen.h"

#include "blob/proxy_wire.h"
#include "helper/control.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH 64 /* connections before others have their turn */

struct listener {
	struct worker *worker;
	struct event *control, *incoming, *pause;
	int fd; /* -1: none yet */
	bool announced_only;
	uint8_t expected[65536 / 8]; /* one bit a port */
};

static void expect(struct listener *listener, int32_t port, bool on)
{
	if (port <= 0 || port > UINT16_MAX)
		return;
	if (on)
		listener->expected[port / 8] |= (uint8_t)(1u << port % 8);
	else
		listener->expected[port / 8] &= (uint8_t)~(1u << port % 8);
}

static void on_incoming(evutil_socket_t fd, short what, void *context);

static void take_socket(struct listener *listener, int fd, int32_t value)
{
	int flags = fcntl(fd, F_GETFL);

	if (fd < 0 || listener->fd >= 0 || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	listener->fd = fd;
	listener->announced_only = value == PROXY_EXPECTED;
	listener->incoming = event_new(listener->worker->base, fd, EV_READ | EV_PERSIST,
				       on_incoming, listener);
	if (listener->incoming)
		event_add(listener->incoming, NULL);
}

static void read_control(struct listener *listener)
{
	struct helper_message message;
	int fds[HELPER_FDS];
	enum control_result result;

	while ((result = control_receive(false, &message, fds)) == CONTROL_GOT) {
		if (message.kind == HELPER_LISTEN)
			take_socket(listener, fds[0], message.value);
		else if (fds[0] >= 0)
			close(fds[0]);
		for (int i = 1; i < HELPER_FDS; i++)
			if (fds[i] >= 0)
				close(fds[i]);
		if (message.kind == PROXY_EXPECT || message.kind == PROXY_FORGET)
			expect(listener, message.value, message.kind == PROXY_EXPECT);
	}
	if (result == CONTROL_CLOSED)
		event_base_loopbreak(listener->worker->base);
}

static void on_control(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	read_control(context);
}

/* The program's own, or of someone else's who found the port? */
static bool was_announced(struct listener *listener, const struct sockaddr_in *peer)
{
	unsigned port = ntohs(peer->sin_port);

	read_control(listener);
	if (peer->sin_family != AF_INET || peer->sin_addr.s_addr != htonl(INADDR_LOOPBACK) ||
	    !(listener->expected[port / 8] & 1u << port % 8))
		return false;
	expect(listener, (int32_t)port, false);
	return true;
}

static void refuse_for_number(int fd)
{
	static const char text[] = "HTTP/1.1 503 sbx: too many connections at the moment\r\n"
				   "Content-Type: text/plain\r\n"
				   "Connection: close\r\nContent-Length: 40\r\n\r\n"
				   "sbx: too many connections at the moment\n";

	send(fd, text, sizeof(text) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

static void on_pause_over(evutil_socket_t fd, short what, void *context)
{
	struct listener *listener = context;

	(void)fd;
	(void)what;
	event_add(listener->incoming, NULL);
}

/* Out of descriptors or memory: the event would come again at once. */
static void pause_a_while(struct listener *listener)
{
	struct timeval time = { .tv_usec = 100000 };

	event_del(listener->incoming);
	evtimer_add(listener->pause, &time);
}

static void on_incoming(evutil_socket_t fd, short what, void *context)
{
	struct listener *listener = context;
	struct worker *worker = listener->worker;

	(void)what;
	for (int i = 0; i < BATCH; i++) {
		union {
			struct sockaddr any;
			struct sockaddr_in four;
			struct sockaddr_storage room;
		} peer = { 0 };
		socklen_t size = sizeof(peer);
		int client = accept4(fd, &peer.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (client < 0) {
			if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
				pause_a_while(listener);
			return;
		}
		if (listener->announced_only && !was_announced(listener, &peer.four))
			close(client);
		else if (worker->count >= worker->limit)
			refuse_for_number(client);
		else
			conn_begin(worker, client);
	}
}

struct listener *listen_begin(struct worker *worker)
{
	struct listener *listener = calloc(1, sizeof(*listener));

	if (!listener)
		return NULL;
	listener->worker = worker;
	listener->fd = -1;
	listener->pause = evtimer_new(worker->base, on_pause_over, listener);
	listener->control = event_new(worker->base, SBX_HELPER_WIRE_FD, EV_READ | EV_PERSIST,
				      on_control, listener);
	if (!listener->control || !listener->pause || event_add(listener->control, NULL)) {
		listen_end(listener);
		return NULL;
	}
	return listener;
}

void listen_end(struct listener *listener)
{
	struct event *events[] = { listener->control, listener->incoming, listener->pause };

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i])
			event_free(events[i]);
	if (listener->fd >= 0)
		close(listener->fd);
	free(listener);
}
