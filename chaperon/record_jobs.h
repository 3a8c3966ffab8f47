/*
 * chaperon/record_jobs.h - the jobs of a record in memory, and as its lines have them.  Pure.
 */
#ifndef SBX_CHAPERON_RECORD_JOBS_H
#define SBX_CHAPERON_RECORD_JOBS_H

#include "chaperon/record.h"

#include <jansson.h>

/* Takes one line in.  False: it is none, or there is no memory. */
bool record_take(struct record *record, const char *text, size_t size);
/* All that is known of @job, in one line. */
json_t *record_line(const struct job *job);
/* Is it worth a line?  Slurm never had it, if not. */
bool record_keeps(const struct job *job);
/* How many record_sum() makes part of another. */
size_t record_spare(const struct record *record);
/* Of srun's jobs that ended all but the newest become one for each session and hour: budgets
 * count them still, as if all were submitted when the last one was; their ids and comments
 * are forgotten.  False: no memory. */
bool record_sum(struct record *record);
struct job *record_job(const struct record *record, const char *tag);
/* Lets go of all jobs; the table moves to @old, for record_forget_end(). */
void record_forget(struct record *record, struct record *old);
/* Once they were read again: what only this process knows of them. */
void record_forget_end(struct record *record, struct record *old);

#endif
