/*
 * proxy/log.h - one JSON line for each decision.
 *
 * Written when the matter is over, since only then its bytes are known; a session
 * that ends writes what is still open.
 */
#ifndef SBX_PROXY_LOG_H
#define SBX_PROXY_LOG_H

#include "proxy/session.h"

#include <stdint.h>
#include <time.h>

struct record {
	struct timespec begun;   /* tv_sec 0: nothing to be written */
	const char *via;         /* "connect", "http", "tls", "socks" */
	char host[256];
	unsigned port;
	char method[40];
	char path[1024];         /* without the query, which may hold secrets */
	const char *verdict;     /* "allowed", "refused", "failed" */
	uint32_t rule;           /* in SBX_SEC_NET, or SBX_NONE */
	char reason[1024];       /* why it was refused or failed; "": nothing to say */
	char address[64];        /* that was dialled */
	unsigned status;         /* of the answer; 0: none */
	uint32_t credential;     /* put in, in SBX_SEC_CREDENTIALS, or SBX_NONE */
	bool placeholder;        /* one was seen where none is replaced */
	bool gone;               /* the program went away: nobody has to hear of it */
	unsigned redacted;       /* echoes of a credential that were overwritten */
	uint64_t sent, received; /* content, to the host and from it */
};

/* Begins @record: all of it is set anew. */
void record_begin(struct record *record, const char *via, const char *host, unsigned port);
/* Writes it once, if there is a log; it is over then. */
void record_write(struct session *session, struct record *record);

#endif
