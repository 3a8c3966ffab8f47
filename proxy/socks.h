/*
 * proxy/socks.h - SOCKS5 (RFC 1928): CONNECT, without authentication.
 */
#ifndef SBX_PROXY_SOCKS_H
#define SBX_PROXY_SOCKS_H

#include "proxy/head.h"

struct conn;

#define SOCKS_VERSION 5
enum socks_code {
	SOCKS_GRANTED = 0,
	SOCKS_FAILURE = 1,
	SOCKS_NOT_ALLOWED = 2,
	SOCKS_UNREACHABLE = 4,
	SOCKS_TIMED_OUT = 6,       /* "TTL expired": the nearest there is */
	SOCKS_NO_SUCH_COMMAND = 7,
	SOCKS_NO_SUCH_ADDRESS = 8, /* a type of address that is not known */
	SOCKS_NO_METHOD = 0xff,
};

/*
 * Pure: the greeting and the request at the beginning of @data.  1: it is whole and
 * has *used bytes; 0: more is needed; -1: *code says why not.
 */
int socks_greeting(const uint8_t *data, size_t size, size_t *used, enum socks_code *code);
int socks_request(const uint8_t *data, size_t size, size_t *used, struct target *target,
		  enum socks_code *code);

/* To a request: it is granted, or why not. */
void socks_answer(struct conn *conn, enum socks_code code);

#endif
