/*
 * proxy/log.c - see log.h.
 *
 * The log is a file of the caller's that sbx-exec opened for appending, so each
 * line is one write.  It may be a pipe that nobody reads: a line that would
 * block is lost, since a log that stops the network would be worse.
 */
#include "proxy/log.h"

#include "proxy/control.h"

#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

void record_begin(struct record *record, const char *via, const char *host, unsigned port)
{
	*record = (struct record){ .via = via, .port = port, .verdict = "allowed",
				   .rule = SBX_NONE, .credential = SBX_NONE };
	clock_gettime(CLOCK_REALTIME, &record->begun);
	snprintf(record->host, sizeof(record->host), "%s", host);
}

static json_t *rule_json(const struct session *session, uint32_t rule)
{
	char place[512];

	if (rule == SBX_NONE)
		return json_null();
	sbx_place(&session->blob, SBX_AT(&session->blob, NET, sbx_net_rule, rule)->head.loc, place,
		  sizeof(place));
	return json_string_nocheck(place);
}

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
static void set_text(json_t *line, const char *key, const char *value)
{
	char plain[1024];
	size_t i;

	if (!*value)
		return;
	for (i = 0; value[i] && i + 1 < sizeof(plain); i++)
		plain[i] = (char)((unsigned char)value[i] < 0x80 ? value[i] : '?');
	plain[i] = '\0';
	json_object_set_new(line, key, json_string(plain));
}

static json_t *record_json(const struct session *session, const struct record *record)
{
	json_t *line = json_object();
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	json_object_set_new(line, "time", time_json(&record->begun));
	json_object_set_new(line, "session", json_string(session->id));
	json_object_set_new(line, "policy", json_string(session->policy));
	json_object_set_new(line, "via", json_string(record->via));
	set_text(line, "host", record->host);
	json_object_set_new(line, "port", json_integer(record->port));
	set_text(line, "method", record->method);
	set_text(line, "path", record->path);
	json_object_set_new(line, "verdict", json_string(record->verdict));
	json_object_set_new(line, "rule", rule_json(session, record->rule));
	set_text(line, "reason", record->reason);
	set_text(line, "address", record->address);
	if (record->status)
		json_object_set_new(line, "status", json_integer(record->status));
	if (record->credential != SBX_NONE)
		set_text(line, "credential",
			 sbx_string(&session->blob, SBX_AT(&session->blob, CREDENTIALS, sbx_credential,
							   record->credential)->name));
	if (record->placeholder)
		json_object_set_new(line, "placeholder", json_true());
	if (record->redacted)
		json_object_set_new(line, "redacted", json_integer(record->redacted));
	json_object_set_new(line, "sent", json_integer((json_int_t)record->sent));
	json_object_set_new(line, "received", json_integer((json_int_t)record->received));
	json_object_set_new(line, "ms",
			    json_integer((now.tv_sec - record->begun.tv_sec) * 1000 +
					 (now.tv_nsec - record->begun.tv_nsec) / 1000000));
	return line;
}

static void note_once(bool *said, const char *what)
{
	if (!*said)
		control_note("the log of the network %s", what);
	*said = true;
}

/* Who reads it by its name finds nothing of this. */
static bool is_removed(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !st.st_nlink && S_ISREG(st.st_mode);
}

/* What was cut off before stays a line of its own. */
static void put_line(struct session *session, char *text, size_t size)
{
	struct pollfd ready = { .fd = session->log_fd, .events = POLLOUT };
	char between = '\n';
	struct iovec parts[2] = { { &between, session->log_cut }, { text, size } };
	ssize_t put = poll(&ready, 1, 0) == 1 ? writev(session->log_fd, parts, 2) : -1;

	if (put == (ssize_t)(session->log_cut + size)) {
		session->log_cut = false;
		return;
	}
	if (put >= (ssize_t)session->log_cut)
		session->log_cut = put > (ssize_t)session->log_cut;
	note_once(&session->log_broken, "cannot be written: lines are missing in it");
}

void record_write(struct session *session, struct record *record)
{
	json_t *line = NULL;
	char *text;
	size_t length;

	if (record->begun.tv_sec && session->log_fd >= 0)
		line = record_json(session, record);
	record->begun.tv_sec = 0;
	if (!line)
		return;
	text = json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(line);
	if (!text)
		return;
	length = strlen(text);
	text[length] = '\n'; /* in the place of its NUL */
	put_line(session, text, length + 1);
	if (is_removed(session->log_fd))
		note_once(&session->log_gone, "was removed: what is decided is written nowhere");
	free(text);
}
