/*
 * chaperon/ids.h - job ids as people write them: 12, 12_3, 12_[1-3,5], 12.batch, 12,14.
 *
 * Read into a number and the rest, and written anew from these, so that what was checked
 * is what Slurm reads.  Tasks in brackets become one id each: Slurm's clients do not all
 * read brackets, and squeue takes a number behind a comma in them for a job.  Pure.
 */
#ifndef SBX_CHAPERON_IDS_H
#define SBX_CHAPERON_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_id {
	uint32_t job;
	char rest[40]; /* "", "_3", ".batch", "_3.batch" */
};

#define JOB_IDS_MAX  10000   /* that one can ask for */
#define JOB_IDS_SIZE 0x20000 /* of a list of ids: MAX_ARG_STRLEN of linux/binfmts.h */
struct job_ids {
	struct job_id *items;
	size_t count, room;
};

/* Adds those of @text.  NULL, or what is wrong with it. */
const char *ids_read(struct job_ids *ids, const char *text);
/* The same of a dependency, "afterok:12_3+5:14,singleton". */
const char *ids_read_dependency(struct job_ids *ids, const char *text);
/* One more, past JOB_IDS_MAX too.  False: no memory. */
bool ids_add(struct job_ids *ids, uint32_t job);
/* @before and all of them with commas between, to be freed by the caller.  NULL: that is
 * longer than an argument may be, or there is no memory. */
char *ids_write(const struct job_ids *ids, const char *before);
void ids_free(struct job_ids *ids);

#endif
