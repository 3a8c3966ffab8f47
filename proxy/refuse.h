/*
 * proxy/refuse.h - how the program hears that something does not go.
 *
 * One line that names the host and the rule, for a person and for an agent that
 * reads it: the body of a 403 and its status line, since programs show one, the other or
 * neither.  SOCKS has only a number for it.
 */
#ifndef SBX_PROXY_REFUSE_H
#define SBX_PROXY_REFUSE_H

#include "proxy/conn.h"

/* "sbx: HOST:PORT refused: RULE (FILE:LINE)[: because ...]" into the record. */
void refuse_reason(struct conn *conn, uint32_t rule, const char *more);
/* The name gate, for conn->target.  False: it was answered and is over. */
bool refuse_unless_allowed(struct conn *conn);
/* "refused" with the rule's words, or "failed" with @text; the connection ends. */
void refuse_rule(struct conn *conn, uint32_t rule, const char *more);
/* The same of a request to a host that is open: the line has its method and URL. */
void refuse_request(struct conn *conn, uint32_t rule, const char *more);
void refuse_text(struct conn *conn, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
