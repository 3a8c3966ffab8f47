/*
 * proxy/target.c - where a request goes: host, port and path of its target.
 *
 * The host is kept as the policy and the resolver read it: lower case, without
 * brackets and final dot.  What it may be made of is the verdict functions' to
 * say; here nothing passes that could end a C string early or hide a second
 * host (userinfo, blanks, control bytes).
 */
#include "proxy/head.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

static bool parse_port(struct span text, uint16_t *port)
{
	unsigned value = 0;

	if (!text.size || text.size > 5)
		return false;
	for (size_t i = 0; i < text.size; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
		value = value * 10 + (unsigned)(text.at[i] - '0');
	}
	*port = (uint16_t)value;
	return value && value <= UINT16_MAX;
}

static bool host_byte(unsigned char c, bool brackets)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '-' || c == '.' || c == '_' || (brackets && c == ':');
}

bool head_authority(struct span text, char host[TARGET_HOST], uint16_t *port)
{
	bool brackets = text.size && *text.at == '[';
	const char *end = text.at + text.size;
	const char *stop = memchr(text.at, brackets ? ']' : ':', text.size);
	const char *from = text.at + brackets;
	size_t length;

	*port = 0;
	if (brackets && !stop)
		return false;
	length = (size_t)((stop ? stop : end) - from);
	if (length > 1 && !brackets && from[length - 1] == '.')
		length--;
	if (!length || length >= TARGET_HOST || from[length - 1] == '.')
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!host_byte((unsigned char)from[i], brackets))
			return false;
		host[i] = (char)(from[i] >= 'A' && from[i] <= 'Z' ? from[i] | 0x20 : from[i]);
	}
	host[length] = '\0';
	if (brackets && inet_pton(AF_INET6, host, &(struct in6_addr){ 0 }) != 1)
		return false;
	if (brackets)
		stop = stop + 1 < end ? stop + 1 : NULL;
	return !stop || (*stop == ':' &&
			 parse_port((struct span){ stop + 1, (size_t)(end - stop - 1) }, port));
}

static bool parse_absolute(struct span target, struct target *out)
{
	size_t scheme = !strncasecmp(target.at, "http://", target.size < 7 ? target.size : 7)
				? 7
				: 8;
	struct span authority;
	size_t length = 0;

	out->secure = scheme == 8;
	if (target.size <= scheme ||
	    strncasecmp(target.at, out->secure ? "https://" : "http://", scheme))
		return false;
	authority.at = target.at + scheme;
	while (scheme + length < target.size && !memchr("/?#", authority.at[length], 3))
		length++;
	authority.size = length;
	if (!head_authority(authority, out->host, &out->port))
		return false;
	if (!out->port)
		out->port = out->secure ? 443 : 80;
	out->form = TARGET_ABSOLUTE;
	out->path = (struct span){ authority.at + length, target.size - scheme - length };
	if (!out->path.size)
		out->path = (struct span){ "/", 1 };
	return *out->path.at == '/'; /* "http://host?query" has two readings */
}

bool head_target(const struct head *head, struct target *out)
{
	struct span target = head->target;

	*out = (struct target){ .path = { "", 0 } };
	if (span_is(head->method, "CONNECT")) {
		out->form = TARGET_AUTHORITY;
		return head_authority(target, out->host, &out->port) && out->port;
	}
	if (memchr(target.at, '#', target.size))
		return false; /* a fragment never travels */
	if (*target.at == '/') {
		out->form = TARGET_ORIGIN;
		out->path = target;
		return true;
	}
	if (span_is(target, "*")) {
		out->form = TARGET_ASTERISK;
		out->path = target;
		return span_is(head->method, "OPTIONS");
	}
	return parse_absolute(target, out);
}
