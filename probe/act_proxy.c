/*
 * probe/act_proxy.c - what the session's proxy says to a CONNECT.
 *
 * Nothing is sent through the tunnel, should there be one.  A refusal is a 403 and a
 * line of text; a server that is not there (502, 504) is none: the rules have let the
 * request pass by then.
 */
#include "probe/act.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe/protocol.h"

/* Until the proxy closes, or has begun a tunnel, which it would keep open: a status line is all
 * that is wanted of that.  The length, or -1. */
static ssize_t take_answer(int fd, char *answer, size_t size)
{
	size_t have = 0;
	ssize_t got;

	while (have + 1 < size && (got = recv(fd, answer + have, size - 1 - have, 0)) != 0) {
		if (got < 0)
			return -1;
		have += (size_t)got;
		answer[have] = '\0';
		if (have > 12 && !strncmp(answer + 9, "200", 3))
			break;
	}
	answer[have] = '\0';
	return (ssize_t)have;
}

/* "HTTP/1.1 403 sbx: ...": 403; or 0, where it is no such line. */
static unsigned status_of(const char *answer)
{
	unsigned status;

	return sscanf(answer, "HTTP/1.1 %3u ", &status) == 1 ? status : 0;
}

static int judge(const char *answer, char *said, size_t size)
{
	const char *body = strstr(answer, "\r\n\r\n");

	switch (status_of(answer)) {
	case 200:
	case 502:
	case 504:
		return 0;
	case 403:
		snprintf(said, size, "%.*s", body ? (int)strcspn(body + 4, "\n") : 0,
			 body ? body + 4 : "");
		return ACT_REFUSED;
	}
	return EPROTO;
}

static int ask(int fd, const char *target, char *said, size_t size)
{
	char text[2048];
	int length = snprintf(text, sizeof(text), "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target,
			      target);

	if (length < 0 || (size_t)length >= sizeof(text))
		return ENAMETOOLONG;
	if (send(fd, text, (size_t)length, MSG_NOSIGNAL) != length ||
	    take_answer(fd, text, sizeof(text)) < 0)
		return errno;
	return judge(text, said, size);
}

int act_proxy(const char *target, char *said, size_t size)
{
	const struct sockaddr_in proxy = { .sin_family = AF_INET,
					   .sin_port = htons(PROBE_PROXY_PORT),
					   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return errno;
	if (connect(fd, (const void *)&proxy, sizeof(proxy)))
		error = errno;
	else
		error = ask(fd, target, said, size);
	close(fd);
	return error;
}
