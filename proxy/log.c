/*
 * proxy/log.c - see log.h.
 */
#include "proxy/log.h"

#include <stdio.h>

#include "helper/lines.h"

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

static void set_text(json_t *line, const char *key, const char *value)
{
	if (*value)
		json_object_set_new(line, key, lines_text(value, LINES_TEXT));
}

static json_t *record_json(const struct session *session, const struct record *record)
{
	json_t *line = json_object();

	json_object_set_new(line, "time", lines_time(&record->begun));
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
	json_object_set_new(line, "ms", lines_ms_since(&record->begun));
	return line;
}

void record_write(struct session *session, struct record *record)
{
	if (record->begun.tv_sec && session->log.fd >= 0)
		lines_write(&session->log, record_json(session, record));
	record->begun.tv_sec = 0;
}
