/*
 * chaperon/ids.h - job ids as people write them: 12, 12_3, 12_[1-3,5], 12.batch, 12,14.
 *
 * Read into a number and the rest, and written anew from these, so that what was checked
 * is what Slurm reads.  Pure.
 */
#ifndef SBX_CHAPERON_IDS_H
#define SBX_CHAPERON_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_id {
	uint32_t job;
	char rest[44]; /* "", "_3", "_[1-3]", ".batch" */
};

#define JOB_IDS_MAX 1024
struct job_ids {
	size_t count;
	struct job_id items[JOB_IDS_MAX];
};

/* Adds those of @text.  NULL, or what is wrong with it. */
const char *ids_read(struct job_ids *ids, const char *text);

#endif
