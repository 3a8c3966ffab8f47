/*
 * spank/sbx_spank.c - sbx_spank.so, a plugin of Slurm's: what has to come through the wrap.
 *
 * sbx-chaperon gives Slurm one command alone, whatever a session asked for: it starts the
 * node's sbx-exec with an envelope and its digest (blob/job_wire.h).  Before slurmstepd
 * executes a task this looks whether it is that command, and lets no other one be
 *   - of the accounts that plugstack.conf names: users=NAME,... groups=NAME,...
 *   - in a job that came through the wrap itself, which its comment tells: `srun --jobid`
 *     of somebody who is not confined, or is by another policy, enters none.
 * With policies=FILE the envelope of such an account has to name a policy that FILE has.
 *
 * A task is judged as its user, who could open all of this anyway.  What is not understood
 * is refused.
 */
#include "blob/blob.h"
#include "blob/job_wire.h"

#include <slurm/slurm.h>
#include <slurm/spank.h>

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

SPANK_PLUGIN(sbx, 1)

#define ENVELOPE_MAX (4u << 20)
#define TAG          "sbx-"
#define TAG_LENGTH   36

static bool in_wrapped_job; /* of this slurmstepd */

struct wrap {
	char directory[4200], digest[65];
};

/* ---- the command -------------------------------------------------------------------------- */

/* A whole small file; NULL: it cannot be had, or is larger. */
static char *read_file(const char *path, size_t most, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *data = fd < 0 ? NULL : malloc(most + 1);
	ssize_t got = 1;

	for (*size = 0; data && got > 0 && *size <= most; *size += got > 0 ? (size_t)got : 0)
		got = read(fd, data + *size, most + 1 - *size);
	if (fd >= 0)
		close(fd);
	if (!data || got < 0 || *size > most) {
		free(data);
		return NULL;
	}
	data[*size] = '\0';
	return data;
}

/* The script of a batch job: what it would be for the directory and digest in it. */
static bool read_wrapper(const char *path, struct wrap *wrap)
{
	char text[sizeof(wrap->directory) + sizeof(SBX_JOB_WRAPPER) + sizeof(wrap->digest)];
	size_t size;
	char *script = read_file(path, sizeof(text), &size);
	const char *at = script ? strstr(script, " --job ") : NULL;
	bool same = at && sscanf(at, " --job %4199s --digest %64[0-9a-f]", wrap->directory,
				 wrap->digest) == 2;

	if (same) {
		snprintf(text, sizeof(text), SBX_JOB_WRAPPER, wrap->directory, wrap->digest);
		same = strlen(text) == size && !memcmp(text, script, size);
	}
	free(script);
	return same;
}

static bool read_step(int count, char **words, struct wrap *wrap)
{
	static const char *const start[] = { "/bin/sh", "-c", SBX_JOB_STEP, SBX_JOB_RUNNER };

	if (count != 6)
		return false;
	for (int i = 0; i < 4; i++)
		if (strcmp(words[i], start[i]) != 0)
			return false;
	return snprintf(wrap->directory, sizeof(wrap->directory), "%s", words[4]) <
		   (int)sizeof(wrap->directory) &&
	       snprintf(wrap->digest, sizeof(wrap->digest), "%s", words[5]) ==
		   (int)sizeof(wrap->digest) - 1;
}

static bool is_wrapped(spank_t spank, bool batch, struct wrap *wrap)
{
	char **words = NULL;
	int count = 0;

	if (spank_get_item(spank, S_JOB_ARGV, &count, &words) != ESPANK_SUCCESS || count < 1)
		return false;
	return batch ? count == 1 && read_wrapper(words[0], wrap) : read_step(count, words, wrap);
}

/* ---- whose it is ---------------------------------------------------------------------------- */

/* Is @name among those, with commas between them? */
static bool lists(const char *names, const char *name)
{
	size_t length = strlen(name);

	for (; *names; names += *names == ',') {
		size_t size = strcspn(names, ",");

		if (size == length && !memcmp(names, name, length))
			return true;
		names += size;
	}
	return false;
}

static bool is_in_group(const struct passwd *user, const char *names)
{
	gid_t groups[1024];
	int count = sizeof(groups) / sizeof(groups[0]);

	if (getgrouplist(user->pw_name, user->pw_gid, groups, &count) < 0)
		return true; /* of more than anybody is in: whoever it is */
	for (int i = 0; i < count; i++) {
		const struct group *group = getgrgid(groups[i]);

		if (group && lists(names, group->gr_name))
			return true;
	}
	return false;
}

/* What stands behind "@key=" in plugstack.conf, or NULL. */
static const char *argument(int count, char **words, const char *key)
{
	size_t length = strlen(key);

	for (int i = 0; i < count; i++)
		if (!strncmp(words[i], key, length) && words[i][length] == '=')
			return words[i] + length + 1;
	return NULL;
}

