/*
 * chaperon/record.c - see record.h.
 */
#include "chaperon/record.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES (64 << 20)

bool directories_make(const char *path)
{
	char part[4096];

	if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
		return false;
	for (char *at = part + 1; *at; at++)
		if (*at == '/') {
			*at = '\0';
			if (mkdir(part, 0700) && errno != EEXIST)
				return false;
			*at = '/';
		}
	return !mkdir(part, 0700) || errno == EEXIST;
}

/* A project that submits nothing leaves none: only @create makes it. */
static bool open_file(struct record *record, bool create)
{
	if (record->fd < 0)
		record->fd = open(record->path,
				  O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC |
				      (create ? O_CREAT : 0),
				  0600);
	return record->fd >= 0;
}

const char *record_open(struct record *record, const struct session *session)
{
	struct sbx_sha256 sum;
	uint8_t digest[32];
	char *path = record->path;
	const size_t size = sizeof(record->path);
	size_t length;

	*record = (struct record){ .fd = -1, .session = session };
	if (!directories_make(session->state))
		return "the directory of the records of jobs cannot be made";
	sbx_sha256_init(&sum);
	sbx_sha256_add(&sum, session->workspace, strlen(session->workspace));
	sbx_sha256_end(&sum, digest);
	length = (size_t)snprintf(path, size, "%.4000s/", session->state);
	for (size_t i = 0; i < 16; i++)
		length += (size_t)snprintf(path + length, size - length, "%02x", digest[i]);
	snprintf(path + length, size - length, ".jsonl");
	record_refresh(record);
	return record->fd >= 0 || errno == ENOENT ? NULL : "the record of jobs cannot be opened";
}

/* ---- reading ------------------------------------------------------------------------- */

static struct job *tagged(const struct record *record, const char *tag)
{
	for (size_t i = record->count; i; i--)
		if (!strcmp(record->jobs[i - 1].tag, tag))
			return &record->jobs[i - 1];
	return NULL;
}

static struct job *add_job(struct record *record)
{
	if (record->count == record->room) {
		size_t room = record->room ? record->room * 2 : 64;
		struct job *more = realloc(record->jobs, room * sizeof(*more));

		if (!more)
			return NULL;
		record->jobs = more;
		record->room = room;
	}
	record->jobs[record->count] = (struct job){ 0 };
	return &record->jobs[record->count++];
}

static char *copy_text(const json_t *line, const char *key)
{
	const char *text = json_string_value(json_object_get(line, key));

	return text ? strdup(text) : NULL;
}

static void read_line(struct record *record, const char *text, size_t size)
{
	json_t *line = json_loadb(text, size, 0, NULL);
	const char *tag = json_string_value(json_object_get(line, "tag"));
	struct job *job = tag ? tagged(record, tag) : NULL;

	if (tag && !job && strlen(tag) < JOB_TAG_SIZE) {
		job = add_job(record);
		if (job) {
			strcpy(job->tag, tag);
			job->session = copy_text(line, "session");
			job->comment = copy_text(line, "comment");
			job->submitted = (time_t)json_integer_value(json_object_get(line, "time"));
			job->tasks = (uint64_t)json_integer_value(json_object_get(line, "tasks"));
		}
	}
	record->lines++;
	if (job && json_object_get(line, "job")) {
		job->id = (uint32_t)json_integer_value(json_object_get(line, "job"));
		job->known = record->lines;
	}
	if (job && json_object_get(line, "cpu_s")) {
		job->cpu_s = (uint64_t)json_integer_value(json_object_get(line, "cpu_s"));
		job->gpu_s = (uint64_t)json_integer_value(json_object_get(line, "gpu_s"));
	}
	if (job && json_is_true(json_object_get(line, "failed")))
		job->failed = true;
	if (job && json_is_true(json_object_get(line, "ended")))
		job->ended = true;
	json_decref(line);
}

void record_refresh(struct record *record)
{
	struct stat status;
	char *text, *at, *end;
	ssize_t got;

	if (!open_file(record, false) || fstat(record->fd, &status) || status.st_size <= record->seen ||
	    status.st_size - record->seen > FILE_MAX_BYTES)
		return;
	text = malloc((size_t)(status.st_size - record->seen));
	if (!text)
		return;
	got = pread(record->fd, text, (size_t)(status.st_size - record->seen), record->seen);
	for (at = text; got > 0 && (end = memchr(at, '\n', (size_t)(text + got - at)));
	     at = end + 1)
		read_line(record, at, (size_t)(end - at));
	record->seen += at - text; /* a line that is being written: the next time */
	free(text);
}

/* ---- writing ---------------------------------------------------------------------------- */

static bool append(struct record *record, json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII);
	size_t length = text ? strlen(text) : 0;
	bool written;

	json_decref(line);
	if (!text)
		return false;
	text[length] = '\n'; /* in the place of its NUL */
	written = open_file(record, true) &&
		  write(record->fd, text, length + 1) == (ssize_t)(length + 1);
	free(text);
	record_refresh(record);
	return written;
}

void record_lock(struct record *record)
{
	while (open_file(record, true) && flock(record->fd, LOCK_EX) && errno == EINTR)
		;
	record_refresh(record);
}

void record_unlock(struct record *record)
{
	flock(record->fd, LOCK_UN);
}

bool record_begin(struct record *record, const char *tag, uint64_t tasks, const char *comment)
{
	json_t *line = json_object();

	json_object_set_new(line, "tag", json_string(tag));
	json_object_set_new(line, "session", json_string(record->session->id));
	json_object_set_new(line, "time", json_integer((json_int_t)time(NULL)));
	json_object_set_new(line, "tasks", json_integer((json_int_t)tasks));
	if (comment && json_object_set_new(line, "comment", json_string(comment))) {
		json_decref(line);
		return false; /* it is no UTF-8 */
	}
	return append(record, line);
}

bool record_submitted(struct record *record, const char *tag, uint32_t id)
{
	json_t *line = json_object();

	json_object_set_new(line, "tag", json_string(tag));
	json_object_set_new(line, "job", json_integer(id));
	return append(record, line);
}

bool record_hours(struct record *record, const char *tag, uint64_t cpu_s, uint64_t gpu_s)
{
	json_t *line = json_object();

	json_object_set_new(line, "tag", json_string(tag));
	json_object_set_new(line, "cpu_s", json_integer((json_int_t)cpu_s));
	json_object_set_new(line, "gpu_s", json_integer((json_int_t)gpu_s));
	return append(record, line);
}

static void record_word(struct record *record, const char *tag, const char *word)
{
	json_t *line = json_object();

	json_object_set_new(line, "tag", json_string(tag));
	json_object_set_new(line, word, json_true());
	append(record, line);
}

void record_ended(struct record *record, const char *tag)
{
	record_word(record, tag, "ended");
}

void record_failed(struct record *record, const char *tag)
{
	record_word(record, tag, "failed");
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
	return tagged(record, tag);
}
