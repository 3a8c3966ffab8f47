/*
 * chaperon/command.c - see command.h.
 *
 * Whatever names jobs is asked for jobs by number, and only for those of the scope; what
 * is asked without a number gets all of the scope, never all there are.
 */
#include "chaperon/command.h"

#include "chaperon/budget.h"
#include "chaperon/minder.h"
#include "chaperon/queue.h"
#include "chaperon/shown.h"
#include "chaperon/tables.h"
#include "chaperon/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool command_refused(struct client *client)
{
	client_refuse(client);
	return false;
}

void command_notice(struct client *client)
{
	for (const char *at = client->ask.notice; *at;) {
		size_t length = strcspn(at, "\n");

		client_say(client, "%.*s", (int)length, at);
		at += length + (at[length] == '\n');
	}
}

static const char *scope_of(const struct client *client)
{
	return session_scope(client->server->session);
}

void command_line(struct client *client)
{
	strings_free(&client->line);
	strings_add(&client->line, "%s", client->command->program);
	rebuild_options(&client->ask, &client->line);
}

/* ---- which jobs ----------------------------------------------------------------------- */

static bool not_ours(struct client *client, uint32_t job)
{
	const char *scope = scope_of(client);

	ask_refuse(&client->ask, "%s refused: job %u is not of this %s",
		   client->ask.request.command, job, scope);
	return command_refused(client);
}

/* Of the operands and of the option that takes ids. */
static bool read_ids(struct client *client)
{
	const struct sbx_slurm_request *request = &client->ask.request;
	const char *given = ask_value(&client->ask, SBX_TAKES_JOBS), *text = given, *wrong = NULL;

	client->ids.count = 0;
	if (given)
		wrong = ids_read(&client->ids, given);
	for (unsigned i = 0; i < request->operand_count && !wrong; i++) {
		text = request->operands[i];
		wrong = ids_read(&client->ids, text);
	}
	if (!wrong)
		return true;
	ask_refuse(&client->ask, "%s refused: %s %s", request->command, text, wrong);
	return command_refused(client);
}

/* All of them or none: half a number would be another job's.  False: it is refused. */
static bool add_ids(struct client *client, const char *before)
{
	char *text = ids_write(&client->ids, before);

	if (!text) {
		ask_refuse(&client->ask, "%s refused: too many jobs for one command",
			   client->ask.request.command);
		return command_refused(client);
	}
	strings_add(&client->line, "%s", text);
	free(text);
	return true;
}

static void show_captured(struct client *client, int status)
{
	shown_send(client, NULL);
	client_exit(client, status);
}

/* ---- listings ------------------------------------------------------------------------------ */

static bool all_of_user(const struct client *client)
{
	return !strcmp(scope_of(client), "user");
}

/* By the record alone; what Slurm says of it then, is looked at again. */
static bool is_known(const struct client *client, uint32_t job)
{
	return all_of_user(client) || record_find(client->server->record, job, scope_of(client));
}

/* Never those of others, whatever was asked: the last of two options holds. */
static void add_user(struct client *client)
{
	if (strcmp(client->command->name, "sstat") != 0) /* which has no such option */
		strings_add(&client->line, "--user=%s", client->server->session->self);
}

static size_t count_in_scope(const struct client *client)
{
	const struct record *record = client->server->record;
	size_t count = 0;

	for (size_t i = 0; i < record->count; i++)
		count += record_is_in(record, &record->jobs[i], scope_of(client));
	return count;
}

/* More than a list of ids can name: those in the queue, then the newest. */
static bool are_too_many(const struct client *client)
{
	return count_in_scope(client) > JOB_IDS_MAX;
}

/* All in scope; the queue was asked where they are too many.  False: no memory. */
static bool keep_in_scope(struct client *client)
{
	const struct record *record = client->server->record;
	bool kept = true;

	if (are_too_many(client) && client->captured) {
		kept = queue_list(client, scope_of(client), &client->ids);
		if (!strcmp(client->command->name, "sacct"))
			client_say(client, "sbx: of this %s's %zu jobs the newest %d are listed",
				   scope_of(client), count_in_scope(client), JOB_IDS_MAX);
	}
	for (size_t i = record->count; i && client->ids.count < JOB_IDS_MAX && kept; i--)
		if (record_is_in(record, &record->jobs[i - 1], scope_of(client)))
			kept = ids_add(&client->ids, record->jobs[i - 1].id);
	/* Two ids that no job has: with one alone that it does not find, squeue fails. */
	if (!strcmp(client->command->name, "squeue"))
		kept =
		    kept && ids_add(&client->ids, 0x03fffffe) && ids_add(&client->ids, 0x03ffffff);
	if (!kept)
		client_fail(client, "no memory");
	return kept;
}

