/*
 * chaperon/budget.h - how much may be asked for: jobs, jobs at once, cpu-hours, gpu-hours.
 *
 * What counts is what a job asks for, not what it uses.  Jobs are counted before one is
 * submitted.  Hours are known by Slurm alone, which has the partition's defaults: such a
 * job is submitted held, asked about, and released or cancelled.
 */
#ifndef SBX_CHAPERON_BUDGET_H
#define SBX_CHAPERON_BUDGET_H

#include "chaperon/command.h"

enum budget_needs { BUDGET_QUEUE = 1, BUDGET_HOURS = 2 };
/* What has to be known for the policy's budgets. */
unsigned budget_needs(const struct session *session);
/* The tasks of the job: those of an array. */
uint64_t budget_tasks(const struct ask *ask);
/* Is one job more within the budgets of jobs?  With BUDGET_QUEUE after queue_ask(). */
bool budget_allows_job(struct client *client);
/* Are the hours of @job counted already, where they have to be? */
bool budget_has_counted(const struct client *client, const struct job *job);
/* Holds the hours of client->job, which is held, against the budgets: releases it and calls
 * @then, or cancels it and refuses. */
void budget_judge_hours(struct client *client, void (*then)(struct client *));

/* sbx-budget, which no table has: what is left of each. */
#define BUDGET_COMMAND "sbx-budget"
void budget_show(struct client *client);

#endif
