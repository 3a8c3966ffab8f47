/*
 * proxy/dial.h - from a host to a connected socket.
 *
 * A name is resolved once in a connection's life, after the name gate allowed it.
 * Each address passes the address gate; those that do are dialled in turn, so what
 * was checked is what is spoken to.
 */
#ifndef SBX_PROXY_DIAL_H
#define SBX_PROXY_DIAL_H

#include "proxy/conn.h"

enum dial_result {
	DIAL_DONE,
	DIAL_REFUSED,    /* by the address gate: @rule */
	DIAL_UNKNOWN,    /* no such name, no answer */
	DIAL_UNREACHED,  /* no address answers; @text */
	DIAL_LATE,
};
struct dial_outcome {
	enum dial_result result;
	int fd;
	uint32_t rule;
	const char *text;
};
/* Calls @done, maybe at once.  A dial of the same host and port before it on this
 * connection leaves its addresses, which are dialled again. */
void dial_begin(struct conn *conn, void (*done)(struct conn *conn, const struct dial_outcome *));
/* Nothing is called any more; everything is freed. */
void dial_end(struct conn *conn);
/* The address dialled last, IPv4 as ::ffff:; and into the record, which may be that of
 * a later request. */
const uint8_t *dial_address(const struct conn *conn);
void dial_name(struct conn *conn);

#endif
