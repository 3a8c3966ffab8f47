/*
 * chaperon/hours.h - what a job may take, in Slurm's own words about it.  Pure.
 */
#ifndef SBX_CHAPERON_HOURS_H
#define SBX_CHAPERON_HOURS_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds of processors and of gpus of @tasks such jobs, in a line of `scontrol show job`.
 * False: they cannot be told from it, or have no bound. */
bool hours_read(const char *text, uint64_t tasks, uint64_t *cpu_s, uint64_t *gpu_s);

#endif
