/*
 * chaperon/hours.h - what a job may take, in Slurm's own words about it.  Pure.
 */
#ifndef SBX_CHAPERON_HOURS_H
#define SBX_CHAPERON_HOURS_H

#include <stdbool.h>
#include <stdint.h>

/* May a job with that option of sbatch take more than Slurm says of it while it is held? */
bool hours_bears(const char *option);

/* How sinfo is asked for the partitions. */
#define HOURS_PARTITIONS "--format=%R|%h|%Z"

struct hours {
	uint64_t cpu_s, gpu_s; /* seconds of processors and of gpus */
};
/* The most that @tasks such jobs take, by a line of `scontrol show job` of one that is held,
 * and by the partitions.  @timed: it was given a time limit.  NULL, or why it cannot be told,
 * as the end of a sentence. */
const char *hours_read(const char *text, const char *partitions, uint64_t tasks, bool timed,
		       struct hours *out);

#endif
