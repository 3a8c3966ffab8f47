/*
 * proxy/hello.c - reads the ClientHello (RFC 8446 4.1.2, RFC 6066 3), and nothing else of TLS.
 *
 * The handshake message may be cut over several records (RFC 8446 5.1) and these over any
 * number of reads.  So the records' contents are put together first, in a buffer of their
 * own, as far as they are there; then the message is walked with a cursor that knows its
 * end: each length that leads past it makes the cursor bad for good.
 */
#include "proxy/hello.h"

#include <string.h>
#include <strings.h>

#include "blob/match.h"

#define RECORD_HANDSHAKE 22
#define RECORD_HEAD      5
#define RECORD_MAX       16384 /* RFC 8446 5.1 */
#define CLIENT_HELLO     1
#define MESSAGE_HEAD     4

enum { /* www.iana.org/assignments/tls-extensiontype-values */
       EXTENSION_NAME = 0,
       EXTENSION_ALPN = 16,
       EXTENSION_ECH = 0xfe0d,
};

struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static struct cursor take(struct cursor *from, size_t size)
{
	struct cursor part = { from->at, from->at, true };

	if (from->bad || (size_t)(from->end - from->at) < size) {
		from->bad = true;
		return part;
	}
	from->at += size;
	return (struct cursor){ part.at, from->at, false };
}

static uint32_t number(struct cursor *from, size_t bytes)
{
	struct cursor digits = take(from, bytes);
	uint32_t value = 0;

	for (; digits.at < digits.end; digits.at++)
		value = value << 8 | *digits.at;
	return value;
}

/* What stands behind a length of @bytes bytes. */
static struct cursor vector(struct cursor *from, size_t bytes)
{
	return take(from, number(from, bytes));
}

static bool at_end(const struct cursor *cursor)
{
	return !cursor->bad && cursor->at == cursor->end;
}

static enum hello_state broken(struct hello *hello, const char *why)
{
	hello->why = why;
	return HELLO_BROKEN;
}

/* One entry, a host_name, of letters that a name may have: else a server might stop
 * at a byte where we do not. */
static bool read_name(struct cursor body, struct hello *hello)
{
	struct cursor list = vector(&body, 2), name;
	uint8_t address[16];
	size_t size;

	if (!at_end(&body) || number(&list, 1) != 0)
		return false;
	name = vector(&list, 2);
	if (!at_end(&list) || name.bad)
		return false;
	size = (size_t)(name.end - name.at);
	if (size >= sizeof(hello->name) || memchr(name.at, '\0', size))
		return false;
	memcpy(hello->name, name.at, size);
	hello->name[size] = '\0';
	return sbx_host_kind(hello->name, address) != SBX_HOST_BAD;
}

static bool read_protocols(struct cursor body, struct hello *hello)
{
	struct cursor list = vector(&body, 2);

	hello->alpn = true;
	while (!list.bad && list.at < list.end) {
		struct cursor name = vector(&list, 1);
		size_t size = (size_t)(name.end - name.at);

		if (!size)
			return false;
		hello->http11 |= size == 8 && !memcmp(name.at, "http/1.1", size);
		hello->http2 |= size == 2 && !memcmp(name.at, "h2", size);
	}
	return at_end(&list) && at_end(&body);
}

/* Each at most once: which of two counts is the server's choice. */
static bool twice(struct cursor extensions, const uint8_t *before, uint32_t type)
{
	while (extensions.at < before) {
		if (number(&extensions, 2) == type)
			return true;
		vector(&extensions, 2);
	}
	return false;
}

static enum hello_state read_extensions(struct cursor extensions, struct hello *hello)
{
	const struct cursor all = extensions;

	while (!extensions.bad && extensions.at < extensions.end) {
		const uint8_t *start = extensions.at;
		uint32_t type = number(&extensions, 2);
		struct cursor body = vector(&extensions, 2);

		if (extensions.bad)
			break;
		if (type != EXTENSION_NAME && type != EXTENSION_ALPN && type != EXTENSION_ECH)
			continue;
		if (twice(all, start, type))
			return broken(hello, "an extension twice");
		if (type == EXTENSION_NAME && !read_name(body, hello))
			return broken(hello, "a server_name that is none");
		if (type == EXTENSION_ALPN && !read_protocols(body, hello))
			return broken(hello, "a list of protocols that is none");
	}
	return extensions.bad ? broken(hello, "extensions that do not fit") : HELLO_FOUND;
}

