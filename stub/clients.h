/*
 * stub/clients.h - where Slurm's clients inside are.
 */
#ifndef SBX_STUB_CLIENTS_H
#define SBX_STUB_CLIENTS_H

struct launch;
/* The directory that has sbatch, srun, ..., and sbx-job; whether or not it is there.
 * Once it is known where sbx-exec is. */
const char *clients_directory(const struct launch *launch);

#endif
