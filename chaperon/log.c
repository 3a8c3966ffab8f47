/*
 * chaperon/log.c - see log.h.
 *
 * The log is a file of the caller's that sbx-exec opened for appending, so each line is
 * one write.  It may be a pipe that nobody reads: a line that would block is lost.
 */
#include "chaperon/log.h"

#include "chaperon/control.h"

#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARGUMENTS_MAX 64
#define ARGUMENT_SIZE 512

static json_t *time_json(const struct timespec *when)
{
	char text[64];
	struct tm parts;
	size_t length;

	gmtime_r(&when->tv_sec, &parts);
	length = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text + length, sizeof(text) - length, ".%03uZ",
		 (unsigned)(when->tv_nsec / 1000000) % 1000);
	return json_string(text);
}

/* Bytes that are no UTF-8 would be no JSON; the client chose them. */
static json_t *plain(const char *value)
{
	char text[ARGUMENT_SIZE];
	size_t i;

	for (i = 0; value[i] && i + 1 < sizeof(text); i++)
		text[i] = (char)((unsigned char)value[i] < 0x80 ? value[i] : '?');
	text[i] = '\0';
	return json_string(text);
}

static json_t *line_json(const struct session *session, const struct log_line *line)
{
	json_t *out = json_object(), *words = json_array();
	struct timespec now;
	char place[512];

	clock_gettime(CLOCK_REALTIME, &now);
	json_object_set_new(out, "time", time_json(&line->begun));
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
	json_object_set_new(out, "status", json_integer(line->status));
	json_object_set_new(out, "ms",
			    json_integer((now.tv_sec - line->begun.tv_sec) * 1000 +
					 (now.tv_nsec - line->begun.tv_nsec) / 1000000));
	return out;
}

void log_write(const struct session *session, const struct log_line *line)
{
	struct pollfd ready = { .fd = session->log_fd, .events = POLLOUT };
	json_t *json;
	char *text;
	size_t length;

	if (session->log_fd < 0)
		return;
	json = line_json(session, line);
	text = json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(json);
	if (!text)
		return;
	length = strlen(text);
	text[length] = '\n'; /* in the place of its NUL */
	if (poll(&ready, 1, 0) != 1 ||
	    write(session->log_fd, text, length + 1) != (ssize_t)(length + 1))
		control_note(
		    "the log of Slurm commands cannot be written: lines are missing in it");
	free(text);
}