static void list(struct client *client, int status)
{
	uint32_t other;
	bool any;

	if (status) {
		client_exit(client, status); /* squeue has said why */
		return;
	}
	if (client->captured && evbuffer_get_length(client->captured))
		queue_learn(client);
	if (!read_ids(client))
		return;
	any = client->ids.count;
	for (size_t i = 0; i < client->ids.count; i++) {
		if (!is_known(client, client->ids.items[i].job)) {
			not_ours(client, client->ids.items[i].job);
			return;
		}
	}
	if (!any && !all_of_user(client) && !keep_in_scope(client))
		return;
	other = client->captured ? queue_drop_others(client, scope_of(client), &client->ids) : 0;
	if (any && other) {
		not_ours(client, other);
		return;
	}
	command_line(client);
	if (!rebuild_columns(&client->ask, client->command->columns, &client->line)) {
		command_refused(client);
		return;
	}
	shown_widen(client);
	add_user(client);
	if (!all_of_user(client) || any) {
		if (!client->ids.count) {
			client_exit(client, 0);
			return;
		}
		if (!add_ids(client, "--jobs="))
			return;
	}
	client_capture(client, &client->line, show_captured);
}

/* A job of srun is known by its tag alone until the queue was asked once. */
static bool lacks_ids(const struct record *record)
{
	for (size_t i = 0; i < record->count; i++)
		if (!record->jobs[i].id && !record->jobs[i].failed && !record->jobs[i].ended &&
		    record->jobs[i].submitted > time(NULL) - 86400)
			return true;
	return false;
}

/* ---- one job, in full -------------------------------------------------------------------- */

static void show_job(struct client *client, int status)
{
	const struct job *job =
	    record_find(client->server->record, client->ids.items[0].job, scope_of(client));
	size_t size = evbuffer_get_length(client->captured);
	char owner[300]; /* a name of a user is shorter by far; what is cut is nobody's */

	/* Its number alone may be of another job, once Slurm began to count anew. */
	snprintf(owner, sizeof(owner), "%s", job ? job->tag : "");
	if (all_of_user(client) &&
	    snprintf(owner, sizeof(owner), " UserId=%s(%u) ", client->server->session->user,
		     getuid()) >= (int)sizeof(owner))
		*owner = '\0';
	if (size && (!*owner ||
		     !memmem(evbuffer_pullup(client->captured, -1), size, owner, strlen(owner)))) {
		not_ours(client, client->ids.items[0].job);
		return;
	}
	if (job)
		words_show(client, job->tag, job->id);
	shown_send(client, job);
	client_exit(client, status);
}

static void begin_show(struct client *client)
{
	if (!read_ids(client))
		return;
	if (!is_known(client, client->ids.items[0].job)) {
		not_ours(client, client->ids.items[0].job);
		return;
	}
	command_line(client);
	strings_add(&client->line, "show");
	strings_add(&client->line, "job");
	if (add_ids(client, ""))
		client_capture(client, &client->line, show_job);
}

/* ---- changes -------------------------------------------------------------------------------- */

/* A job that is held because its hours could not be counted stays so. */
static bool all_counted(struct client *client)
{
	for (size_t i = 0; i < client->ids.count; i++) {
		uint32_t id = client->ids.items[i].job;
		const struct job *job = record_find(client->server->record, id, scope_of(client));

		if (budget_has_counted(client, job))
			continue;
		ask_refuse(&client->ask,
			   "%s refused: the hours of job %u are not counted: submit it again",
			   client->ask.request.command, id);
		return command_refused(client);
	}
	return true;
}

/* Those of the real line that are flags, or those that are KEY=VALUE. */
static void copy_words(struct strings *to, const struct strings *from, bool flags)
{
	for (size_t i = 1; i < from->count; i++)
		if ((from->items[i][0] == '-') == flags)
			strings_add(to, "%s", from->items[i]);
}

