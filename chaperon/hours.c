/*
 * chaperon/hours.c - see hours.h.
 */
#include "chaperon/hours.h"

#include "blob/verdict.h"

#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX (1ull << 40)

/* The value behind " KEY=".  A second one may be part of a text that the client chose. */
static const char *field(const char *text, const char *key)
{
	const char *found = strstr(text, key);

	return found && !strstr(found + 1, key) ? found + strlen(key) : NULL;
}

/* D-H:M:S, as scontrol prints it; UNLIMITED and Partition_Limit are none. */
static bool read_time(const char *text, uint64_t *out)
{
	char copy[32];
	size_t length = strcspn(text, " \n");

	if (length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return sbx_slurm_amount(SBX_TAKES_TIME, copy, out);
}

/* The count of gres/gpu in TRES=cpu=2,...,gres/gpu=1,gres/gpu:a100=1: all types together. */
static uint64_t read_gpus(const char *tres)
{
	static const char key[] = ",gres/gpu=";
	size_t length = strcspn(tres, " \n");
	const char *found = memmem(tres, length, key, sizeof(key) - 1);

	return found ? strtoull(found + sizeof(key) - 1, NULL, 10) : 0;
}

bool hours_read(const char *text, uint64_t tasks, uint64_t *cpu_s, uint64_t *gpu_s)
{
	const char *limit = field(text, " TimeLimit="), *cpus = field(text, " NumCPUs=");
	const char *tres = field(text, " TRES="), *range;
	uint64_t seconds, count, gpus;
	char *end;

	if (!limit || !cpus || !tres || !read_time(limit, &seconds))
		return false;
	count = strtoull(cpus, &end, 10);
	range = *end == '-' ? end + 1 : NULL; /* 2-4 of a job that does not run yet */
	if (range)
		count = strtoull(range, &end, 10);
	gpus = read_gpus(tres);
	if (*end != ' ' || !count || count > UINT32_MAX || gpus > UINT32_MAX || !tasks ||
	    seconds > SECONDS_MAX / tasks || count > SECONDS_MAX / (seconds * tasks) ||
	    gpus > SECONDS_MAX / (seconds * tasks))
		return false;
	*cpu_s = count * seconds * tasks;
	*gpu_s = gpus * seconds * tasks;
	return true;
}
