/*
 * proxy/hello.h - the ClientHello at the beginning of a tunnel.
 *
 * Bytes that pass unread can go to another host than the one that was allowed:
 * a server in front of many takes the name from the ClientHello.  So a tunnel
 * begins by reading it: the name must be the one of the CONNECT.
 *
 * Stricter than servers are: what two readers could take for two names (an
 * extension twice, a list of names, bytes left over) is broken, not guessed at.
 */
#ifndef SBX_PROXY_HELLO_H
#define SBX_PROXY_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one ClientHello; a post-quantum one has 2,000 bytes. */
#define HELLO_MAX     16384
#define HELLO_RECORDS 64

enum hello_state {
	HELLO_MORE,   /* nothing wrong so far: ask again with all bytes there are by then; never
		       * with more than HELLO_MAX and 5 a record */
	HELLO_OTHER,  /* no TLS */
	HELLO_BROKEN, /* it begins like TLS; @why says what is wrong */
	HELLO_FOUND,
};

struct hello {
	char name[256]; /* server_name, as sent; "": none */
	bool alpn;      /* protocols are offered: */
	bool http11, http2;
	const char *why;
};

/* @data: all bytes of the client's since the CONNECT.  Nothing is consumed. */
enum hello_state hello_read(const uint8_t *data, size_t size, struct hello *hello);

/*
 * May a tunnel to @host (as in the CONNECT: a name, or a literal address with or
 * without brackets) begin like this?  NULL: it may; else why it may not, a part of
 * a sentence.  @state is not HELLO_MORE, unless the client sends no more.
 * On port 443 there is nothing but TLS with this name; on others what is not TLS
 * passes, and TLS without a name.
 */
const char *hello_objection(enum hello_state state, const struct hello *hello, const char *host,
			    unsigned port);

#endif
