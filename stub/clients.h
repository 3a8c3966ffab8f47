/*
 * stub/clients.h - where Slurm's clients inside are.
 */
#ifndef SBX_STUB_CLIENTS_H
#define SBX_STUB_CLIENTS_H

/* The directory that has sbatch, srun, ..., and sbx-job; whether or not it is there. */
const char *clients_directory(void);

#endif
