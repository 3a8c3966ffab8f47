/*
 * proxy/socks.c - see socks.h.
 *
 * A name comes with its length and may hold any byte: head_authority takes the
 * bytes of host names alone, so no NUL makes the policy read another name than the
 * resolver.
 */
#include "proxy/socks.h"

#include "proxy/conn.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum socks_address { SOCKS_IPV4 = 1, SOCKS_NAME = 3, SOCKS_IPV6 = 4 };
#define SOCKS_CONNECT 1

int socks_greeting(const uint8_t *data, size_t size, size_t *used, enum socks_code *code)
{
	*code = SOCKS_NO_METHOD;
	if (size && data[0] != SOCKS_VERSION)
		return -1;
	if (size < 2 || size < 2u + data[1])
		return 0;
	*used = 2u + data[1];
	return memchr(data + 2, 0, data[1]) ? 1 : -1; /* 0: no authentication */
}

static bool read_host(uint8_t type, const uint8_t *at, size_t length, struct target *target)
{
	uint16_t port;

	if (type == SOCKS_NAME)
		return head_authority((struct span){ (const char *)at, length }, target->host,
				      &port) &&
		       !port;
	return inet_ntop(type == SOCKS_IPV4 ? AF_INET : AF_INET6, at, target->host,
			 sizeof(target->host)) != NULL;
}

int socks_request(const uint8_t *data, size_t size, size_t *used, struct target *target,
		  enum socks_code *code)
{
	size_t at = 4, length;

	*code = SOCKS_FAILURE;
	*target = (struct target){ .form = TARGET_AUTHORITY, .path = { "", 0 } };
	if ((size > 0 && data[0] != SOCKS_VERSION) || (size > 2 && data[2]))
		return -1;
	if (size < 5)
		return 0;
	switch (data[3]) {
	case SOCKS_IPV4:
		length = 4;
		break;
	case SOCKS_IPV6:
		length = 16;
		break;
	case SOCKS_NAME:
		length = data[at++];
		break;
	default:
		*code = SOCKS_NO_SUCH_ADDRESS;
		return -1;
	}
	if (size < at + length + 2)
		return 0;
	*used = at + length + 2;
	target->port = (uint16_t)(data[at + length] << 8 | data[at + length + 1]);
	if (data[1] != SOCKS_CONNECT) {
		*code = SOCKS_NO_SUCH_COMMAND;
		return -1;
	}
	return target->port && read_host(data[3], data + at, length, target) ? 1 : -1;
}

void socks_answer(struct conn *conn, enum socks_code code)
{
	const uint8_t answer[10] = { SOCKS_VERSION, (uint8_t)code, 0, SOCKS_IPV4 };

	stream_write(&conn->client, answer, sizeof(answer));
}
