#include "chaperon/ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB_MAX 0x03ffffff /* MAX_JOB_ID of slurm.h */

static bool read_number(const char **at, uint32_t *out)
{
	const char *start = *at;

	for (*out = 0; **at >= '0' && **at <= '9'; ++*at) {
		*out = *out * 10 + (uint32_t)(**at - '0');
		if (*out > JOB_MAX)
			return false;
	}
	return *at != start;
}

bool ids_add(struct job_ids *ids, uint32_t job)
{
	if (ids->count == ids->room) {
		size_t room = ids->room ? ids->room * 2 : 8;
		struct job_id *more = realloc(ids->items, room * sizeof(*more));

		if (!more)
			return false;
		ids->items = more;
		ids->room = room;
	}
	ids->items[ids->count++] = (struct job_id){ .job = job };
	return true;
}

static const char *add(struct job_ids *ids, uint32_t job, const char *task, const char *step,
		       size_t step_length)
{
	struct job_id *item;

	if (ids->count >= JOB_IDS_MAX)
		return "too many jobs";
	if (!ids_add(ids, job))
		return "no memory";
	item = &ids->items[ids->count - 1];
	if (snprintf(item->rest, sizeof(item->rest), "%s%.*s", task, (int)step_length, step) >=
	    (int)sizeof(item->rest))
		return "is no job id";
	return NULL;
}

/* "1-3,5]": one id each. */
static const char *add_tasks(struct job_ids *ids, uint32_t job, const char *at, const char *step,
			     size_t step_length)
{
	const char *wrong = NULL;
	uint32_t first, last;
	char task[16];

	do {
		if (!read_number(&at, &first))
			return "is no job id";
		last = first;
		if (*at == '-' && (++at, !read_number(&at, &last) || last < first))
			return "is no job id";
		for (uint32_t number = first; number <= last && !wrong; number++) {
			snprintf(task, sizeof(task), "_%u", number);
			wrong = add(ids, job, task, step, step_length);
		}
	} while (!wrong && *at++ == ',');
	return wrong || at[-1] == ']' ? wrong : "is no job id";
}

/* Where ".batch" behind @at ends, if it is there; NULL: it is no such word. */
static const char *step_end(const char *at)
{
	size_t length;

	if (*at != '.')
		return at;
	length = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
	return length ? at + 1 + length : NULL;
}

/* One number and what belongs to it. */
static const char *read_one(struct job_ids *ids, const char **at)
{
	const char *tasks = NULL, *step;
	char task[16] = "";
	uint32_t job, number;

	if (!read_number(at, &job))
		return "is no job id";
	if (**at == '_' && (*at)[1] == '[') {
		tasks = *at + 2;
		*at = strchr(tasks, ']');
		if (!*at)
			return "is no job id";
		++*at;
	} else if (**at == '_') {
		++*at;
		if (!read_number(at, &number))
			return "is no job id";
		snprintf(task, sizeof(task), "_%u", number);
	}
	step = *at;
	*at = step_end(step);
	if (!*at || (**at && **at != ','))
		return "is no job id";
	return tasks ? add_tasks(ids, job, tasks, step, (size_t)(*at - step))
		     : add(ids, job, task, step, (size_t)(*at - step));
}

const char *ids_read(struct job_ids *ids, const char *text)
{
	for (const char *at = text;; at++) {
		const char *wrong = read_one(ids, &at);

		if (wrong || !*at)
			return wrong;
	}
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whatever a number could be taken for a job's, is: but for a task's, and for minutes. */
const char *ids_read_dependency(struct job_ids *ids, const char *text)
{
	for (const char *at = text; *at;) {
		bool other = at > text + 1 && strchr("_+", at[-1]) && is_digit(at[-2]);
		uint32_t job;

		if (!is_digit(*at)) {
			at++;
			continue;
		}
		if (!read_number(&at, &job))
			return "is no job id";
		if (!other && !ids_add(ids, job))
			return "no memory";
	}
	return NULL;
}

char *ids_write(const struct job_ids *ids, const char *before)
{
	size_t room =
	    strlen(before) + ids->count * (sizeof("12345678,") + sizeof(ids->items->rest));
	char *text = malloc(room + 1), *at = text;

	if (!text)
		return NULL;
	at += sprintf(at, "%s", before);
	for (size_t i = 0; i < ids->count; i++)
		at += sprintf(at, "%s%u%s", i ? "," : "", ids->items[i].job, ids->items[i].rest);
	if (at - text < JOB_IDS_SIZE)
		return text;
	free(text);
	return NULL;
}

void ids_free(struct job_ids *ids)
{
	free(ids->items);
	*ids = (struct job_ids){ 0 };
}
