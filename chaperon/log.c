/*
 * chaperon/log.c - see log.h.
 */
#include "chaperon/log.h"

#include "helper/lines.h"

#include <string.h>

#define ARGUMENTS_MAX 64
#define ARGUMENT_SIZE 512

static json_t *plain(const char *value)
{
	return lines_text(value, ARGUMENT_SIZE);
}

static json_t *line_json(const struct session *session, const struct log_line *line)
{
	json_t *out = json_object(), *words = json_array();
	char place[512];

	json_object_set_new(out, "time", lines_time(&line->begun));
	json_object_set_new(out, "session", json_string(session->id));
	json_object_set_new(out, "policy", json_string(session->policy));
	for (size_t i = 0; i < line->arguments->count && i < ARGUMENTS_MAX; i++)
		json_array_append_new(words, plain(line->arguments->items[i]));
	json_object_set_new(out, "arguments", words);
	json_object_set_new(out, "verdict", json_string(line->verdict));
	if (line->rule != SBX_NONE) {
		sbx_place(&session->blob,
			  SBX_AT(&session->blob, SLURM, sbx_slurm_rule, line->rule)->head.loc,
			  place, sizeof(place));
		json_object_set_new(out, "rule", plain(place));
	}
	if (line->reason && *line->reason)
		json_object_set_new(out, "reason", plain(line->reason));
	if (line->job)
		json_object_set_new(out, "job", json_integer(line->job));
	if (line->job && strcmp(session->policy, session->job_policy.digest) != 0)
		json_object_set_new(out, "job-policy", json_string(session->job_policy.digest));
	json_object_set_new(out, "status", json_integer(line->status));
	json_object_set_new(out, "ms", lines_ms_since(&line->begun));
	return out;
}

void log_write(struct session *session, const struct log_line *line)
{
	if (session->log.fd >= 0)
		lines_write(&session->log, line_json(session, line));
}
