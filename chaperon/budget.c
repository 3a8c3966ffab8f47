/*
 * chaperon/budget.c - see budget.h.
 */
#include "chaperon/budget.h"

#include "chaperon/hours.h"
#include "chaperon/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define HOUR 3600

struct budget {
	const struct sbx_slurm_rule *rule;
	const char *whose, *what;
	uint64_t most;
};

/* The rule at @index as a budget; false: it is none. */
static bool budget_at(const struct session *session, uint32_t index, struct budget *out)
{
	const struct sbx_blob *blob = &session->blob;
	const struct sbx_slurm_rule *rule = SBX_AT(blob, SLURM, sbx_slurm_rule, index);

	if (rule->head.verb != SBX_SLURM_BUDGET || !rule->value_count)
		return false;
	*out = (struct budget){ .rule = rule, .what = sbx_string(blob, rule->option) };
	out->whose =
	    rule->command == SBX_NONE ? session_scope(session) : sbx_string(blob, rule->command);
	if (!strcmp(out->whose, "user"))
		out->whose = "project"; /* what other projects asked for is not known here */
	out->most = strtoull(
	    sbx_string(blob, SBX_AT(blob, TMPLS, sbx_tmpl, rule->value_first)->text), NULL, 10);
	return true;
}

static bool is_hours(const struct budget *budget)
{
	return strstr(budget->what, "-hours") != NULL;
}

unsigned budget_needs(const struct session *session)
{
	struct budget budget;
	unsigned needs = 0;

	for (uint32_t i = 0; i < SBX_COUNT(&session->blob, SLURM); i++) {
		if (!budget_at(session, i, &budget))
			continue;
		if (!strcmp(budget.what, "jobs-at-once"))
			needs |= BUDGET_QUEUE;
		if (is_hours(&budget))
			needs |= BUDGET_HOURS;
	}
	return needs;
}

uint64_t budget_tasks(const struct ask *ask)
{
	const char *array = ask_value(ask, SBX_TAKES_ARRAY);
	uint64_t tasks;

	return array && sbx_slurm_amount(SBX_TAKES_ARRAY, array, &tasks) ? tasks : 1;
}

/* What was asked for in the time of the budget: jobs, or seconds. */
static uint64_t used(const struct record *record, const struct budget *budget)
{
	uint32_t period = budget->rule->period_s;
	time_t since = period ? time(NULL) - (time_t)period : 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < record->count; i++) {
		const struct job *job = &record->jobs[i];

		if (job->failed || !record_counts_in(record, job, budget->whose) ||
		    job->submitted < since)
			continue;
		sum += !is_hours(budget)                    ? job->tasks
		       : !strcmp(budget->what, "gpu-hours") ? job->gpu_s
							    : job->cpu_s;
	}
	return sum;
}

/* With one decimal of an hour; rounded @up, or down. */
static void amount(uint64_t value, uint64_t unit, bool up, char *out, size_t size)
{
	uint64_t tenths = (value * 10 + (up ? unit - 1 : 0)) / unit;

	if (tenths % 10 == 0)
		snprintf(out, size, "%llu", (unsigned long long)(tenths / 10));
	else
		snprintf(out, size, "%llu.%llu", (unsigned long long)(tenths / 10),
			 (unsigned long long)(tenths % 10));
}

static bool within(struct client *client, const struct budget *budget, uint64_t have, uint64_t more)
{
	uint64_t unit = is_hours(budget) ? HOUR : 1, most = budget->most * unit;
	char place[256], asked[32], left[32];

	if (have <= most && more <= most - have)
		return true;
	sbx_place(&client->server->session->blob, budget->rule->head.loc, place, sizeof(place));
	amount(more, unit, true, asked, sizeof(asked));
	amount(have < most ? most - have : 0, unit, false, left, sizeof(left));
	return ask_refuse(&client->ask, "%s refused: budget %s %s %llu (%s): %s asked for, %s left",
			  client->ask.request.command, budget->whose, budget->what,
			  (unsigned long long)budget->most, place, asked, left);
}

bool budget_allows_job(struct client *client)
{
	const struct session *session = client->server->session;
	struct budget budget;
	uint64_t have;

	for (uint32_t i = 0; i < SBX_COUNT(&session->blob, SLURM); i++) {
		if (!budget_at(session, i, &budget) || is_hours(&budget))
			continue;
		have = !strcmp(budget.what, "jobs-at-once") ? queue_count(client, budget.whose)
							    : used(client->server->record, &budget);
		if (!within(client, &budget, have, budget_tasks(&client->ask)))
			return false;
	}
	return true;
}

/* ---- hours ---------------------------------------------------------------------------- */

bool budget_has_counted(const struct client *client, const struct job *job)
{
	return !(budget_needs(client->server->session) & BUDGET_HOURS) || (job && job->cpu_s);
}

static bool allows_hours(struct client *client, uint64_t cpu_s, uint64_t gpu_s)
{
	const struct session *session = client->server->session;
	struct record *record = client->server->record;
	struct budget budget;
	bool allowed = true;

	record_lock(record); /* two sessions do not take what is left once each */
	for (uint32_t i = 0; i < SBX_COUNT(&session->blob, SLURM) && allowed; i++)
		if (budget_at(session, i, &budget) && is_hours(&budget))
			allowed = within(client, &budget, used(record, &budget),
					 !strcmp(budget.what, "gpu-hours") ? gpu_s : cpu_s);
	if (allowed && !record_hours(record, client->tag, cpu_s, gpu_s))
		allowed = ask_refuse(&client->ask, "the job cannot be written down in %s: %s",
				     record->path, record_trouble(record));
	record_unlock(record);
	return allowed;
}

