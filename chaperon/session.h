/*
 * chaperon/session.h - what a session's chaperon was given: the policy, the values.
 */
#ifndef SBX_CHAPERON_SESSION_H
#define SBX_CHAPERON_SESSION_H

#include "blob/verdict.h"
#include "chaperon/rebuild.h"

struct session {
	struct sbx_blob blob;
	const void *blob_data;
	size_t blob_size;
	struct sbx_vars vars;
	char policy[65]; /* the blob's digest, in hexadecimal */
	const char *id, *backend, *home, *user, *state, *jobs, *workspace;
	const char *values; /* as blob/chaperon_wire.h has them */
	size_t values_size;
	struct strings environment; /* of the real clients: nothing of what runs inside */
	const char *job;            /* that all this runs in; NULL: none */
	struct strings step;        /* environment of srun there: with what Slurm says of it */
	int log_fd;                 /* -1: none */
};

/* Receives CHAPERON_SESSION and reads it.  NULL, or why it cannot be served. */
const char *session_receive(struct session *session);
/* session, project or user: whose jobs can be seen; NULL: the session's own. */
const char *session_scope(const struct session *session);

#endif