/* Was it a job in scope, and is not in the queue any more? */
static bool has_ended(struct client *client, uint32_t job)
{
	return record_find(client->server->record, job, scope_of(client)) &&
	       !queue_has(client, job, "user");
}

/* Are all ids of jobs in scope, as the queue has them now?  Else it has been said. */
static bool all_ours(struct client *client)
{
	queue_learn(client);
	for (size_t i = 0; i < client->ids.count; i++) {
		uint32_t job = client->ids.items[i].job;

		if (i && job == client->ids.items[i - 1].job)
			continue; /* another task */
		if (queue_has(client, job, scope_of(client)))
			continue;
		if (!has_ended(client, job))
			return not_ours(client, job);
		ask_refuse(&client->ask, "%s refused: job %u has ended",
			   client->ask.request.command, job);
		return command_refused(client);
	}
	return true;
}

bool command_waits_for_ours(struct client *client, const char *option)
{
	const struct sbx_slurm_given *given = ask_option(&client->ask, option);
	const char *text = given && given->value ? given->value : "", *scope = scope_of(client);
	struct job_ids ids = { 0 };
	const char *wrong = ids_read_dependency(&ids, text);
	bool ours = !wrong;

	if (wrong)
		ask_refuse(&client->ask, "%s refused: %s %s", client->ask.request.command, text,
			   wrong);
	for (size_t i = 0; i < ids.count && ours && !all_of_user(client); i++) {
		ours = record_find(client->server->record, ids.items[i].job, scope);
		if (!ours)
			ask_refuse(&client->ask, "%s refused: job %u is not of this %s",
				   client->ask.request.command, ids.items[i].job, scope);
	}
	ids_free(&ids);
	return ours;
}

static void change(struct client *client, int status)
{
	bool update = !strcmp(client->command->words, "update"), fits;
	struct strings given;

	if (status) {
		client_exit(client, status); /* squeue has said why */
		return;
	}
	if (!all_ours(client) || !all_counted(client))
		return;
	if (!command_waits_for_ours(client, "--Dependency")) {
		command_refused(client);
		return;
	}
	command_line(client);
	given = client->line;
	client->line = (struct strings){ 0 };
	strings_add(&client->line, "%s", client->command->program);
	copy_words(&client->line, &given, true);
	strings_add(&client->line, "%s", client->command->words);
	fits = add_ids(client, update ? "JobId=" : "");
	if (fits) {
		copy_words(&client->line, &given, false);
		client_run(client, ANSWER_SECONDS);
	}
	strings_free(&given);
}

/* Leaves those that can be cancelled.  Of what has ended nothing is left to cancel; the
 * first of somebody else's, or 0, is returned. */
static uint32_t choose_cancelled(struct client *client)
{
	struct job_ids *ids = &client->ids;
	uint32_t foreign = 0;
	size_t kept = 0;

	for (size_t i = 0; i < ids->count; i++) {
		uint32_t job = ids->items[i].job;

		if (queue_has(client, job, scope_of(client)))
			ids->items[kept++] = ids->items[i];
		else if (!foreign && !has_ended(client, job))
			foreign = job;
	}
	ids->count = kept;
	return foreign;
}

static void cancelled(struct client *client, int status)
{
	if (client->ask.problem_count)
		client_refuse(client);
	else
		client_exit(client, status);
}

static void cancel(struct client *client, int status)
{
	bool named = client->ids.count;
	uint32_t foreign;

	if (status) {
		client_exit(client, status); /* squeue has said why */
		return;
	}
	queue_learn(client);
	foreign = choose_cancelled(client);
	if (!named && !queue_list(client, scope_of(client), &client->ids)) {
		client_fail(client, "no memory");
		return;
	}
	if (foreign)
		ask_refuse(&client->ask, "%s refused: job %u is not of this %s%s",
			   client->ask.request.command, foreign, scope_of(client),
			   client->ids.count ? ": the others are cancelled" : "");
	if (!client->ids.count) {
		cancelled(client, 0);
		return;
	}
	command_line(client);
	for (size_t i = 0; i < client->ids.count; i++)
		strings_add(&client->line, "%u%s", client->ids.items[i].job,
			    client->ids.items[i].rest);
	client_capture(client, &client->line, cancelled);
}

static void begin_change(struct client *client)
{
	bool cancels = client->command->class == COMMAND_CANCEL;

	if (!read_ids(client))
		return;
	queue_ask(client, cancels ? cancel : change);
}

