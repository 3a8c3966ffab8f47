/*
 * chaperon/record_jobs.c - see record_jobs.h.
 *
 * A project may have some hundred thousand jobs: they are found by their tags in a table.
 */
#include "chaperon/record_jobs.h"

#include <stdlib.h>
#include <string.h>

#define ENDED_KEPT 1000 /* of srun: what sacct may still be asked for by its id */
#define SUM_TIME   3600

/* ---- the table ------------------------------------------------------------------------ */

/* Where @tag stands in the index, or where it would. */
static size_t place(const struct record *record, const char *tag)
{
	uint64_t hash = 14695981039346656037ull; /* FNV-1a */
	size_t at;

	for (const char *p = tag; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211ull;
	for (at = hash % record->index_size; record->index[at]; at = (at + 1) % record->index_size)
		if (!strcmp(record->jobs[record->index[at] - 1].tag, tag))
			break;
	return at;
}

struct job *record_job(const struct record *record, const char *tag)
{
	uint32_t found = record->index_size ? record->index[place(record, tag)] : 0;

	return found ? &record->jobs[found - 1] : NULL;
}

static bool grow(struct record *record)
{
	size_t room = record->room ? record->room * 2 : 64;
	struct job *jobs = realloc(record->jobs, room * sizeof(*jobs));
	uint32_t *index = jobs ? calloc(room * 2, sizeof(*index)) : NULL;

	if (jobs)
		record->jobs = jobs;
	if (!index)
		return false;
	free(record->index);
	record->index = index;
	record->index_size = room * 2;
	record->room = room;
	for (size_t i = 0; i < record->count; i++)
		index[place(record, jobs[i].tag)] = (uint32_t)i + 1;
	return true;
}

static struct job *add(struct record *record, const char *tag)
{
	struct job *job;

	if (record->count == record->room && !grow(record))
		return NULL;
	job = &record->jobs[record->count];
	*job = (struct job){ 0 };
	strcpy(job->tag, tag);
	record->index[place(record, tag)] = (uint32_t)++record->count;
	return job;
}

void record_forget(struct record *record, struct record *old)
{
	*old = (struct record){ .jobs = record->jobs,
				.count = record->count,
				.index = record->index,
				.index_size = record->index_size };
	record->jobs = NULL;
	record->index = NULL;
	record->count = record->room = record->index_size = record->at_line = 0;
	record->seen = 0;
}

/* A client of this process has still to say what became of it. */
static bool is_under_way(const struct job *job)
{
	return job->mine && !job->id && !job->failed && !job->ended;
}

void record_forget_end(struct record *record, struct record *old)
{
	for (size_t i = 0; i < old->count; i++) {
		struct job *was = &old->jobs[i], *job = record_job(record, was->tag);

		if (!job && is_under_way(was) && (job = add(record, was->tag))) {
			*job = *was;
			job->lost = true;
			was->session = was->comment = NULL; /* they are @job's now */
		}
		if (job)
			job->mine = was->mine;
		if (job && was->id) {
			job->id = was->id; /* written down or not */
			job->known = was->known;
		}
		free(was->session);
		free(was->comment);
	}
	free(old->jobs);
	free(old->index);
}

/* ---- lines ------------------------------------------------------------------------------ */

static char *copy_text(const json_t *line, const char *key)
{
	const char *text = json_string_value(json_object_get(line, key));

	return text ? strdup(text) : NULL;
}

static uint64_t number(const json_t *line, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(line, key));
}

/* Each line says something more about the job of its tag. */
static bool take(struct record *record, const json_t *line)
{
	const char *tag = json_string_value(json_object_get(line, "tag"));
	struct job *job = tag ? record_job(record, tag) : NULL;

	if (!tag || strlen(tag) >= JOB_TAG_SIZE)
		return false;
	if ((!job || job->lost) && !json_object_get(line, "time")) /* its first line is lost */
		return !json_object_get(line, "job") && !json_object_get(line, "cpu_s");
	if (!job) {
		job = add(record, tag);
		if (!job)
			return false;
		job->session = copy_text(line, "session");
		job->comment = copy_text(line, "comment");
		job->submitted = (time_t)number(line, "time");
		job->tasks = number(line, "tasks");
	}
	job->lost = false;
	if (json_object_get(line, "job")) {
		job->id = (uint32_t)number(line, "job");
		job->failed = false; /* unless this line or a later one says so */
		job->known = record->lines;
	}
	if (json_object_get(line, "cpu_s")) {
		job->cpu_s = number(line, "cpu_s");
		job->gpu_s = number(line, "gpu_s");
	}
	job->failed |= json_is_true(json_object_get(line, "failed"));
	job->ended |= json_is_true(json_object_get(line, "ended"));
	job->sum |= json_is_true(json_object_get(line, "sum"));
	return true;
}

