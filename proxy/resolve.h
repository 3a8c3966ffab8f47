/*
 * proxy/resolve.h - names to addresses, by c-ares on the event loop.
 */
#ifndef SBX_PROXY_RESOLVE_H
#define SBX_PROXY_RESOLVE_H

#include <event2/event.h>
#include <stddef.h>
#include <stdint.h>

struct resolver;
struct lookup;

/* Reads /etc/resolv.conf; NULL: no memory. */
struct resolver *resolver_make(struct event_base *base);
void resolver_free(struct resolver *resolver);

#define LOOKUP_MAX 16
struct lookup_answer {
	uint8_t address[LOOKUP_MAX][16]; /* IPv4 as ::ffff: */
	size_t count;
	const char *wrong; /* @count is 0: why */
	int late;          /* because nobody answered */
};
/* Calls @done, maybe at once and then returns NULL; no search domains, no aliases. */
struct lookup *lookup_begin(struct resolver *resolver, const char *name,
			    void (*done)(void *context, const struct lookup_answer *answer),
			    void *context);
/* @done is not called any more. */
void lookup_cancel(struct lookup *lookup);

#endif
