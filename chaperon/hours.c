/*
 * chaperon/hours.c - see hours.h.
 *
 * While a job is held Slurm says what it asks for, in part as its own guess: how many nodes
 * it gets is open where none were asked for, and then one for each task is the most.  What
 * is counted here is an upper bound, and what has none is refused.
 */
#include "chaperon/hours.h"

#include "blob/verdict.h"

#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX (1ull << 40)
#define COUNT_MAX   UINT32_MAX

static const char unknown[] = "Slurm does not say how much the job may take";

bool hours_bears(const char *option)
{
#define HOURS_BEARS(name) name,
	static const char *const bears[] = {
#include "chaperon/hours.def"
	};
#undef HOURS_BEARS

	for (size_t i = 0; i < sizeof(bears) / sizeof(bears[0]); i++)
		if (!strcmp(option, bears[i]))
			return true;
	return false;
}

/* ---- fields --------------------------------------------------------------------------- */

/* The value behind " KEY=", "" where it is not.  False: there are two, and one may be part
 * of a text that the client chose. */
static bool field(const char *text, const char *key, const char **value)
{
	const char *found = strstr(text, key);

	*value = found ? found + strlen(key) : "";
	return !found || !strstr(found + 1, key);
}

static bool number(const char **at, uint64_t *out)
{
	char *end;

	*out = strtoull(*at, &end, 10);
	if (end == *at || **at < '0' || **at > '9' || *out > COUNT_MAX)
		return false;
	*at = end;
	return true;
}

/* N or N-M. */
static bool range(const char *text, const char *key, uint64_t *first, uint64_t *last)
{
	const char *at;

	if (!field(text, key, &at) || !number(&at, first))
		return false;
	*last = *first;
	if (*at == '-' && (at++, !number(&at, last)))
		return false;
	return *at == ' ' && *first && *last >= *first;
}

/* A number, or one where Slurm has none to say. */
static bool or_one(const char *text, const char *key, uint64_t *out)
{
	const char *at;

	if (!field(text, key, &at))
		return false;
	if (!number(&at, out) || !*out)
		*out = 1;
	return true;
}

