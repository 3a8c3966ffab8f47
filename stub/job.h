/*
 * stub/job.h - `--job`: a job of a session's, on its node.
 */
#ifndef SBX_STUB_JOB_H
#define SBX_STUB_JOB_H

#include <stdbool.h>

#include "blob/verdict.h"

struct launch;
/* Opens the envelope: from it come the blob's name, the workspace, parameters, variables,
 * backends and the command.  Refuses what is not as it was submitted. */
void job_read(struct launch *launch);
/* Once the variables are known: those that decide what is granted are the session's, or
 * the launch is refused.  So is another policy. */
void job_hold(struct launch *launch);
/* A variable as it was in the session; NULL: it had no value. */
const char *job_value(const struct launch *launch, enum sbx_var var);
/* Is it a batch job?  Then the standard streams are Slurm's words, and nothing of the
 * program's: its runner opens others before anything else. */
bool job_is_batch(const struct launch *launch);
/* Has it an sbx-chaperon of its own?  A batch job, and one that somebody sits at. */
bool job_has_slurm(const struct launch *launch);
/* Which session submitted it. */
const char *job_session(const struct launch *launch);
/* Is @name what Slurm says to its own job?  That a policy denies SLURM_* holds for those
 * that choose what a client does; only a seal takes one of these away. */
bool job_says(const struct launch *launch, const char *name, const struct sbx_env_verdict *verdict);

#endif