/* ---- all of them -------------------------------------------------------------------------- */

static void begin_listing(struct client *client)
{
	/* What sacct shows is mostly over, and not in the queue any more. */
	if (strcmp(client->command->name, "sacct") != 0 || lacks_ids(client->server->record) ||
	    are_too_many(client))
		queue_ask(client, list);
	else
		list(client, 0);
}

/* Settled before anything is looked up; a batch job's once its script is there. */
static void dispatch(struct client *client)
{
	const struct job_frame frame = job_frame(client);
	static void (*const begin[])(struct client *) = {
		[COMMAND_LISTING] = begin_listing, [COMMAND_SHOW] = begin_show,
		[COMMAND_CHANGE] = begin_change,   [COMMAND_CANCEL] = begin_change,
		[COMMAND_PLAIN] = plain_begin,	   [COMMAND_NAMES] = plain_names,
	};
	const struct record *record = client->server->record;
	const char *about = judge_about(&client->ask);

	if (*record->wrong && client->command->class < COMMAND_PLAIN && !about &&
	    !command_is_step(client))
		client_fail(client, "the record of jobs %s %s", record->path, record->wrong);
	else if (client->command->class <= COMMAND_STEP && !about)
		job_begin(client);
	else if (!ask_settle(&client->ask) ||
		 !judge_command(&client->ask, client->command, &frame) ||
		 !tables_fit(&client->ask, client->command->program))
		command_refused(client);
	else if (about)
		plain_about(client, about);
	else {
		command_notice(client);
		begin[client->command->class](client);
	}
}

bool command_is_step(const struct client *client)
{
	return client->server->session->job && client->command->class == COMMAND_STEP;
}

/* What Slurm itself has told the job is nothing that was asked for. */
static void drop_slurms_own(struct strings *given, const struct strings *known)
{
	size_t kept = 0;

	for (size_t i = 0; i < given->count; i++) {
		bool own = false;

		for (size_t k = 0; k < known->count && !own; k++)
			own = !strcmp(given->items[i], known->items[k]) &&
			      !strncmp(given->items[i], "SLURM_", 6);
		if (own)
			free(given->items[i]);
		else
			given->items[kept++] = given->items[i];
	}
	given->count = kept;
	if (given->items)
		given->items[kept] = NULL;
}

void command_begin(struct client *client)
{
	struct intake *intake = &client->intake;
	const struct session *session = client->server->session;

	client->words = malloc((intake->arguments.count + 1) * sizeof(*client->words));
	if (!client->words) {
		client_fail(client, "no memory");
		return;
	}
	for (size_t i = 0; i < intake->arguments.count; i++)
		client->words[i] = intake->arguments.items[i];
	record_refresh(client->server->record);
	if (!strcmp(intake->arguments.items[0], BUDGET_COMMAND)) {
		memcpy(client->ask.request.command, BUDGET_COMMAND, sizeof(BUDGET_COMMAND));
		budget_show(client);
		return;
	}
	drop_slurms_own(&intake->environment, &session->step);
	if (!ask_line(&client->ask, &session->blob, &session->vars, client->words,
		      (unsigned)intake->arguments.count,
		      (const char *const *)intake->environment.items)) {
		command_refused(client);
		return;
	}
	client->command = judge_find(client->ask.request.command);
	if (!client->command) {
		ask_refuse(&client->ask, "%s refused: sbx-chaperon does not know what it does",
			   client->ask.request.command);
		command_refused(client);
		return;
	}
	client->ask.step = command_is_step(client);
	dispatch(client);
}

void command_script(struct client *client)
{
	job_script(client);
}

void command_begun(struct client *client)
{
	/* A step's nodes are those of its job, and end with that. */
	if (client->command->class == COMMAND_STEP && *client->tag && !command_is_step(client))
		minder_hold(client->server->session, client->tag, run_pid(client->run));
}

void command_end(struct client *client)
{
	if (client->command->class != COMMAND_STEP || !*client->tag)
		return;
	if (!command_is_step(client)) {
		record_ended(client->server->record, client->tag);
		minder_let_go(client->tag);
	}
	job_forget(client); /* none of its tasks is begun once more */
}

void command_output(struct client *client)
{
	if (client->command->class == COMMAND_BATCH)
		job_output(client);
}
