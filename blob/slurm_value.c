/*
 * blob/slurm_value.c - values of Slurm's options, in Slurm's own units.
 *
 * Narrower than the clients: what one of them would round, complete or take for "no
 * limit" (UNLIMITED, 0 of a time or of memory, a range without an end) is within no
 * `max`.  Without one the client judges it.
 */
#include "blob/verdict.h"

#include <string.h>

#define COMMENT_MAX 1024
#define AMOUNT_MAX  (1ull << 40) /* so that no product of two units overflows */

/* Digits at *p as a number, or false; it moves behind them. */
static bool number(const char **p, uint64_t *out)
{
	const char *start = *p;

	for (*out = 0; **p >= '0' && **p <= '9'; ++*p) {
		if (*out > UINT32_MAX)
			return false;
		*out = *out * 10 + (uint64_t)(**p - '0');
	}
	return *p != start;
}

/* One of @units behind a number at *p: the power of @base it stands for; none: 0. */
static uint64_t unit(const char **p, const char *units, uint64_t base)
{
	const char *found = **p ? strchr(units, **p & ~0x20) : NULL;
	uint64_t worth = 1;

	if (!found)
		return 1;
	++*p;
	for (; found >= units; found--)
		worth *= base;
	return worth;
}

/* M, M:S, H:M:S, D-H[:M[:S]]; 0 is no limit at all. */
static bool slurm_time(const char *p, uint64_t *out)
{
	uint64_t part[3] = { 0 }, days = 0;
	unsigned count = 1;
	bool has_days;

	if (!number(&p, &part[0]))
		return false;
	has_days = *p == '-';
	if (has_days) {
		days = part[0];
		p++;
		if (!number(&p, &part[0]))
			return false;
	}
	for (; *p == ':' && count < 3; count++) {
		p++;
		if (!number(&p, &part[count]))
			return false;
	}
	if (has_days || count == 3)
		*out = ((days * 24 + part[0]) * 60 + part[1]) * 60 + part[2];
	else
		*out = part[0] * 60 + part[1];
	return !*p && *out && *out < AMOUNT_MAX;
}

/* Megabytes, or a number and one of K M G T P, which may have a B behind it. */
static bool memory(const char *p, uint64_t *out)
{
	uint64_t worth;

	if (!number(&p, out) || !*out || *out > UINT32_MAX)
		return false;
	worth = *p ? unit(&p, "KMGTP", 1024) : 1024 * 1024;
	if (worth == 1)
		return false;
	if ((*p & ~0x20) == 'B')
		p++;
	if (*out > UINT64_MAX / (worth / 1024))
		return false;
	*out *= worth / 1024;
	return !*p;
}

static bool plain(const char *p, uint64_t *out)
{
	return number(&p, out) && !*p;
}

/* The upper end of N or N-M. */
static bool nodes(const char *p, uint64_t *out)
{
	if (!number(&p, out))
		return false;
	*out *= unit(&p, "KM", 1024);
	if (*p == '-') {
		p++;
		if (!number(&p, out))
			return false;
		*out *= unit(&p, "KM", 1024);
	}
	return !*p;
}

/* How many tasks N,N-M:STEP,...[%LIMIT] are; overlapping ones count twice. */
static bool array(const char *p, uint64_t *out)
{
	uint64_t first, last, step;

	for (*out = 0;; p++) {
		if (!number(&p, &first))
			return false;
		last = first;
		step = 1;
		if (*p == '-') {
			p++;
			if (!number(&p, &last) || last < first)
				return false;
			if (*p == ':' && (p++, !number(&p, &step) || !step))
				return false;
		}
		*out += (last - first) / step + 1;
		if (*out > AMOUNT_MAX)
			return false;
		if (*p != ',')
			break;
	}
	if (*p == '%' && (p++, !number(&p, &first)))
		return false;
	return !*p;
}

