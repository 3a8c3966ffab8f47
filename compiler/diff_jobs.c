/*
 * compiler/diff_jobs.c - what a job may do: the policies of jobs, compared like any others.
 *
 * Where `jobs` names no other policy a job runs under its session's own, so that one stands
 * for it.  A job has its session's workspace, and its policy's params have their defaults.
 * What is found is said of the part "jobs: files", and so on.
 */
#include <string.h>

#include "compiler/diff.h"

/* The side's policy of jobs, for good; false: it is the session's own. */
static bool take_jobs(struct diff *diff, const struct sbx_blob *session, struct diff_side *side)
{
	struct sbx_blob *jobs = ARENA_NEW(diff->arena, struct sbx_blob);

	side->fixed = sbx_blob_jobs(session, jobs);
	side->blob = side->fixed ? jobs : session;
	return side->fixed;
}

static bool same_policy(const struct sbx_blob *a, const struct sbx_blob *b)
{
	return memcmp(a->header->digest, b->header->digest, sizeof(a->header->digest)) == 0;
}

void diff_jobs(struct diff *diff)
{
	struct diff jobs = { .arena = diff->arena, .within = diff->within, .session = diff };
	bool other = false;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		other |= take_jobs(diff, diff->side[side].blob, &jobs.side[side]);
	if (!other || same_policy(jobs.side[DIFF_OLD].blob, jobs.side[DIFF_NEW].blob))
		return;
	diff_run(&jobs);
	for (size_t i = 0; i < jobs.findings.count; i++)
		*VEC_PUSH(diff->arena, &diff->findings) = jobs.findings.items[i];
	if (jobs.cut)
		diff->cut = diff->cut ? arena_printf(diff->arena, "%s, %s", diff->cut, jobs.cut)
				      : jobs.cut;
}

void diff_jobs_beyond(struct diff *diff, const struct sbx_blob *session)
{
	struct sbx_blob *alone = ARENA_NEW(diff->arena, struct sbx_blob);

	*alone = *session;
	alone->section[SBX_SEC_JOBS].count = 0;
	diff->side[DIFF_OLD].blob = alone;
	diff->side[DIFF_NEW].blob = session;
	diff_jobs(diff);
}