bool record_take(struct record *record, const char *text, size_t size)
{
	json_t *line = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	bool taken;

	record->lines++;
	record->at_line++;
	taken = line && take(record, line);
	json_decref(line);
	return taken;
}

bool record_keeps(const struct job *job)
{
	return !job->failed || job->id;
}

json_t *record_line(const struct job *job)
{
	json_t *line = json_object();

	json_object_set_new(line, "tag", json_string(job->tag));
	if (job->session)
		json_object_set_new(line, "session", json_string(job->session));
	json_object_set_new(line, "time", json_integer((json_int_t)job->submitted));
	json_object_set_new(line, "tasks", json_integer((json_int_t)job->tasks));
	if (job->comment)
		json_object_set_new(line, "comment", json_string(job->comment));
	if (job->id)
		json_object_set_new(line, "job", json_integer(job->id));
	if (job->cpu_s || job->gpu_s) {
		json_object_set_new(line, "cpu_s", json_integer((json_int_t)job->cpu_s));
		json_object_set_new(line, "gpu_s", json_integer((json_int_t)job->gpu_s));
	}
	if (job->failed)
		json_object_set_new(line, "failed", json_true());
	if (job->ended)
		json_object_set_new(line, "ended", json_true());
	if (job->sum)
		json_object_set_new(line, "sum", json_true());
	return line;
}

/* ---- sums --------------------------------------------------------------------------------- */

static bool is_over(const struct job *job)
{
	return job->ended && !job->sum && !job->failed;
}

size_t record_spare(const struct record *record)
{
	size_t over = 0;

	for (size_t i = 0; i < record->count; i++)
		over += is_over(&record->jobs[i]);
	return over > ENDED_KEPT ? over - ENDED_KEPT : 0;
}

static bool go_together(const struct job *one, const struct job *other)
{
	const char *session = one->session ? one->session : "";

	return one->submitted / SUM_TIME == other->submitted / SUM_TIME &&
	       !strcmp(session, other->session ? other->session : "");
}

static void become_sum(struct job *job)
{
	job->sum = true;
	job->id = 0;
	free(job->comment);
	job->comment = NULL;
}

static void add_to_sum(struct job *sum, struct job *job)
{
	if (job->submitted > sum->submitted)
		sum->submitted = job->submitted;
	sum->tasks += job->tasks;
	sum->cpu_s += job->cpu_s;
	sum->gpu_s += job->gpu_s;
	job->id = 0;
	job->failed = true; /* neither counted nor kept */
}

bool record_sum(struct record *record)
{
	size_t left = record_spare(record), count = 0;
	struct job **sums = left ? malloc(record->count * sizeof(struct job *)) : NULL;

	if (left && !sums)
		return false;
	for (size_t i = 0; i < record->count && left; i++)
		if (record->jobs[i].sum)
			sums[count++] = &record->jobs[i];
	for (size_t i = 0; left; i++) {
		struct job *job = &record->jobs[i];
		size_t at = count;

		if (!is_over(job))
			continue;
		left--;
		while (at && !go_together(sums[at - 1], job)) /* mostly it is the last one */
			at--;
		if (at)
			add_to_sum(sums[at - 1], job);
		else
			become_sum(sums[count++] = job);
	}
	free(sums);
	return true;
}

/* ---- looking ------------------------------------------------------------------------------ */

bool record_counts_in(const struct record *record, const struct job *job, const char *scope)
{
	return strcmp(scope, "session") != 0 ||
	       (job->session && !strcmp(job->session, record->session->id));
}

bool record_is_in(const struct record *record, const struct job *job, const char *scope)
{
	return job->id && record_counts_in(record, job, scope);
}

const struct job *record_find(const struct record *record, uint32_t id, const char *scope)
{
	for (size_t i = record->count; i; i--)
		if (record->jobs[i - 1].id == id)
			return record_is_in(record, &record->jobs[i - 1], scope)
				   ? &record->jobs[i - 1]
				   : NULL;
	return NULL;
}

const struct job *record_tagged(const struct record *record, const char *tag)
{
	return record_job(record, tag);
}
