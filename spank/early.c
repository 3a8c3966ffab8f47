/*
 * spank/early.c - what would run of the user's own beside the command of a task: see early.h.
 */
#include "spank/early.h"

#include <slurm/slurm.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* slurmstepd's own, which its header files do not declare: the node's slurm.conf. */
extern slurm_conf_t slurm_conf;

/* ---- the environment ------------------------------------------------------------------ */

static const char *const kept[] = {
#define KEEP(pattern) pattern,
#include "spank/environment.def"
#undef KEEP
	NULL
};

static bool fits(const char *pattern, size_t length, const char *name, size_t size)
{
	if (length && pattern[length - 1] == '*')
		return size >= length - 1 && !memcmp(pattern, name, length - 1);
	return size == length && !memcmp(pattern, name, length);
}

static bool stays(const char *entry, const char *more)
{
	size_t size = strcspn(entry, "=");

	if (!entry[size])
		return false;
	for (size_t i = 0; kept[i]; i++)
		if (fits(kept[i], strlen(kept[i]), entry, size))
			return true;
	while (more && *more) {
		size_t length = strcspn(more, ",");

		if (fits(more, length, entry, size))
			return true;
		more += length + (more[length] == ',');
	}
	return false;
}

/* Of a name that is there twice, spank_unsetenv() may leave one: it is asked until none is. */
static bool take_out(spank_t spank, char **entry)
{
	char *name = strndup(*entry, strcspn(*entry, "=")), *before = *entry;
	bool good = name && spank_unsetenv(spank, name) == ESPANK_SUCCESS && *entry != before;

	free(name);
	return good;
}

bool early_clean_environment(spank_t spank, const char *more)
{
	char **at = NULL;

	if (spank_get_item(spank, S_JOB_ENV, &at) != ESPANK_SUCCESS)
		return false;
	while (at && *at) {
		if (stays(*at, more))
			at++;
		else if (!take_out(spank, at))
			return false;
	}
	return spank_setenv(spank, "PATH", "/usr/bin:/bin", 0) != ESPANK_ERROR;
}

/* ---- forks ---------------------------------------------------------------------------- */

enum stage { FREE, TASK, AFTER_TASKS };

static enum stage stage;
static bool watched;
static unsigned still_to_come; /* of the site's own */
static pthread_t thread;

static bool watches(void)
{
	return stage != FREE && pthread_equal(pthread_self(), thread);
}

static void before_fork(void)
{
	if (!watches() || stage != TASK || still_to_come-- > 0)
		return;
	slurm_error("sbx: this account's steps have no task prolog of their own");
	_exit(1);
}

/* slurmstepd itself has to go on: it is the child that ends. */
static void in_child(void)
{
	if (!watches() || stage != AFTER_TASKS)
		return;
	slurm_error("sbx: this account's steps have no task epilog");
	_exit(1);
}

static void enter(enum stage next)
{
	stage = next;
	thread = pthread_self();
}

bool early_watch_forks(void)
{
	watched = watched || !pthread_atfork(before_fork, NULL, in_child);
	return watched;
}

void early_refuse_prolog(void)
{
	still_to_come = slurm_conf.task_prolog && *slurm_conf.task_prolog;
	if (watched)
		enter(TASK);
}

void early_refuse_epilog(void)
{
	if (watched)
		enter(AFTER_TASKS);
}

void early_let_fork(void)
{
	stage = FREE;
}
