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
 * And it lets nothing else of theirs run beside the command: see early.h.
 *
 * A task is judged as its user, who could open all of this anyway.  What is not understood
 * is refused.
 */
#include "blob/blob.h"
#include "blob/job_wire.h"
#include "spank/early.h"

#include <slurm/slurm.h>
#include <slurm/spank.h>

#include <errno.h>
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

/* Of this slurmstepd: in a job that came through the wrap; of a held account's, that what
 * runs beside the command could not be refused. */
static bool in_wrapped_job, unready;

struct wrap {
	char directory[4200], digest[65];
};

/* ---- the command -------------------------------------------------------------------------- */

/* A whole small file; NULL: it cannot be had, or is larger: errno. */
static char *read_file(const char *path, size_t most, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *data = fd < 0 ? NULL : malloc(most + 1);
	ssize_t got = 1;

	for (*size = 0; data && got > 0 && *size <= most; *size += got > 0 ? (size_t)got : 0)
		got = read(fd, data + *size, most + 1 - *size);
	if (fd >= 0)
		close(fd);
	if (data && *size > most)
		errno = EFBIG;
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

/* The digest of the envelope's policy, if the envelope is the one that sbx-exec will take. */
static const char *policy_of(const char *envelope, size_t size, const struct wrap *wrap)
{
	char digest[65];

	hex_digest(envelope, size, digest);
	if (strcmp(digest, wrap->digest) != 0)
		return NULL;
	for (const char *at = envelope; at < envelope + size; at += strlen(at) + 1)
		if (!strncmp(at, "blob ", 5) && strlen(at) == 5 + 64)
			return at + 5;
	return NULL;
}

static bool begins_a_line(const char *policy, const char *list)
{
	while (list && strncmp(list, policy, 64) != 0) {
		list = strchr(list, '\n');
		list += list != NULL;
	}
	return list;
}

/* What is to be said against the policy; NULL: @path lists it. */
static const char *policy_objection(const char *path, const struct wrap *wrap)
{
	static char why[4400];
	char name[sizeof(wrap->directory) + 16];
	size_t size, listed;
	char *envelope, *list = read_file(path, ENVELOPE_MAX, &listed);
	const char *policy;

	if (!list) {
		snprintf(why, sizeof(why), "policies=%s of plugstack.conf cannot be read: %s", path,
			 strerror(errno));
		return why;
	}
	snprintf(name, sizeof(name), "%s/" SBX_JOB_ENVELOPE, wrap->directory);
	envelope = read_file(name, ENVELOPE_MAX, &size);
	policy = envelope ? policy_of(envelope, size, wrap) : NULL;
	snprintf(why, sizeof(why), "%s",
		 policy && begins_a_line(policy, list) ? ""
		 : policy ? "the site does not list the policy of this job"
			  : "this job has no envelope with the digest that it names");
	free(envelope);
	free(list);
	return *why ? why : NULL;
}

/* ---- called by slurmstepd: what is below 0 ends the task ---------------------------------- */

static bool comment_is_tag(const char *comment)
{
	return comment && !strncmp(comment, TAG, strlen(TAG)) && strlen(comment) == TAG_LENGTH &&
	       strspn(comment + strlen(TAG), "0123456789abcdef") == TAG_LENGTH - strlen(TAG);
}

static bool is_batch(spank_t spank)
{
	uint32_t step;

	return spank_get_item(spank, S_JOB_STEPID, &step) == ESPANK_SUCCESS &&
	       step == SLURM_BATCH_SCRIPT;
}

/* Asks slurmctld.  Of a job that nobody can be asked of it is not known: it is held. */
static bool came_wrapped(uint32_t job)
{
	job_info_msg_t *jobs = NULL;
	bool wrapped = slurm_load_job(&jobs, job, SHOW_ALL) != SLURM_SUCCESS || !jobs;

	for (uint32_t i = 0; jobs && i < jobs->record_count; i++)
		wrapped |= comment_is_tag(jobs->job_array[i].comment);
	if (jobs)
		slurm_free_job_info_msg(jobs);
	return wrapped;
}

/* Once a step and before its tasks are made.  It refuses nothing: a batch job that failed
 * here would drain its node. */
int slurm_spank_user_init(spank_t spank, int count, char **words)
{
	uint32_t job, step;
	bool known = spank_get_item(spank, S_JOB_STEPID, &step) == ESPANK_SUCCESS &&
		     spank_get_item(spank, S_JOB_ID, &job) == ESPANK_SUCCESS;

	if (known && step == SLURM_EXTERN_CONT)
		return ESPANK_SUCCESS;
	in_wrapped_job = !known || (step != SLURM_BATCH_SCRIPT && came_wrapped(job));
	if (is_held(spank, count, words))
		unready = !early_clean_environment(spank, argument(count, words, "env")) ||
			  !early_watch_forks();
	return ESPANK_SUCCESS;
}

/* A batch job has no epilog but the site's. */
int slurm_spank_task_post_fork(spank_t spank, int count, char **words)
{
	if (!argument(count, words, "task-epilog") && !is_batch(spank))
		early_refuse_epilog();
	return ESPANK_SUCCESS;
}

int slurm_spank_exit(spank_t spank, int count, char **words)
{
	(void)spank;
	(void)count;
	(void)words;
	early_let_fork();
	return ESPANK_SUCCESS;
}

static const char *objection(spank_t spank, int count, char **words)
{
	const char *policies = argument(count, words, "policies");
	bool held = is_held(spank, count, words);
	struct wrap wrap;

	if (!held && !in_wrapped_job)
		return NULL;
	if (unready)
		return "the environment of this job cannot be cleaned";
	if (!is_wrapped(spank, is_batch(spank), &wrap))
		return in_wrapped_job
			   ? "this job is a session's: it is entered only from inside it"
			   : "this account's jobs are submitted from inside a session of sbx-exec";
	return held && policies ? policy_objection(policies, &wrap) : NULL;
}

int slurm_spank_task_init(spank_t spank, int count, char **words)
{
	const char *why = objection(spank, count, words);

	if (why) {
		slurm_error("sbx: %s", why);
		return SLURM_ERROR;
	}
	if (!argument(count, words, "task-prolog"))
		early_refuse_prolog();
	return ESPANK_SUCCESS;
}

/* ---- plugstack.conf ------------------------------------------------------------------- */

static bool is_known(const char *word)
{
	static const char *const known[] = { "users=", "groups=", "policies=", "env=" };

	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
		if (!strncmp(word, known[k], strlen(known[k])))
			return true;
	return !strcmp(word, "task-prolog=run") || !strcmp(word, "task-epilog=run");
}

static bool is_account(const char *name)
{
	return getpwnam(name);
}

static bool is_group(const char *name)
{
	return getgrnam(name);
}

/* It holds nobody then, and has to be seen; others go on, so that the end of an account is
 * not that of a cluster. */
static void say_unknown(const char *names, bool (*exists)(const char *), const char *what)
{
	char *copy = names ? strdup(names) : NULL, *rest = copy, *name;

	while ((name = strsep(&rest, ",")))
		if (!exists(name))
			slurm_error("sbx: plugstack.conf: no %s '%s' is known: it holds nobody",
				    what, name);
	free(copy);
}

/* In each daemon and client: a word that is mistaken is said before anything rests on it. */
int slurm_spank_init(spank_t spank, int count, char **words)
{
	(void)spank;
	for (int i = 0; i < count; i++) {
		if (is_known(words[i]))
			continue;
		slurm_error("sbx: plugstack.conf: no word %s: users=, groups=, policies=, env=, "
			    "task-prolog=run, task-epilog=run",
			    words[i]);
		return SLURM_ERROR;
	}
	if (spank_context() == S_CTX_SLURMD || spank_context() == S_CTX_REMOTE) {
		say_unknown(argument(count, words, "users"), is_account, "account");
		say_unknown(argument(count, words, "groups"), is_group, "group");
	}
	return ESPANK_SUCCESS;
}
