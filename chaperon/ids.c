#include "chaperon/ids.h"

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

/* The end of what stands behind a number; NULL: it is nothing we know. */
static const char *rest_end(const char *at)
{
	static const char step[] = "abcdefghijklmnopqrstuvwxyz0123456789";

	if (*at == '_' && at[1] == '[') {
		at += 2 + strspn(at + 2, "0123456789,-");
		if (*at++ != ']')
			return NULL;
	} else if (*at == '_') {
		size_t digits = strspn(at + 1, "0123456789");

		if (!digits)
			return NULL;
		at += 1 + digits;
	}
	if (*at == '.') {
		size_t length = strspn(at + 1, step);

		if (!length)
			return NULL;
		at += 1 + length;
	}
	return at;
}

const char *ids_read(struct job_ids *ids, const char *text)
{
	for (const char *at = text;; at++) {
		struct job_id *item = &ids->items[ids->count];
		const char *end;

		if (ids->count == JOB_IDS_MAX)
			return "too many jobs";
		if (!read_number(&at, &item->job))
			return "is no job id";
		end = rest_end(at);
		if (!end || (*end && *end != ',') || (size_t)(end - at) >= sizeof(item->rest))
			return "is no job id";
		memcpy(item->rest, at, (size_t)(end - at));
		item->rest[end - at] = '\0';
		ids->count++;
		at = end;
		if (!*at)
			return NULL;
	}
}
