/*
 * chaperon/judge.h - what is refused of a command by its words and the policy, whatever
 * jobs there are: sbx-chaperon asks it before it does anything, `sbxc explain` before it
 * says that something is allowed.  Pure.
 */
#ifndef SBX_CHAPERON_JUDGE_H
#define SBX_CHAPERON_JUDGE_H

#include "chaperon/rebuild.h"

enum command_class {
	COMMAND_BATCH,   /* sbatch: a job */
	COMMAND_STEP,    /* srun: a job, or a step of this one */
	COMMAND_LISTING, /* shows jobs: those in scope */
	COMMAND_SHOW,    /* shows one job in full */
	COMMAND_CHANGE,  /* changes jobs that are there */
	COMMAND_CANCEL,
	COMMAND_PLAIN,   /* shows what is nobody's */
	COMMAND_NAMES,   /* scontrol show hostnames: text for text */
	COMMAND_NONE,    /* scontrol by itself */
};
struct command {
	const char *name, *program;
	enum command_class class;
	const char *columns; /* LISTING: its option for columns by name */
	const char *words;   /* of scontrol: what stands before the id; NAMES: behind show */
};

/* By its name in a policy; NULL: nobody knows what it does. */
const struct command *judge_find(const char *name);
/* False: @ask, which is settled, is refused.  @frame: of the job that it is to be. */
bool judge_command(struct ask *ask, const struct command *command, const struct job_frame *frame);
/* The first budget that is of hours, or SBX_NONE. */
uint32_t judge_hours(const struct sbx_blob *blob);
/* Could a job that was counted get more by it? */
bool judge_adds_hours(const struct command *command);
/* The option by which a client is asked about itself, and nothing else; or NULL. */
const char *judge_about(const struct ask *ask);
/* What it has to wait for, as it is given; NULL: nothing. */
const char *judge_dependency(const struct ask *ask);
/* Where sbatch looks for its script, as seen from the client; "": on standard input.  False:
 * refused, its name is longer than that of any file. */
bool judge_script(struct ask *ask, char *out, size_t size);

#endif