/* scontrol WORD ID or scancel ID, of the job that was submitted. */
static void tell_slurm(struct client *client, const char *program, const char *word,
		       void (*then)(struct client *, int status))
{
	struct strings line = { 0 };

	strings_add(&line, "%s", program);
	if (!strcmp(word, "show"))
		strings_add(&line, "--oneliner");
	if (*word)
		strings_add(&line, "%s", word);
	if (!strcmp(word, "show"))
		strings_add(&line, "job");
	strings_add(&line, "%u", client->job);
	client_capture(client, &line, then);
	strings_free(&line);
}

static void cancelled(struct client *client, int status)
{
	record_failed(client->server->record, client->tag);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		job_forget(client); /* else it is held, and may be let go outside */
	client_refuse(client);
}

static void released(struct client *client, int status)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		client->hours_then(client);
	else
		client_fail(client, "job %u is held, and Slurm does not release it", client->job);
}

static const char *captured_text(struct client *client)
{
	evbuffer_add(client->captured, "", 1);
	return (const char *)evbuffer_pullup(client->captured, -1);
}

static void judge(struct client *client, int status)
{
	struct hours hours;
	const char *wrong = hours_read(captured_text(client), client->partitions,
				       budget_tasks(&client->ask),
				       ask_option(&client->ask, "--time"), &hours);

	(void)status;
	if (wrong)
		ask_refuse(&client->ask,
			   "sbatch refused: the policy has a budget of hours, and %s", wrong);
	else if (allows_hours(client, hours.cpu_s, hours.gpu_s)) {
		if (ask_option(&client->ask, "--hold"))
			client->hours_then(client);
		else
			tell_slurm(client, "/usr/bin/scontrol", "release", released);
		return;
	}
	tell_slurm(client, "/usr/bin/scancel", "", cancelled);
}

static void ask_job(struct client *client, int status)
{
	(void)status; /* what is not in the answer is refused */
	client->partitions = strdup(captured_text(client));
	if (client->partitions)
		tell_slurm(client, "/usr/bin/scontrol", "show", judge);
	else
		client_fail(client, "no memory");
}

void budget_judge_hours(struct client *client, void (*then)(struct client *))
{
	struct strings line = { 0 };

	client->hours_then = then;
	strings_add(&line, "/usr/bin/sinfo");
	strings_add(&line, "--all");
	strings_add(&line, "--noheader");
	strings_add(&line, "%s", HOURS_PARTITIONS);
	client_capture(client, &line, ask_job);
	strings_free(&line);
}

/* ---- what is left ----------------------------------------------------------------------- */

static const struct command shown = { .name = BUDGET_COMMAND, .class = COMMAND_PLAIN };

/* " for 7d", as the policy would say it. */
static void period_text(uint32_t seconds, char *out, size_t size)
{
	static const struct {
		uint32_t seconds;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	size_t i = 0;

	while (seconds % units[i].seconds)
		i++;
	*out = '\0';
	if (seconds)
		snprintf(out, size, " for %u%c", seconds / units[i].seconds, units[i].unit);
}

static void show_one(struct client *client, const struct budget *budget)
{
	const struct session *session = client->server->session;
	uint64_t unit = is_hours(budget) ? HOUR : 1, most = budget->most * unit, sum;
	char line[512], place[256], have[32], left[32], period[32];
	int length;

	sum = !strcmp(budget->what, "jobs-at-once") ? queue_count(client, budget->whose)
						    : used(client->server->record, budget);
	amount(sum, unit, true, have, sizeof(have));
	amount(sum < most ? most - sum : 0, unit, false, left, sizeof(left));
	sbx_place(&session->blob, budget->rule->head.loc, place, sizeof(place));
	period_text(budget->rule->period_s, period, sizeof(period));
	length = snprintf(line, sizeof(line), "budget %s %s %llu%s (%s): %s used, %s left\n",
			  budget->whose, budget->what, (unsigned long long)budget->most, period,
			  place, have, left);
	client_send(client, CHAPERON_OUTPUT, line, (size_t)length);
}

static void show(struct client *client, int status)
{
	const struct session *session = client->server->session;
	struct budget budget;
	bool any = false;

	if (status) {
		client_exit(client, status); /* squeue has said why */
		return;
	}
	for (uint32_t i = 0; i < SBX_COUNT(&session->blob, SLURM); i++) {
		if (!budget_at(session, i, &budget))
			continue;
		show_one(client, &budget);
		any = true;
	}
	if (!any)
		client_say(client, "sbx: the policy has no budget of Slurm jobs");
	client_exit(client, 0);
}

void budget_show(struct client *client)
{
	client->command = &shown;
	client->ask.rule = SBX_NONE; /* no rule is needed to see one's own */
	if (*client->server->record->wrong)
		client_fail(client, "the record of jobs %s %s", client->server->record->path,
			    client->server->record->wrong);
	else if (client->intake.arguments.count > 1)
		client_fail(client, BUDGET_COMMAND " takes no %s",
			    client->intake.arguments.items[1]);
	else if (budget_needs(client->server->session) & BUDGET_QUEUE)
		queue_ask(client, show);
	else
		show(client, 0);
}
