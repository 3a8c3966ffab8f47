/*
 * proxy/session.h - what a session's proxy was given: the policy, the values.
 */
#ifndef SBX_PROXY_SESSION_H
#define SBX_PROXY_SESSION_H

#include "blob/verdict.h"

#include <stdbool.h>
#include <stddef.h>

struct session {
	struct sbx_blob blob;
	struct sbx_vars vars;
	char policy[2 * 32 + 1]; /* the blob's digest, in hexadecimal */
	const char *id;          /* as it stands in the log */
	const char *roots;       /* the system's bundle of roots, or NULL */
	char *values;            /* as blob/proxy_wire.h has them */
	size_t values_size;
	int bundle_fd, log_fd;   /* -1: none */
	bool log_broken, log_gone; /* and the person knows */
	bool log_cut;               /* its last line is not whole */
};

/* Receives PROXY_SESSION and reads it.  NULL, or why it cannot be served. */
const char *session_receive(struct session *session);
/* The sources of credentials that are variables of the caller's are wiped, in this
 * process: once there is a keeper, nobody else has to know them. */
void session_forget_sources(struct session *session);
/* The value of @kind ("env", "placeholder") @name, or NULL. */
const char *session_value(const struct session *session, const char *kind, const char *name);

#endif
