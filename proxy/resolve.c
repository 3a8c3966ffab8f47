/*
 * proxy/resolve.c - see resolve.h.
 *
 * A name is asked for as it stands: a search domain would make another name of it
 * than the one that the policy allowed.
 */
#include "proxy/resolve.h"

#include <ares.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SOCKETS 32 /* c-ares has one or two a server */

struct resolver {
	ares_channel channel;
	struct event_base *base;
	struct event *timer;
	struct event *socket[SOCKETS];
	struct timespec changed; /* /etc/resolv.conf, when it was read */
};

struct lookup {
	void (*done)(void *context, const struct lookup_answer *answer);
	void *context;
	bool begun; /* lookup_begin has returned it */
	bool over;
};

static void set_timer(struct resolver *resolver)
{
	struct timeval time, *next = ares_timeout(resolver->channel, NULL, &time);

	if (next)
		evtimer_add(resolver->timer, next);
	else
		evtimer_del(resolver->timer);
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
	struct resolver *resolver = context;

	(void)fd;
	(void)what;
	ares_process_fd(resolver->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	set_timer(resolver);
}

static void on_socket(evutil_socket_t fd, short what, void *context)
{
	struct resolver *resolver = context;

	ares_process_fd(resolver->channel, what & EV_READ ? fd : ARES_SOCKET_BAD,
			what & EV_WRITE ? fd : ARES_SOCKET_BAD);
	set_timer(resolver);
}

/* c-ares wants to hear of a socket, or no more. */
static void on_state(void *context, ares_socket_t fd, int readable, int writable)
{
	struct resolver *resolver = context;
	short what = (short)((readable ? EV_READ : 0) | (writable ? EV_WRITE : 0));
	struct event **slot = NULL;

	for (size_t i = 0; i < SOCKETS; i++) {
		struct event *event = resolver->socket[i];

		if (event && event_get_fd(event) == fd) {
			event_free(event);
			resolver->socket[i] = event = NULL;
		}
		if (!event && !slot)
			slot = &resolver->socket[i];
	}
	if (!what || !slot)
		return;
	*slot = event_new(resolver->base, fd, (short)(what | EV_PERSIST), on_socket, resolver);
	if (*slot)
		event_add(*slot, NULL);
}

static bool open_channel(struct resolver *resolver, ares_channel *out)
{
	struct ares_options options = { .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
					.timeout = 1500,
					.tries = 3,
					.ndomains = 0,
					.sock_state_cb = on_state,
					.sock_state_cb_data = resolver };
	return ares_init_options(out, &options,
				 ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
					 ARES_OPT_DOMAINS | ARES_OPT_SOCK_STATE_CB) == ARES_SUCCESS;
}

/* A machine that moved to another network has other servers.  Questions on their way
 * are given up: who asked them gets an error. */
static void follow_changes(struct resolver *resolver)
{
	ares_channel fresh;
	struct stat status;

	if (stat("/etc/resolv.conf", &status) ||
	    (status.st_mtim.tv_sec == resolver->changed.tv_sec &&
	     status.st_mtim.tv_nsec == resolver->changed.tv_nsec))
		return;
	resolver->changed = status.st_mtim;
	if (!resolver->channel) {
		open_channel(resolver, &resolver->channel);
	} else if (open_channel(resolver, &fresh)) {
		ares_destroy(resolver->channel);
		resolver->channel = fresh;
	}
}

struct resolver *resolver_make(struct event_base *base)
{
	struct resolver *resolver = calloc(1, sizeof(*resolver));

	if (!resolver)
		return NULL;
	resolver->base = base;
	resolver->timer = evtimer_new(base, on_timer, resolver);
	if (!resolver->timer || ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS) {
		free(resolver);
		return NULL;
	}
	follow_changes(resolver);
	if (!resolver->channel)
		open_channel(resolver, &resolver->channel);
	return resolver;
}

void resolver_free(struct resolver *resolver)
{
	if (!resolver)
		return;
	if (resolver->channel)
		ares_destroy(resolver->channel);
	event_free(resolver->timer);
	free(resolver);
}

static void take_addresses(const struct ares_addrinfo *info, struct lookup_answer *answer)
{
	for (const struct ares_addrinfo_node *node = info->nodes; node; node = node->ai_next) {
		uint8_t *out = answer->address[answer->count];

		if (answer->count == LOOKUP_MAX)
			return;
		if (node->ai_family == AF_INET) {
			memcpy(out, (const uint8_t[12]){ [10] = 0xff, [11] = 0xff }, 12);
			memcpy(out + 12, &((const struct sockaddr_in *)(const void *)node->ai_addr)->sin_addr, 4);
			answer->count++;
		} else if (node->ai_family == AF_INET6) {
			memcpy(out, &((const struct sockaddr_in6 *)(const void *)node->ai_addr)->sin6_addr, 16);
			answer->count++;
		}
	}
}

static void on_answer(void *context, int status, int timeouts, struct ares_addrinfo *info)
{
	struct lookup *lookup = context;
	struct lookup_answer answer = { 0 };

	(void)timeouts;
	if (status == ARES_SUCCESS && info)
		take_addresses(info, &answer);
	if (info)
		ares_freeaddrinfo(info);
	if (!answer.count) {
		answer.late = status == ARES_ETIMEOUT || status == ARES_ECONNREFUSED;
		answer.wrong = status == ARES_ENOTFOUND || status == ARES_ENODATA ||
					       status == ARES_SUCCESS
				       ? "there is no such name"
			       : status == ARES_ETIMEOUT ? "no answer from the name server"
							 : ares_strerror(status);
	}
	lookup->over = true;
	if (lookup->done)
		lookup->done(lookup->context, &answer);
	if (lookup->begun)
		free(lookup);
}

struct lookup *lookup_begin(struct resolver *resolver, const char *name,
			    void (*done)(void *context, const struct lookup_answer *answer),
			    void *context)
{
	const struct ares_addrinfo_hints hints = { .ai_family = AF_UNSPEC,
						   .ai_socktype = SOCK_STREAM };
	struct lookup *lookup = calloc(1, sizeof(*lookup));

	follow_changes(resolver);
	if (!lookup || !resolver->channel) {
		done(context, &(struct lookup_answer){ .wrong = "/etc/resolv.conf is unreadable" });
		free(lookup);
		return NULL;
	}
	lookup->done = done;
	lookup->context = context;
	ares_getaddrinfo(resolver->channel, name, NULL, &hints, on_answer, lookup);
	set_timer(resolver);
	if (lookup->over) {
		free(lookup);
		return NULL;
	}
	lookup->begun = true;
	return lookup;
}

void lookup_cancel(struct lookup *lookup)
{
	lookup->done = NULL;
}