static enum hello_state read_message(struct cursor message, struct hello *hello)
{
	struct cursor extensions;

	take(&message, 2 + 32); /* version, random */
	vector(&message, 1);    /* session */
	vector(&message, 2);    /* ciphers */
	vector(&message, 1);    /* compression */
	if (at_end(&message))
		return HELLO_FOUND; /* as before TLS 1.2 */
	extensions = vector(&message, 2);
	if (!at_end(&message))
		return broken(hello, "lengths that do not fit");
	return read_extensions(extensions, hello);
}

enum hello_state hello_read(const uint8_t *data, size_t size, struct hello *hello)
{
	struct cursor stream = { data, data + size, false };
	uint8_t joined[HELLO_MAX];
	size_t have = 0, want = MESSAGE_HEAD, records = 0;

	memset(hello, 0, sizeof(*hello));
	if ((size && data[0] != RECORD_HANDSHAKE) || (size > 1 && data[1] != 3))
		return HELLO_OTHER;
	while (have < want) {
		uint32_t type = number(&stream, 1), version = number(&stream, 2);
		uint32_t length = number(&stream, 2);
		size_t there;

		if (stream.bad)
			return HELLO_MORE;
		if (type != RECORD_HANDSHAKE || version >> 8 != 3)
			return broken(hello, "another record within the ClientHello");
		if (!length || length > RECORD_MAX)
			return broken(hello, "a record of a wrong length");
		if (++records > HELLO_RECORDS) /* each is walked again at each call */
			return broken(hello, "a ClientHello in more than 64 records");
		there = (size_t)(stream.end - stream.at) < length ? (size_t)(stream.end - stream.at)
								  : length;
		if (there > sizeof(joined) - have)
			return broken(hello, "more than 16384 bytes of ClientHello");
		memcpy(joined + have, stream.at, there);
		have += there;
		if (have && joined[0] != CLIENT_HELLO)
			return broken(hello, "another message than a ClientHello");
		if (have >= MESSAGE_HEAD)
			want = MESSAGE_HEAD +
			       ((size_t)joined[1] << 16 | (size_t)joined[2] << 8 | joined[3]);
		if (want > sizeof(joined))
			return broken(hello, "more than 16384 bytes of ClientHello");
		if (have >= MESSAGE_HEAD && have - there + length > want)
			return broken(hello, "more than the ClientHello in its record");
		if (there < length)
			return HELLO_MORE;
		take(&stream, there);
	}
	return read_message((struct cursor){ joined + MESSAGE_HEAD, joined + want, false }, hello);
}

static bool same_host(const char *name, const char *host)
{
	uint8_t one[16], other[16];
	enum sbx_host kind = sbx_host_kind(host, one);

	if (kind != sbx_host_kind(name, other))
		return false;
	return kind == SBX_HOST_ADDRESS ? !memcmp(one, other, sizeof(one))
					: sbx_host_matches(SBX_NETK_HOST, host, name) >= 0;
}

const char *hello_objection(enum hello_state state, const struct hello *hello, const char *host,
			    unsigned port)
{
	bool strict = port == 443;
	uint8_t address[16];

	switch (state) {
	case HELLO_MORE:
		return strict ? "the client sent no whole ClientHello" : NULL;
	case HELLO_OTHER:
		return strict ? "it is no TLS" : NULL;
	case HELLO_BROKEN:
		return hello->why;
	case HELLO_FOUND:
		break;
	}
	if (hello->name[0])
		return same_host(hello->name, host) ? NULL
						    : "the TLS within is for another host (SNI)";
	if (strict && sbx_host_kind(host, address) == SBX_HOST_NAME)
		return "the TLS within names no host (SNI)";
	return NULL;
}
