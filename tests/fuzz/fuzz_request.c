/*
 * What sbx-proxy reads of strangers before it knows anything: heads of HTTP messages,
 * targets, chunks, SOCKS.  The first byte says which.  However the bytes are cut in
 * pieces, the outcome is the same; what is found lies within them and holds no byte
 * that could end it early; and where another parser accepts a head too, it finds the
 * same framing.
 */
#include <http_parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proxy/chunk.h"
#include "proxy/head.h"
#include "proxy/socks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fault(const char *what)
{
	fprintf(stderr, "fuzz_request: %s\n", what);
	abort();
}

static void check_span(struct span span, const char *data, size_t size)
{
	if (!span.size)
		return;
	if (span.at < data || span.at + span.size > data + size)
		fault("a span that is not of the head");
	for (size_t i = 0; i < span.size; i++)
		if (!span.at[i] || span.at[i] == '\r' || span.at[i] == '\n')
			fault("a span with an end of its own");
}

static bool is_host(const char *host)
{
	return *host && strlen(host) < TARGET_HOST &&
	       strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-._:") == strlen(host);
}

static void check_target(const struct head *head)
{
	struct target target;

	if (!head_target(head, &target))
		return;
	if ((target.form == TARGET_ABSOLUTE || target.form == TARGET_AUTHORITY) &&
	    (!is_host(target.host) || !target.port))
		fault("a target without a host");
	if ((target.form == TARGET_ABSOLUTE || target.form == TARGET_ORIGIN) &&
	    (!target.path.size || *target.path.at != '/'))
		fault("a path that is none");
}

/* ---- the other parser ------------------------------------------------------------------ */

static int stop(http_parser *parser)
{
	(void)parser;
	return 1; /* of a request: there is no body to be read */
}

/* It takes a name that only begins like one that it knows for that one. */
static bool misleads(const struct head *head)
{
	for (unsigned i = 0; i < head->field_count; i++) {
		struct span name = head->field[i].name;

		if ((name.size > 17 && !strncasecmp(name.at, "transfer-encoding", 17)) ||
		    (name.size > 14 && !strncasecmp(name.at, "content-length", 14)))
			return true;
	}
	return false;
}

static void compare(enum head_kind kind, const char *data, const struct head *head)
{
	const http_parser_settings settings = { .on_headers_complete = stop };
	http_parser parser;
	bool chunked = head->body == HEAD_BODY_CHUNKED;

	http_parser_init(&parser, kind == HEAD_REQUEST ? HTTP_REQUEST : HTTP_RESPONSE);
	http_parser_execute(&parser, &settings, data, head->size);
	if (HTTP_PARSER_ERRNO(&parser) != HPE_OK || misleads(head))
		return;
	if (kind == HEAD_RESPONSE && parser.status_code != head->status)
		fault("another status");
	if (parser.http_major != 1 || parser.http_minor != head->minor)
		fault("another version");
	if (head->body != HEAD_BODY_NONE && chunked != !!(parser.flags & F_CHUNKED))
		fault("chunked or not");
	if (kind == HEAD_REQUEST && head->body == HEAD_BODY_NONE &&
	    parser.flags & (F_CHUNKED | F_CONTENTLENGTH) && parser.content_length)
		fault("a body that is not seen");
}

static void check_head(enum head_kind kind, const char *data, size_t size)
{
	static struct head head, again;
	size_t scanned = 0, piece = 0;
	enum head_result result = head_scan(data, size, &scanned, &head);
	enum head_result other = HEAD_MORE;

	for (size_t upto = 0; upto <= size && other == HEAD_MORE; upto++)
		other = head_scan(data, upto, &piece, &again);
	if (other != result || (result == HEAD_DONE && again.size != head.size))
		fault("pieces give another head");
	if (result == HEAD_BAD && !head.wrong)
		fault("no reason");
	if (result != HEAD_DONE)
		return;
	if (!head_parse(kind, data, &head)) {
		if (!head.wrong || head.wrong_status < 400)
			fault("no reason");
		return;
	}
	for (unsigned i = 0; i < head.field_count; i++) {
		check_span(head.field[i].name, data, head.size);
		check_span(head.field[i].value, data, head.size);
		if (!head.field[i].name.size)
			fault("a field without a name");
		head_hop_by_hop(&head, &head.field[i]);
	}
	check_span(head.host, data, head.size);
	compare(kind, data, &head);
	if (kind == HEAD_RESPONSE)
		return;
	check_span(head.method, data, head.size);
	check_span(head.target, data, head.size);
	check_target(&head);
}

/* ---- bodies ---------------------------------------------------------------------------- */

struct content {
	uint8_t bytes[8192];
	size_t size, left;
	bool good, done;
};

static void read_body(const uint8_t *data, size_t size, size_t step, struct content *out)
{
	struct body body;

	*out = (struct content){ .good = true };
	body_init(&body, HEAD_BODY_CHUNKED, 0);
	for (size_t at = 0; at < size && out->good && !body.done;) {
		const uint8_t *from = data + at, *content;
		size_t given = size - at < step ? size - at : step, left = given, run;

		do {
			out->good = body_next(&body, &from, &left, &content, &run);
			if (out->good) {
				memcpy(out->bytes + out->size, content, run);
				out->size += run;
			}
		} while (out->good && left && !body.done);
		at += given - left;
		out->left = size - at;
	}
	out->done = body.done;
}

static void check_body(const uint8_t *data, size_t size)
{
	static struct content whole, pieces;

	if (size > sizeof(whole.bytes))
		return;
	read_body(data, size, size, &whole);
	read_body(data, size, 1, &pieces);
	if (whole.good != pieces.good || whole.done != pieces.done)
		fault("pieces end otherwise");
	if (whole.done && (whole.size != pieces.size || whole.left != pieces.left ||
			   memcmp(whole.bytes, pieces.bytes, whole.size)))
		fault("pieces give another body");
}

/* ---- SOCKS ----------------------------------------------------------------------------- */

static void check_socks(const uint8_t *data, size_t size)
{
	enum socks_code code;
	struct target target;
	size_t used = 0;
	int result = socks_greeting(data, size, &used, &code);

	if (result > 0 && used > size)
		fault("a greeting of more bytes than there are");
	used = 0;
	result = socks_request(data, size, &used, &target, &code);
	if (result > 0 && (used > size || !is_host(target.host) || !target.port))
		fault("a request that asks for nothing");
	for (size_t upto = 0; result > 0 && upto < used; upto++)
		if (socks_request(data, upto, &(size_t){ 0 }, &target, &code))
			fault("half a request is enough");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *own;

	if (!size)
		return 0;
	/* A piece of memory of just this size, so that ASan sees each byte past it. */
	own = malloc(size - 1);
	if (size > 1)
		memcpy(own, data + 1, size - 1);
	switch (data[0] & 3) {
	case 0:
		check_head(HEAD_REQUEST, (const char *)own, size - 1);
		break;
	case 1:
		check_head(HEAD_RESPONSE, (const char *)own, size - 1);
		break;
	case 2:
		check_body(own, size - 1);
		break;
	default:
		check_socks(own, size - 1);
	}
	free(own);
	return 0;
}
