/*
 * proxy/head.h - the head of an HTTP/1.x message, read strictly.
 *
 * Pure: no I/O, no allocation; what it finds points into the caller's bytes.
 * Whoever speaks HTTP behind us may read a head more loosely than we do, so a
 * head with more than one reading is refused, never mended (RFC 9112): each
 * line ends in CR LF, no folded line, no blank before a colon, no control
 * byte, at most one Host and one Content-Length, not both a length and a
 * transfer coding, and no coding but "chunked".
 */
#ifndef SBX_PROXY_HEAD_H
#define SBX_PROXY_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAD_MAX 65536
#define HEAD_FIELDS 200

struct span {
	const char *at;
	size_t size;
};
struct head_field {
	struct span name, value; /* the value without blanks around it */
};

enum head_kind { HEAD_REQUEST, HEAD_RESPONSE };
enum head_body {
	HEAD_BODY_NONE,
	HEAD_BODY_LENGTH,  /* @length bytes */
	HEAD_BODY_CHUNKED,
	HEAD_BODY_CLOSE,   /* a response up to the end of the connection */
};

struct head {
	struct span method, target; /* of a request */
	unsigned status;            /* of a response: 100 to 599 */
	struct span reason;
	unsigned minor;             /* HTTP/1.minor: 0 or 1 */
	unsigned field_count;
	struct head_field field[HEAD_FIELDS];
	size_t size;                /* bytes, with the empty line */

	/* What the fields say. */
	enum head_body body; /* of a response: as if its request was no HEAD */
	uint64_t length;
	bool keep_alive;
	bool upgrade;        /* a request that wants it, a response 101 */
	bool expects;        /* Expect: 100-continue */
	struct span host;    /* of a request; empty: none */

	const char *wrong;      /* HEAD_BAD: what, in a few words */
	unsigned wrong_status;  /* and which answer says so */
};

/*
 * Looks for the end of a head in @data, where *scanned bytes were looked at
 * before (0 at first).  HEAD_DONE: head->size bytes; HEAD_BAD also where a line
 * ends without CR or the head is longer than HEAD_MAX.  A caller may feed byte
 * by byte; each is looked at once.
 */
enum head_result { HEAD_MORE, HEAD_DONE, HEAD_BAD };
enum head_result head_scan(const char *data, size_t size, size_t *scanned, struct head *head);
/* Parses the head->size bytes that head_scan found.  False: head->wrong. */
bool head_parse(enum head_kind kind, const char *data, struct head *head);

/* Letters' case does not count, in these. */
bool span_is(struct span span, const char *word);
/* Is @word one of those that a field of comma-separated words has? */
bool span_lists(struct span list, const char *word);

/*
 * A field that ends at this hop: Connection and what goes with it, and each
 * that Connection names.  Framing (Content-Length, Transfer-Encoding, Trailer)
 * is among them, since a message is framed anew.
 */
bool head_hop_by_hop(const struct head *head, const struct head_field *field);

/* Where a request goes. */
enum target_form { TARGET_ORIGIN, TARGET_ABSOLUTE, TARGET_AUTHORITY, TARGET_ASTERISK };
#define TARGET_HOST 256
struct target {
	enum target_form form;
	char host[TARGET_HOST]; /* lower case, no final dot, no brackets */
	uint16_t port;          /* 0: not said */
	struct span path;       /* with the query; "/" where an absolute form has none */
	bool secure;            /* https:// */
};
/* Of a CONNECT: host:port; else an absolute URL, a path or `*`.  False: not
 * well-formed, or a form its method does not have. */
bool head_target(const struct head *head, struct target *out);
/* "host", "host:port", "[v6]:port"; port 0 where none is said. */
bool head_authority(struct span text, char host[TARGET_HOST], uint16_t *port);

#endif
