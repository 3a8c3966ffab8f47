/*
 * chaperon/sweep.h - envelopes of jobs that are long over.
 */
#ifndef SBX_CHAPERON_SWEEP_H
#define SBX_CHAPERON_SWEEP_H

#include "chaperon/session.h"

/* Removes those of a month ago that no job in the queue has, if the queue can be had. */
void sweep_envelopes(const struct session *session);

#endif
