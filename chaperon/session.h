/*
 * chaperon/session.h - what a session's chaperon was given: the policy, the values.
 */
#ifndef SBX_CHAPERON_SESSION_H
#define SBX_CHAPERON_SESSION_H

#include "chaperon/rebuild.h"
#include "helper/given.h"
#include "helper/lines.h"

/* Of @state and @jobs: what is put behind them fits into PATH_MAX, and is never cut. */
#define SESSION_PATH_MAX 3900

struct session {
	struct given given; /* of which this is what others look at: */
	struct sbx_blob blob;
	struct sbx_vars vars;
	const char *policy, *id, *backend, *home, *user, *state, *jobs, *workspace;
	char self[280]; /* for --user of Slurm's clients: only the user's own */
	struct strings environment; /* of the real clients: nothing of what runs inside */
	const char *job;            /* that all this runs in; NULL: none */
	struct strings step;        /* environment of srun there: with what Slurm says of it */
	struct lines log;
	struct { /* that its jobs run under: the session's, or the one in it */
		struct sbx_blob blob;
		struct sbx_vars vars; /* of another one's params none: they have their defaults */
		char digest[65];
	} job_policy;
};

/* Receives HELPER_SESSION and reads it.  NULL, or why it cannot be served. */
const char *session_receive(struct session *session);
/* session, project or user: whose jobs can be seen; NULL: the session's own. */
const char *session_scope(const struct session *session);

#endif
