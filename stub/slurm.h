/*
 * stub/slurm.h - a `slurm` section that allows something: sbx-chaperon, and what of
 * Slurm there is inside.
 */
#ifndef SBX_STUB_SLURM_H
#define SBX_STUB_SLURM_H

#include "stub/helper.h"

struct launch;
struct slurm {
	struct helper helper; /* sbx-chaperon */
	const char *clients;  /* the directory of sbx-slurm under each client's name */
	const char *lock;     /* held as long as the session lives; its name is the session's */
	const char *socket;   /* beside it: where the clients find sbx-chaperon */
	const char *state;    /* its record of jobs: outside, and unreadable inside */
	const char *jobs;     /* the jobs' envelopes: likewise */
	int dir, lock_fd;     /* of @lock */
};
#define SLURM_PREFIX "slurm-"
#define SLURM_SOCKET ".s" /* behind the lock's name */

/* Finds and starts it, if the policy allows anything of Slurm; chooses the names.  Before
 * the files are looked at. */
void slurm_find(struct launch *launch);
/* Nothing that Slurm's clients read outside may be the program's to choose. */
void slurm_check(struct launch *launch);
/* The launch is for real: opens the log, makes the socket. */
void slurm_prepare(struct launch *launch);
/* Tells sbx-chaperon what the session is. */
void slurm_start(struct launch *launch);
void slurm_remove(const struct launch *launch);

#endif
