/*
 * chaperon/words.h - what was said of a job where no program of the job's could hear it.
 */
#ifndef SBX_CHAPERON_WORDS_H
#define SBX_CHAPERON_WORDS_H

#include "chaperon/client.h"

/* On the client's standard error: what slurmstepd and sbx-exec said of @job, whose
 * envelope is @tag's; the end of it, where that is long. */
void words_show(struct client *client, const char *tag, uint32_t job);

#endif