/* One item of a list, cut at *p: the length of its name with type, and its count. */
static bool item(const char **p, bool named, size_t *length, uint64_t *count)
{
	const char *start = *p, *end = start + strcspn(start, ","), *digits = end;

	while (digits > start && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	*p = *end ? end + 1 : end;
	*count = 1;
	*length = (size_t)(end - start);
	if (digits < end && (digits == start || digits[-1] == ':')) {
		const char *at = digits;

		if (!number(&at, count))
			return false;
		*length = digits == start ? 0 : (size_t)(digits - start) - 1;
	} else if (!named) {
		return false; /* a count is what --gpus cannot be without */
	} else {
		const char *last = end;

		while (last > start && last[-1] != ':')
			last--;
		if (last > start && !((*last | 0x20) >= 'a' && (*last | 0x20) <= 'z'))
			return false; /* 1k, -4, 4.: a count to Slurm, not a type */
	}
	if (named && !*length)
		return false;
	for (size_t i = 0; i < *length; i++) {
		char c = start[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    !strchr("_.:-", c))
			return false;
	}
	return end[0] != ',' || end[1];
}

/* All counts of a list together. */
static bool gpus(const char *p, uint64_t *out)
{
	size_t length;
	uint64_t count;

	for (*out = 0; *p;) {
		if (!item(&p, false, &length, &count))
			return false;
		*out += count;
	}
	return *out != 0;
}

/* Is each resource of @value named by @limit, all of that name together within its count?
 * A limit without a type counts every type. */
static bool gres_within(const char *value, const char *limit)
{
	const char *p, *at = limit;
	uint64_t most, sum = 0, count;
	size_t have, length;

	if (!item(&at, true, &length, &most) || *at)
		return false;
	for (p = value; *p;) {
		const char *start = p;

		if (!item(&p, true, &have, &count) || have < length ||
		    memcmp(start, limit, length) != 0 || (have > length && start[length] != ':'))
			return false;
		sum += count;
	}
	return sum && sum <= most;
}

bool sbx_slurm_amount(unsigned takes, const char *value, uint64_t *out)
{
	switch (takes) {
	case SBX_TAKES_TIME:
		return slurm_time(value, out);
	case SBX_TAKES_MEMORY:
		return memory(value, out);
	case SBX_TAKES_NODES:
		return nodes(value, out);
	case SBX_TAKES_ARRAY:
		return array(value, out);
	case SBX_TAKES_GPUS:
		return gpus(value, out);
	default:
		return plain(value, out);
	}
}

/* A limit is also written as elsewhere in a policy: 4h. */
static bool policy_time(const char *p, uint64_t *out)
{
	static const char units[] = "smhd";
	static const uint64_t worth[] = { 1, 60, 3600, 86400 };
	const char *found;

	if (!number(&p, out) || !*p || p[1])
		return false;
	found = strchr(units, *p);
	if (!found)
		return false;
	*out *= worth[found - units];
	return true;
}

/* What the limit is written as says what a plain value is. */
static unsigned kind_of(unsigned takes, const char *limit)
{
	uint64_t ignored;

	if (takes != SBX_TAKES_VALUE && takes != SBX_TAKES_OPTIONAL)
		return takes;
	if (policy_time(limit, &ignored) || strpbrk(limit, ":-"))
		return SBX_TAKES_TIME;
	return plain(limit, &ignored) ? SBX_TAKES_NUMBER : SBX_TAKES_MEMORY;
}

static bool limit_amount(unsigned takes, const char *limit, uint64_t *out)
{
	if (takes == SBX_TAKES_ARRAY)
		return plain(limit, out);
	return (takes == SBX_TAKES_TIME && policy_time(limit, out)) ||
	       sbx_slurm_amount(takes, limit, out);
}

bool sbx_slurm_is_limit(unsigned takes, const char *limit)
{
	uint64_t most;
	size_t length;

	takes = kind_of(takes, limit);
	if (takes == SBX_TAKES_GRES)
		return item(&limit, true, &length, &most) && !*limit;
	return takes >= SBX_TAKES_TIME && takes <= SBX_TAKES_GPUS &&
	       limit_amount(takes, limit, &most);
}

bool sbx_slurm_at_most(unsigned takes, const char *value, const char *limit)
{
	uint64_t have, most;

	takes = kind_of(takes, limit);
	if (takes == SBX_TAKES_GRES)
		return gres_within(value, limit);
	return limit_amount(takes, limit, &most) && sbx_slurm_amount(takes, value, &have) &&
	       have <= most;
}

/* Only bytes of @set, letters and digits, and at least one. */
static bool consists_of(const char *p, const char *set)
{
	const char *start = p;

	for (; *p; p++)
		if (!(*p >= 'a' && *p <= 'z') && !(*p >= 'A' && *p <= 'Z') &&
		    !(*p >= '0' && *p <= '9') && !strchr(set, *p))
			return false;
	return p != start;
}

/* NAME or NAME@HOST, with commas between them.  Slurm's daemon has a program send to it, as
 * another user: nothing that this could take for an option, a file or a command. */
static bool address(const char *value)
{
	for (const char *p = value; *p; p++)
		if ((p == value || p[-1] == ',') && strchr("._%+@-,", *p))
			return false;
	return consists_of(value, "._%+@-,");
}

const char *sbx_slurm_objection(unsigned takes, const char *value)
{
	uint64_t ignored;

	switch (takes) {
	case SBX_TAKES_COMMENT: /* the record keeps it, and listings of other sessions show it */
		return strlen(value) > COMMENT_MAX ? "is longer than 1024 bytes"
		       : !sbx_is_printable(value)  ? "has control characters"
						   : NULL;
	case SBX_TAKES_HOSTS:
		return strchr(value, '/') ? "is a file of names" : NULL;
	case SBX_TAKES_JOBS:
		return consists_of(value, ",_.[]-") && value[0] >= '0' && value[0] <= '9'
			   ? NULL
			   : "is no list of job ids";
	case SBX_TAKES_NAME:
		/* None of these is more than a blank to a shell that reads it without quotes, as
		 * prologs do; a slash would lead names of files elsewhere. */
		return consists_of(value, "._- ()[]+,:=@%#") && !strchr(".- ", value[0])
			   ? NULL
			   : "has other characters than letters, digits, blanks and ._-()[]+,:=@%#";
	case SBX_TAKES_ARRAY:
		return array(value, &ignored) ? NULL : "is no list of tasks";
	case SBX_TAKES_DIRECTORY:
	case SBX_TAKES_INPUT:
	case SBX_TAKES_OUTPUT:
	case SBX_TAKES_ERRORS:
		return *value && sbx_is_printable(value) && !strchr(value, '\\')
			   ? NULL
			   : "is no name of a file";
	case SBX_TAKES_ADDRESS:
		return address(value) ? NULL : "is no address of mail";
	case SBX_TAKES_CLUSTERS:
		return strcmp(value, "all") ? "is not all, by which this cluster is meant" : NULL;
	default:
		return NULL;
	}
}
