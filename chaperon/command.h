/*
 * chaperon/command.h - what is done for each command, once its request is whole.
 */
#ifndef SBX_CHAPERON_COMMAND_H
#define SBX_CHAPERON_COMMAND_H

#include "chaperon/client.h"
#include "chaperon/judge.h"

/* job.c */
void job_begin(struct client *client);
void job_script(struct client *client);
void job_output(struct client *client);
/* Once the queue is known: see queue.h. */
void job_submit(struct client *client);
/* What of the session goes into a job of this client. */
struct job_frame job_frame(const struct client *client);
/* Removes its envelope. */
void job_forget(const struct client *client);

/* plain.c */
void plain_begin(struct client *client);
void plain_names(struct client *client);
void plain_about(struct client *client, const char *option);

/* The first word of the real command line and the options that were given. */
void command_line(struct client *client);
/* Says what is done in another way than it was asked for. */
void command_notice(struct client *client);
/* Does it wait for jobs in scope alone?  Else that is refused; when another has ended is
 * nobody's to ask. */
bool command_waits_for_ours(struct client *client, const char *option);
/* A refusal that was written to client->ask: says it.  Always false. */
bool command_refused(struct client *client);

#endif
