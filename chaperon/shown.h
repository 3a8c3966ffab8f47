/*
 * chaperon/shown.h - what Slurm answers, as it would be without us: the comment that was
 * asked for where the real one is a tag, and the files and the directory of the job.
 */
#ifndef SBX_CHAPERON_SHOWN_H
#define SBX_CHAPERON_SHOWN_H

#include "chaperon/client.h"

/* Makes columns of comments in client->line as wide as a tag, if they are narrower. */
void shown_widen(struct client *client);
/* Sends what was captured.  @job: that `scontrol show job` was asked for; else NULL. */
void shown_send(struct client *client, const struct job *job);

#endif
