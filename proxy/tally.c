/*
 * proxy/tally.c - see tally.h.
 */
#include "proxy/tally.h"

#include "blob/proxy_wire.h"
#include "helper/control.h"

#include <stdio.h>
#include <string.h>

static bool is_same(const struct tally_host *entry, const struct record *record, bool refused)
{
	return entry->port == record->port && entry->refused == refused &&
	       !strcmp(entry->host, record->host);
}

void tally_count(struct tally *tally, const struct record *record)
{
	unsigned at = 0;
	bool refused;

	if (!record->begun.tv_sec || record->gone)
		return;
	refused = !strcmp(record->verdict, "refused");
	if (!refused && strcmp(record->verdict, "failed"))
		return;
	while (at < tally->count && !is_same(&tally->host[at], record, refused))
		at++;
	if (at == TALLY_HOSTS) {
		tally->others++;
		return;
	}
	if (at == tally->count) {
		struct tally_host *entry = &tally->host[tally->count++];

		snprintf(entry->host, sizeof(entry->host), "%s", record->host);
		snprintf(entry->reason, sizeof(entry->reason), "%.*s",
			 (int)sizeof(entry->reason) - 1, record->reason);
		entry->port = record->port;
		entry->refused = refused;
	}
	tally->host[at].times++;
}

static bool tell_host(const struct tally_host *entry)
{
	char times[32] = "", where[300] = "a request";
	bool brackets = strchr(entry->host, ':');

	if (entry->times > 1)
		snprintf(times, sizeof(times), " (%u times)", entry->times);
	if (*entry->host)
		snprintf(where, sizeof(where), "%s%s%s:%u", brackets ? "[" : "", entry->host,
			 brackets ? "]" : "", entry->port);
	return control_say(PROXY_SUMMARY, 0, "the proxy %s %s%s: %s",
			       entry->refused ? "refused" : "could not serve", where, times,
			       entry->reason);
}

void tally_tell(const struct tally *tally)
{
	bool heard = true;

	for (unsigned i = 0; i < tally->count && heard; i++)
		heard = tell_host(&tally->host[i]);
	if (heard && tally->others)
		control_say(PROXY_SUMMARY, 1, "the proxy refused or could not serve %u requests to other hosts",
				tally->others);
}