/* D-H:M:S, as scontrol prints it; UNLIMITED and Partition_Limit are none. */
static bool read_time(const char *text, uint64_t *out)
{
	size_t length = strcspn(text, " \n");
	char copy[32];

	if (length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return sbx_slurm_amount(SBX_TAKES_TIME, copy, out);
}

/* ---- gpus --------------------------------------------------------------------------------- */

/* gpu, gpu:2, gpu:a100, gpu:a100:2, gpu=2: what comes last may be the count. */
static bool gpu_count(const char *item, const char *end, uint64_t *out)
{
	const char *last = end;

	while (last > item && last[-1] != ':' && last[-1] != '=')
		last--;
	*out = 1;
	return last == item || ((*last | 0x20) >= 'a' && (*last | 0x20) <= 'z') ||
	       (number(&last, out) && last == end);
}

/* Those of gres:gpu:a100:2,gres/gpu:1 together.  @whole: in cpu=2,gres/gpu=1,gres/gpu:a100=1 the
 * first is all of them. */
static bool read_gpus(const char *text, const char *key, bool whole, uint64_t *out)
{
	const char *at, *end;
	bool known = field(text, key, &at);

	*out = 0;
	for (; known && *at && *at != ' ' && *at != '\n'; at = end + (*end == ',')) {
		uint64_t count;

		end = at + strcspn(at, ", \n");
		if (!strncmp(at, "gres:", 5) || !strncmp(at, "gres/", 5))
			at += 5;
		if (strncmp(at, "gpu", 3) != 0 || !strchr(":=, \n", at[3]))
			continue;
		known = gpu_count(at, end, &count);
		if (!whole)
			*out += count;
		else if (count > *out)
			*out = count;
	}
	return known && *out <= COUNT_MAX;
}

struct shape {
	uint64_t nodes, tasks, cpus; /* the most */
};

static const char *count_gpus(const char *text, const struct shape *shape, uint64_t *out)
{
	uint64_t known, requested, node, job, task, other;

	if (!read_gpus(text, " TRES=", true, &known) ||
	    !read_gpus(text, " ReqTRES=", true, &requested) ||
	    !read_gpus(text, " TresPerNode=", false, &node) ||
	    !read_gpus(text, " TresPerJob=", false, &job) ||
	    !read_gpus(text, " TresPerTask=", false, &task) ||
	    !read_gpus(text, " TresPerSocket=", false, &other) || other)
		return unknown;
	if (!read_gpus(text, " Gres=", false, &other)) /* of older ones: for each node */
		return unknown;
	node = node > other ? node : other;
	if (node && !shape->nodes)
		return "its gpus are asked for by the node: give --nodes";
	*out = node * shape->nodes;
	*out = *out > job ? *out : job;
	*out = *out > task * shape->tasks ? *out : task * shape->tasks;
	*out = *out > known ? *out : known;
	*out = *out > requested ? *out : requested;
	return NULL;
}

/* ---- partitions --------------------------------------------------------------------------- */

/* The most threads of a core there; a job gets whole ones. */
static const char *read_partition(const char *partitions, const char *name, size_t length,
				  uint64_t *threads)
{
	bool found = false;
	const char *next;

	for (const char *at = partitions; (next = strchr(at, '\n')); at = next + 1) {
		uint64_t count;

		if (strncmp(at, name, length) != 0 || at[length] != '|')
			continue;
		at += length + 1;
		if (!strncmp(at, "EXCLUSIVE|", 10))
			return "its partition hands out whole nodes";
		at += strcspn(at, "|\n");
		if (*at++ != '|' || !number(&at, &count) || *at != '\n')
			return unknown;
		*threads = count > *threads ? count : *threads;
		found = true;
	}
	return found ? NULL : unknown;
}

static const char *read_partitions(const char *text, const char *partitions, bool timed,
				   uint64_t *threads)
{
	const char *at, *wrong = NULL;
	size_t length;

	if (!field(text, " Partition=", &at) || !*at)
		return unknown;
	for (*threads = 1; !wrong; at += length + 1) {
		length = strcspn(at, ", \n");
		wrong = read_partition(partitions, at, length, threads);
		if (at[length] != ',')
			break;
		if (!timed) /* the limit that Slurm says is that of the first */
			wrong = "the job no time limit: give --time";
	}
	return wrong;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

/* Nodes are 0 where there may be more than one, and nobody said how many. */
static const char *read_shape(const char *text, uint64_t threads, struct shape *out)
{
	uint64_t cpus, tasks, nodes, each, least, share;
	const char *shared, *nodes_text;

	if (!range(text, " NumCPUs=", &cpus, &out->cpus) ||
	    !range(text, " NumTasks=", &tasks, &out->tasks) ||
	    !range(text, " NumNodes=", &nodes, &out->nodes) ||
	    !field(text, " NumNodes=", &nodes_text) || !field(text, " OverSubscribe=", &shared) ||
	    !range(text, " MinCPUsNode=", &least, &least) || !or_one(text, " CPUs/Task=", &share) ||
	    !or_one(text, " NtasksPerN:B:S:C=", &each))
		return unknown;
	if (strncmp(shared, "OK ", 3) != 0 && strncmp(shared, "YES ", 4) != 0)
		return "the job takes whole nodes";
	out->cpus = (out->cpus * out->nodes + nodes - 1) / nodes;
	if (nodes_text[strspn(nodes_text, "0123456789")] != '-')
		out->nodes = out->tasks > 1 ? 0 : 1;
	nodes = out->nodes ? out->nodes : out->tasks;
	/* Of memory, where that stands for processors. */
	if (least > share * each && least * nodes > out->cpus)
		out->cpus = least * nodes;
	share = share > 1 ? (share + threads - 1) / threads * threads : 1;
	if (out->tasks * share > out->cpus)
		out->cpus = out->tasks * share;
	if (out->cpus > COUNT_MAX || threads > 64)
		return unknown;
	out->cpus += nodes * (threads - 1);
	return NULL;
}

const char *hours_read(const char *text, const char *partitions, uint64_t tasks, bool timed,
		       struct hours *out)
{
	uint64_t seconds, gpus, threads;
	struct shape shape;
	const char *limit, *wrong;

	if (!field(text, " TimeLimit=", &limit))
		return unknown;
	if (!read_time(limit, &seconds))
		return "the job no time limit: give --time";
	wrong = read_partitions(text, partitions, timed, &threads);
	if (!wrong)
		wrong = read_shape(text, threads, &shape);
	if (!wrong)
		wrong = count_gpus(text, &shape, &gpus);
	if (wrong)
		return wrong;
	if (!tasks || seconds > SECONDS_MAX / tasks ||
	    shape.cpus > SECONDS_MAX / (seconds * tasks) || gpus > SECONDS_MAX / (seconds * tasks))
		return unknown;
	*out = (struct hours){ shape.cpus * seconds * tasks, gpus * seconds * tasks };
	return NULL;
}
