/*
 * proxy/session.h - what a session's proxy was given: the policy, the values.
 */
#ifndef SBX_PROXY_SESSION_H
#define SBX_PROXY_SESSION_H

#include "helper/given.h"
#include "helper/lines.h"

struct session {
	struct given given; /* of which this is what others look at: */
	struct sbx_blob blob;
	struct sbx_vars vars;
	const char *policy, *id;
	const char *roots; /* the system's bundle of roots, or NULL */
	int bundle_fd;     /* -1: none */
	struct lines log;
};

/* Receives HELPER_SESSION and reads it.  NULL, or why it cannot be served. */
const char *session_receive(struct session *session);
/* The sources of credentials that are variables of the caller's are wiped, in this
 * process: once there is a keeper, nobody else has to know them. */
void session_forget_sources(struct session *session);

#endif
