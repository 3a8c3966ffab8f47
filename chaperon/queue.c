/*
 * chaperon/queue.c - see queue.h.
 */
#include "chaperon/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* sbatch is given ANSWER_SECONDS, and srun does not try for as long, either. */
#define SUBMIT_SECONDS 600

void queue_ask(struct client *client, void (*then)(struct client *, int status))
{
	struct strings line = { 0 };

	record_refresh(client->server->record);
	client->asked = client->server->record->lines;
	strings_add(&line, "/usr/bin/squeue");
	strings_add(&line, "--noheader");
	strings_add(&line, "--all"); /* in partitions that are hidden, too */
	strings_add(&line, "--user=%s", client->server->session->self);
	strings_add(&line, "--array");
	strings_add(&line, "--format=%%t|%%A|%%F|%%k");
	client_capture(client, &line, then);
	strings_free(&line);
}

/* One line "STATE|JOB|ARRAY|TAG"; returns the next one, NULL at the end. */
static const char *row(const char *at, uint32_t *job, uint32_t *array, char tag[JOB_TAG_SIZE])
{
	const char *end = strchr(at, '\n');
	char *rest;

	*tag = '\0';
	if (!end)
		return NULL;
	at += strcspn(at, "|\n");
	*job = *array = (uint32_t)strtoul(*at == '|' ? at + 1 : at, &rest, 10);
	if (*rest == '|')
		*array = (uint32_t)strtoul(rest + 1, &rest, 10);
	if (*rest == '|' && end - rest - 1 < JOB_TAG_SIZE) {
		memcpy(tag, rest + 1, (size_t)(end - rest - 1));
		tag[end - rest - 1] = '\0';
	}
	return end + 1;
}

static const char *rows(struct client *client)
{
	evbuffer_add(client->captured, "", 1);
	return (const char *)evbuffer_pullup(client->captured, -1);
}

/* All rows are the user's own; of the project's those are that the record knows by the tag. */
static bool is_ours(struct client *client, const char *tag, uint32_t array, const char *scope)
{
	const struct record *record = client->server->record;
	const struct job *job = *tag ? record_tagged(record, tag) : NULL;

	return !strcmp(scope, "user") ||
	       (job && job->id == array && record_is_in(record, job, scope));
}

bool queue_has(struct client *client, uint32_t wanted, const char *scope)
{
	uint32_t job, array;
	char tag[JOB_TAG_SIZE];

	for (const char *at = rows(client); (at = row(at, &job, &array, tag));)
		if ((job == wanted || array == wanted) && is_ours(client, tag, array, scope))
			return true;
	return false;
}

bool queue_list(struct client *client, const char *scope, struct job_ids *ids)
{
	uint32_t job, array;
	char tag[JOB_TAG_SIZE];

	ids->count = 0;
	for (const char *at = rows(client), *line = at; (at = row(at, &job, &array, tag));
	     line = at) {
		bool known = false;

		/* Of one that is over but for its epilog scancel says that there is no such job. */
		if (!is_ours(client, tag, array, scope) || !strncmp(line, "CG|", 3))
			continue;
		for (size_t i = 0; i < ids->count && !known; i++)
			known = ids->items[i].job == array;
		if (!known && !ids_add(ids, array))
			return false;
	}
	return true;
}

uint32_t queue_drop_others(struct client *client, const char *scope, struct job_ids *ids)
{
	uint32_t job, array, dropped = 0;
	char tag[JOB_TAG_SIZE];

	for (const char *at = rows(client); (at = row(at, &job, &array, tag));) {
		size_t kept = 0;

		if (is_ours(client, tag, array, scope))
			continue;
		for (size_t i = 0; i < ids->count; i++) {
			uint32_t id = ids->items[i].job;

			if (id == job || id == array)
				dropped = id;
			else
				ids->items[kept++] = ids->items[i];
		}
		ids->count = kept;
	}
	return dropped;
}

/* Was it submitted behind the question, or is it being submitted? */
static bool may_be_missing(const struct client *client, const struct job *job)
{
	if (job->failed || job->ended)
		return false;
	return job->id ? job->known > client->asked : job->submitted > time(NULL) - SUBMIT_SECONDS;
}

uint64_t queue_count(struct client *client, const char *scope)
{
	const struct record *record = client->server->record;
	const char *queue = rows(client);
	uint32_t number, array;
	char tag[JOB_TAG_SIZE];
	uint64_t count = 0;

	for (const char *at = queue; (at = row(at, &number, &array, tag));) {
		const struct job *job = *tag ? record_tagged(record, tag) : NULL;

		count += job && record_counts_in(record, job, scope);
	}
	for (size_t i = 0; i < record->count; i++) {
		const struct job *job = &record->jobs[i];

		if (record_counts_in(record, job, scope) && may_be_missing(client, job) &&
		    !strstr(queue, job->tag))
			count += job->tasks;
	}
	return count;
}

void queue_learn(struct client *client)
{
	struct record *record = client->server->record;
	uint32_t job, array;
	char tag[JOB_TAG_SIZE];

	for (const char *at = rows(client); (at = row(at, &job, &array, tag));) {
		const struct job *known = *tag ? record_tagged(record, tag) : NULL;

		if (known && !known->id) /* even if sbatch has said that it failed */
			record_submitted(record, tag, array);
	}
}
