/*
 * proxy/inject.h - the head of a request as it goes to the server, with the credential
 * in it.
 *
 * Pure.  The head is written anew from what was parsed: the client's bytes are never
 * passed on as they are.  Where a credential goes, each of the client's fields of that
 * name is left out, in any case, and nothing of the client's can strip the one that is
 * put in.
 */
#ifndef SBX_PROXY_INJECT_H
#define SBX_PROXY_INJECT_H

#include "blob/verdict.h"
#include "proxy/head.h"

/* One credential that goes to a host. */
struct inject_choice {
	const char *header;      /* which field carries it */
	const char *placeholder; /* what stands for it inside */
};
/*
 * Which of several credentials of one host: the one whose placeholder the client has in
 * that one's field, else the first.  @count is not 0.
 */
size_t inject_choose(const struct head *head, const struct inject_choice *choices, size_t count);

/*
 * The value of the field: as it is, "Bearer VALUE" or "Basic base64(USER:VALUE)".  Bytes
 * written, without a NUL; -1: more than @room.
 */
long inject_value(const struct sbx_blob *blob, const struct sbx_credential *credential,
		  const char *value, size_t size, char *out, size_t room);

struct inject_request {
	const struct head *head;
	struct span path;      /* target: path and query, or `*` */
	const char *authority; /* Host: host, or host:port */
	bool close;            /* the connection is used for this request alone */
	bool narrowed;         /* a rule was about its method or path: no field may override these */
	struct span field, value; /* the credential, @field a string; empty: none */
	/* Fields of the host's other credentials: left out too, so that the program cannot
	 * speak there in somebody else's name. */
	const char *const *others;
	size_t other_count;
};
/*
 * Writes the head with its empty line to @out; returns its bytes, or -1: more than @room
 * (HEAD_MAX and what is put in are always enough).  Fields of this hop are left out, as
 * are Host, Expect and those that speak to a proxy; the body is framed as head->body
 * says; an upgrade is asked for if the client wants WebSocket and nothing else.  With a
 * credential the answer is to be readable, and whole: "Accept-Encoding: identity", no
 * Sec-WebSocket-Extensions, no Range.
 */
long inject_head(const struct inject_request *request, char *out, size_t room);

/* ---- placeholders where none is replaced -------------------------------------------- */

/* Do placeholders occur in a stream?  All zero at first. */
struct placeholder_scan {
	unsigned matched; /* bytes of "sbx-placeholder-" at the end so far */
	bool found;
};
void placeholder_scan(struct placeholder_scan *scan, const void *data, size_t size);
/* In the target, or in a field other than @field, a string (empty: in any). */
bool placeholder_in_head(const struct head *head, struct span field);

#endif
