/*
 * chaperon/queue.h - the user's jobs as Slurm has them now, with their tags.
 */
#ifndef SBX_CHAPERON_QUEUE_H
#define SBX_CHAPERON_QUEUE_H

#include "chaperon/client.h"

/* Asks squeue, then calls @then; the answer is in client->captured. */
void queue_ask(struct client *client, void (*then)(struct client *, int status));
/* Whether @job, in the queue, has a tag of the record and is in @scope. */
bool queue_has(struct client *client, uint32_t job, const char *scope);
/* Each job in @scope once, into @ids.  False: no memory. */
bool queue_list(struct client *client, const char *scope, struct job_ids *ids);
/* Takes out of @ids what the queue has as jobs of others: once Slurm began to count anew, or
 * in another cluster, a number alone says nothing.  Returns one of them; 0: there was none. */
uint32_t queue_drop_others(struct client *client, const char *scope, struct job_ids *ids);
/* The tasks and jobs in @scope, with those that were begun and may not have been in the queue
 * yet when it was asked: held under the lock of the record, no two submissions count alike. */
uint64_t queue_count(struct client *client, const char *scope);
/* Writes down the ids of jobs that are known by their tags alone: those of srun. */
void queue_learn(struct client *client);

#endif
