/*
 * stub/broker_proxy.c - the way to the proxy where the network is the host's.
 *
 * Inside, the proxy is at 127.0.0.1:3128 on every backend.  Without namespaces that
 * place may be anybody's, so it is only a name: the broker connects the caller's
 * socket to where the proxy really listens.  There every user of the machine could
 * connect, and use the credentials; so the proxy serves no connection but those
 * that were announced to it, by the port that they come from.  The socket is bound
 * first, then announced, then connected, and that port is its alone meanwhile.
 *
 * A source of 127.0.0.1 never leaves the machine, whatever route or device the
 * caller may have chosen for its socket; none but such a one is connected.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stub/broker.h"
#include "stub/broker_call.h"
#include "stub/launch.h"
#include "stub/out.h"

enum {
	IN6_SIZE = 24, /* the least that the kernel takes: RFC 2133 */
	ASKING = 2,    /* states: net/tcp_states.h */
	CLOSED = 7,
	WAIT_MS = 1,
};

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static const uint8_t mapped[12] = { [10] = 0xff, 0xff };

/* 127.0.0.1:@port for a socket of @domain. */
static unsigned loopback(int domain, unsigned port, union address *out)
{
	const uint32_t here = htonl(INADDR_LOOPBACK);

	memset(out, 0, sizeof(*out));
	out->any.sa_family = (sa_family_t)domain;
	out->in.sin_port = htons((uint16_t)port); /* both have it in the same place */
	if (domain == AF_INET) {
		out->in.sin_addr.s_addr = here;
		return sizeof(out->in);
	}
	memcpy(out->in6.sin6_addr.s6_addr, mapped, sizeof(mapped));
	memcpy(out->in6.sin6_addr.s6_addr + sizeof(mapped), &here, sizeof(here));
	return sizeof(out->in6);
}

/* Is @address 127.0.0.1?  *port: its port. */
static bool is_loopback(int domain, const union address *address, unsigned *port)
{
	union address here;

	*port = ntohs(address->in.sin_port);
	loopback(domain, *port, &here);
	return address->any.sa_family == domain &&
	       (domain == AF_INET ? address->in.sin_addr.s_addr == here.in.sin_addr.s_addr
				  : !memcmp(&address->in6.sin6_addr, &here.in6.sin6_addr, 16));
}

static void copy_address(const struct call *call, union address *out)
{
	memset(out, 0, sizeof(*out));
	memcpy(out, call->address.bytes, call->length < sizeof(*out) ? call->length : sizeof(*out));
}

bool call_names_proxy(const struct call *call)
{
	union address address;
	unsigned port;

	copy_address(call, &address);
	return call->length >= (call->domain == AF_INET ? sizeof(address.in) : IN6_SIZE) &&
	       is_loopback(call->domain, &address, &port) && port == SBX_PROXY_PORT;
}

const char *call_address(const struct call *call, char text[static 64])
{
	union address address;
	const uint8_t *at = (const uint8_t *)&address.in.sin_addr;
	unsigned port;

	copy_address(call, &address);
	port = ntohs(address.in.sin_port);
	if (address.any.sa_family == AF_INET6)
		at = address.in6.sin6_addr.s6_addr;
	if (address.any.sa_family == AF_INET6 && memcmp(at, mapped, sizeof(mapped))) {
		size_t length = 0;

		for (size_t i = 0; i < 16; i += 2)
			length += out_text(text + length, 64 - length, "%s%x", i ? ":" : "[",
					   at[i] << 8 | at[i + 1]);
		out_text(text + length, 64 - length, "]:%u", port);
	} else {
		at += address.any.sa_family == AF_INET6 ? sizeof(mapped) : 0;
		out_text(text, 64, "%u.%u.%u.%u:%u", at[0], at[1], at[2], at[3], port);
	}
	return text;
}

static unsigned state_of(int socket)
{
	uint8_t state = 0; /* the first byte of struct tcp_info */
	socklen_t size = sizeof(state);

	return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &state, &size) ? 0 : state;
}

static int option(int socket, int level, int name)
{
	socklen_t size = sizeof(int);
	int value = -1;

	getsockopt(socket, level, name, &value, &size);
	return value;
}

/* The port that it comes from, which nobody can share; 0: it could come from elsewhere. */
static unsigned bind_here(const struct call *call)
{
	static const int off[][2] = {
		{ SOL_SOCKET, SO_REUSEADDR },
		{ SOL_SOCKET, SO_REUSEPORT },
		{ IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT },
		{ IPPROTO_TCP, TCP_FASTOPEN_CONNECT }, /* would connect later, or never */
	};
	union address address;
	socklen_t size = sizeof(address);
	const int zero = 0;
	unsigned port;

	if (option(call->socket, SOL_SOCKET, SO_TYPE) != SOCK_STREAM ||
	    option(call->socket, SOL_SOCKET, SO_PROTOCOL) != IPPROTO_TCP)
		return 0;
	for (size_t i = 0; i < sizeof(off) / sizeof(*off); i++)
		if (setsockopt(call->socket, off[i][0], off[i][1], &zero, sizeof(zero)))
			return 0;
	/* Not asked first: of one that was let go of, the kernel tells the port it had. */
	if (bind(call->socket, &address.any, loopback(call->domain, 0, &address)) &&
	    errno != EINVAL) /* it is bound */
		return 0;
	memset(&address, 0, sizeof(address));
	if (getsockname(call->socket, &address.any, &size))
		return 0;
	return is_loopback(call->domain, &address, &port) ? port : 0;
}

int broker_to_proxy(const struct launch *launch, struct broker *broker, struct call *call)
{
	const struct proxy *proxy = &launch->proxy;
	union address address;
	int error;

	/* Asked again, as one does who did not wait: the kernel knows the answer. */
	if (state_of(call->socket) == CLOSED) {
		call->expected = bind_here(call);
		if (!call->expected)
			return broker_refuse(launch, broker, "the proxy",
					     "from a socket that is no TCP socket of 127.0.0.1");
		error = proxy_expect(proxy, call->expected);
		if (error)
			return error == EAGAIN ? EAGAIN : ECONNREFUSED;
	}
	call->length = loopback(call->domain, proxy->port, &address);
	memcpy(&call->address, &address, call->length);
	return 0;
}

/* What has to wait there has met more than the proxy's queue holds: it does not wait, since
 * the port may become another's before the connection comes. */
int broker_settle(const struct broker *broker, const struct call *call, int error)
{
	static const struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct pollfd fd = { call->socket, POLLOUT, 0 };

	if (!call->expected || !error)
		return error;
	if (error == EINPROGRESS) {
		poll(&fd, 1, WAIT_MS);
		if (state_of(call->socket) == ASKING) {
			connect(call->socket, &none, sizeof(none));
			error = EAGAIN;
		} else if (state_of(call->socket) != CLOSED) {
			return error;
		}
	}
	proxy_forget(broker->proxy, call->expected);
	return error;
}

int broker_listen(const struct launch *launch, struct broker *broker, const struct call *call,
		  int backlog)
{
	const struct plan *plan = &launch->plan;
	union address address = { 0 };
	socklen_t size = sizeof(address);
	bool known = call->domain != AF_INET && call->domain != AF_INET6;

	if (!known && !getsockname(call->socket, &address.any, &size))
		for (size_t i = 0; i < plan->ports.count; i++)
			known |= plan->ports.items[i] == ntohs(address.in.sin_port);
	if (!known)
		return broker_refuse(launch, broker, "to listen", "no `listen` names the port");
	return listen(call->socket, backlog) ? errno : 0;
}