static bool is_held(spank_t spank, int count, char **words)
{
	const char *users = argument(count, words, "users"),
		   *groups = argument(count, words, "groups");
	const struct passwd *user;
	uid_t uid;

	if (!users && !groups)
		return false;
	if (spank_get_item(spank, S_JOB_UID, &uid) != ESPANK_SUCCESS || !(user = getpwuid(uid)))
		return true; /* nobody knows who: held */
	return (users && lists(users, user->pw_name)) || (groups && is_in_group(user, groups));
}

/* ---- the policy --------------------------------------------------------------------------------
 */

static void hex_digest(const void *data, size_t size, char out[65])
{
	struct sbx_sha256 sum;
	uint8_t bytes[32];

	sbx_sha256_init(&sum);
	sbx_sha256_add(&sum, data, size);
	sbx_sha256_end(&sum, bytes);
	for (size_t i = 0; i < 32; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* Does a line of @path begin with the digest of the envelope's policy?  The envelope is the
 * one that sbx-exec will take, or sbx-exec takes none. */
static bool has_policy(const char *path, const struct wrap *wrap)
{
	char name[sizeof(wrap->directory) + 16], digest[65];
	size_t size, listed;
	char *envelope, *list = read_file(path, ENVELOPE_MAX, &listed);
	const char *policy = NULL;
	bool found = false;

	snprintf(name, sizeof(name), "%s/" SBX_JOB_ENVELOPE, wrap->directory);
	envelope = read_file(name, ENVELOPE_MAX, &size);
	if (envelope && list) {
		hex_digest(envelope, size, digest);
		for (const char *at = envelope; at < envelope + size && !policy;
		     at += strlen(at) + 1)
			if (!strncmp(at, "blob ", 5) && strlen(at) == 5 + 64)
				policy = at + 5;
		for (char *at = list; policy && !strcmp(digest, wrap->digest) && at && !found;) {
			found = !strncmp(at, policy, 64);
			at = strchr(at, '\n');
			at += at != NULL;
		}
	}
	free(envelope);
	free(list);
	return found;
}

/* ---- called by slurmstepd: what is below 0 ends the task ---------------------------------- */

static bool comment_is_tag(const char *comment)
{
	return comment && !strncmp(comment, TAG, strlen(TAG)) && strlen(comment) == TAG_LENGTH &&
	       strspn(comment + strlen(TAG), "0123456789abcdef") == TAG_LENGTH - strlen(TAG);
}

/* Before the tasks are made, since it asks slurmctld. */
int slurm_spank_user_init(spank_t spank, int count, char **words)
{
	job_info_msg_t *jobs = NULL;
	uint32_t job, step;

	(void)count;
	(void)words;
	if (spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS || step == SLURM_BATCH_SCRIPT ||
	    step == SLURM_EXTERN_CONT)
		return ESPANK_SUCCESS;
	/* Of a job that nobody can be asked of it is not known: it is held. */
	in_wrapped_job = slurm_load_job(&jobs, job, SHOW_ALL) != SLURM_SUCCESS || !jobs;
	for (uint32_t i = 0; jobs && i < jobs->record_count; i++)
		in_wrapped_job |= comment_is_tag(jobs->job_array[i].comment);
	if (jobs)
		slurm_free_job_info_msg(jobs);
	return ESPANK_SUCCESS;
}

static const char *objection(spank_t spank, int count, char **words)
{
	const char *policies = argument(count, words, "policies");
	struct wrap wrap;
	uint32_t step;
	bool held = is_held(spank, count, words), batch;

	if (!held && !in_wrapped_job)
		return NULL;
	if (spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS)
		return "what this step is cannot be learnt";
	batch = step == SLURM_BATCH_SCRIPT;
	if (!is_wrapped(spank, batch, &wrap))
		return in_wrapped_job
			   ? "this job is a session's: it is entered only from inside it"
			   : "this account's jobs are submitted from inside a session of sbx-exec";
	if (held && policies && !has_policy(policies, &wrap))
		return "the site does not list the policy of this job";
	return NULL;
}

int slurm_spank_task_init(spank_t spank, int count, char **words)
{
	const char *why = objection(spank, count, words);

	if (!why)
		return ESPANK_SUCCESS;
	slurm_error("sbx: %s", why);
	return SLURM_ERROR;
}

/* In each daemon and client: a word that is mistaken is said before anything rests on it. */
int slurm_spank_init(spank_t spank, int count, char **words)
{
	static const char *const known[] = { "users=", "groups=", "policies=" };

	(void)spank;
	for (int i = 0; i < count; i++) {
		bool good = false;

		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]) && !good; k++)
			good = !strncmp(words[i], known[k], strlen(known[k]));
		if (good)
			continue;
		slurm_error("sbx: plugstack.conf: no word %s: users=, groups=, policies=",
			    words[i]);
		return SLURM_ERROR;
	}
	return ESPANK_SUCCESS;
}
