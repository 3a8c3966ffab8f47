/*
 * chaperon/command.h - what is done for each command, once its request is whole.
 */
#ifndef SBX_CHAPERON_COMMAND_H
#define SBX_CHAPERON_COMMAND_H

#include "chaperon/client.h"

enum command_class {
	COMMAND_BATCH,   /* sbatch: a job */
	COMMAND_STEP,    /* srun: a job, or a step of this one */
	COMMAND_LISTING, /* shows jobs: those in scope */
	COMMAND_SHOW,    /* shows one job in full */
	COMMAND_CHANGE,  /* changes jobs that are there */
	COMMAND_CANCEL,
	COMMAND_PLAIN,   /* shows what is nobody's */
};
struct command {
	const char *name, *program;
	enum command_class class;
	const char *columns; /* LISTING: its option for columns by name */
	const char *words;   /* of scontrol: what stands before the id */
};

/* job.c */
void job_begin(struct client *client);
void job_script(struct client *client);
void job_output(struct client *client);
/* Once the queue is known: see queue.h. */
void job_submit(struct client *client);
/* Removes its envelope. */
void job_forget(const struct client *client);

/* The first word of the real command line and the options that were given. */
void command_line(struct client *client);
/* A refusal that was written to client->ask: says it.  Always false. */
bool command_refused(struct client *client);

#endif
