/*
 * chaperon/sweep.h - envelopes of jobs that are long over, and their policies.
 */
#ifndef SBX_CHAPERON_SWEEP_H
#define SBX_CHAPERON_SWEEP_H

#include "chaperon/session.h"

/* Removes envelopes of a month ago that no job in the queue has, if the queue can be had;
 * then the policies that were of use to these alone. */
void sweep_jobs(const struct session *session);

#endif
