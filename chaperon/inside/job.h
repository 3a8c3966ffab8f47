/*
 * chaperon/inside/job.h - sbx-slurm as the first program of a job: see job.c.
 */
#ifndef SBX_CHAPERON_INSIDE_JOB_H
#define SBX_CHAPERON_INSIDE_JOB_H

/* Becomes the job's script or program; else says why on standard error, and ends. */
_Noreturn void job_run(int argc, char **argv);

#endif
