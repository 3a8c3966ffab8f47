/*
 * chaperon/job.c - sbatch and srun: a job that runs inside the same policy on its node.
 *
 * Whatever the client gave, what Slurm gets is a command of ours that starts the node's
 * sbx-exec; script, arguments, files and variables lie in the job's envelope.
 */
#include "chaperon/command.h"

#include "blob/job_wire.h"
#include "chaperon/queue.h"
#include "chaperon/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool batch(const struct client *client)
{
	return client->command->class == COMMAND_BATCH;
}

/* ---- files ---------------------------------------------------------------------------- */

static bool write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t written = write(fd, at, size);

		if (written < 0 && errno != EINTR)
			return false;
		if (written > 0) {
			at += written;
			size -= (size_t)written;
		}
	}
	return true;
}

/* A new file below @directory. */
static bool write_file(int directory, const char *name, const void *data, size_t size)
{
	int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool written = fd >= 0 && write_all(fd, data, size);

	return fd >= 0 && !close(fd) && written;
}

/* jobs/DIGEST.sbx, once for all jobs of this policy. */
static bool keep_policy(const struct session *session, int jobs)
{
	char name[80], other[96];

	snprintf(name, sizeof(name), "%s.sbx", session->policy);
	if (!faccessat(jobs, name, R_OK, AT_SYMLINK_NOFOLLOW))
		return true; /* the job's launcher compares its digest with the name */
	snprintf(other, sizeof(other), ".%s.%d", session->policy, (int)getpid());
	unlinkat(jobs, other, 0);
	return write_file(jobs, other, session->blob_data, session->blob_size) &&
	       !renameat(jobs, other, jobs, name);
}

static bool write_envelope(int directory, const struct strings *envelope)
{
	int fd = openat(directory, SBX_JOB_ENVELOPE,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool good = fd >= 0;

	for (size_t i = 0; i < envelope->count && good; i++)
		good = write_all(fd, envelope->items[i], strlen(envelope->items[i]) + 1);
	return fd >= 0 && !close(fd) && good;
}

static bool make_parents(const char *path)
{
	char part[4096];

	snprintf(part, sizeof(part), "%s", path);
	for (char *at = part + 1; *at; at++)
		if (*at == '/') {
			*at = '\0';
			if (mkdir(part, 0700) && errno != EEXIST)
				return false;
			*at = '/';
		}
	return !mkdir(part, 0700) || errno == EEXIST;
}

/* All that the job finds on its node. */
static bool leave_envelope(struct client *client, const struct strings *envelope,
			   const char *script, size_t size)
{
	const struct session *session = client->server->session;
	int jobs = -1, directory = -1;
	bool good;

	if (make_parents(session->jobs))
		jobs = open(session->jobs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (jobs >= 0 && !mkdirat(jobs, client->tag, 0700))
		directory = openat(jobs, client->tag, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	good = directory >= 0 && keep_policy(session, jobs) &&
	       (!script || write_file(directory, SBX_JOB_SCRIPT, script, size)) &&
	       write_envelope(directory, envelope);
	if (directory >= 0)
		close(directory);
	if (jobs >= 0)
		close(jobs);
	return good;
}

/* ---- budgets ----------------------------------------------------------------------------- */

static uint64_t tasks_of(const struct ask *ask)
{
	const char *array = ask_value(ask, SBX_TAKES_ARRAY);
	uint64_t tasks;

	return array && sbx_slurm_amount(SBX_TAKES_ARRAY, array, &tasks) ? tasks : 1;
}

/* All jobs that were submitted in the time of the budget. */
static uint64_t used(const struct record *record, const char *scope, uint32_t period)
{
	time_t since = period ? time(NULL) - (time_t)period : 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < record->count; i++) {
		const struct job *job = &record->jobs[i];
		bool ours = strcmp(scope, "session") != 0 ||
			    (job->session && !strcmp(job->session, record->session->id));

		if (!job->failed && ours && job->submitted >= since)
			sum += job->tasks;
	}
	return sum;
}

static bool over(struct client *client, const struct sbx_slurm_rule *rule, const char *whose,
		 uint64_t have)
{
	const struct session *session = client->server->session;
	const char *what = sbx_string(&session->blob, rule->option);
	uint64_t most = strtoull(sbx_string(&session->blob, SBX_AT(&session->blob, TMPLS, sbx_tmpl,
								   rule->value_first)->text),
				 NULL, 10);
	uint64_t more = tasks_of(&client->ask);
	char place[256];

	if (have + more <= most)
		return false;
	sbx_place(&session->blob, rule->head.loc, place, sizeof(place));
	ask_refuse(&client->ask, "%s refused: budget %s %s %llu (%s): %llu asked for, %llu left",
		   client->ask.request.command, whose, what, (unsigned long long)most, place,
		   (unsigned long long)more, (unsigned long long)(have < most ? most - have : 0));
	return true;
}

static const struct sbx_slurm_rule *budget(const struct client *client, uint32_t index,
					   const char **whose, const char **what)
{
	const struct sbx_blob *blob = &client->server->session->blob;
	const struct sbx_slurm_rule *rule = SBX_AT(blob, SLURM, sbx_slurm_rule, index);

	if (rule->head.verb != SBX_SLURM_BUDGET)
		return NULL;
	*whose = rule->command == SBX_NONE ? session_scope(client->server->session)
					   : sbx_string(blob, rule->command);
	*what = sbx_string(blob, rule->option);
	return rule;
}

/* Is the queue to be asked first?  Hours cannot be counted here: then nothing is let pass. */
static bool budgets_need_queue(struct client *client, bool *refused)
{
	const char *whose, *what;
	bool needed = false;

	*refused = false;
	for (uint32_t i = 0; i < SBX_COUNT(&client->server->session->blob, SLURM); i++) {
		if (!budget(client, i, &whose, &what))
			continue;
		if (!strcmp(what, "jobs-at-once"))
			needed = true;
		if (strstr(what, "-hours")) {
			ask_refuse(&client->ask, "%s refused: a budget of %s is not enforced by this version",
				   client->ask.request.command, what);
			*refused = true;
		}
	}
	return needed;
}

static bool within_budgets(struct client *client)
{
	const struct record *record = client->server->record;
	const struct sbx_slurm_rule *rule;
	const char *whose, *what;
	struct job_ids *ids;
	uint64_t have;

	for (uint32_t i = 0; i < SBX_COUNT(&client->server->session->blob, SLURM); i++) {
		rule = budget(client, i, &whose, &what);
		if (!rule)
			continue;
		if (!strcmp(what, "jobs-at-once")) {
			ids = malloc(sizeof(*ids));
			have = ids ? queue_list(client, whose, ids) : UINT32_MAX;
			free(ids);
		} else {
			have = used(record, whose, rule->period_s);
		}
		if (over(client, rule, whose, have))
			return false;
	}
	return true;
}

/* ---- submitting ---------------------------------------------------------------------------- */

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

/* Never the client's --quiet: with it the id of the job would not be said. */
static void drop_word(struct strings *line, const char *word)
{
	for (size_t i = 0; i < line->count; i++) {
		if (strcmp(line->items[i], word) != 0)
			continue;
		free(line->items[i]);
		memmove(&line->items[i], &line->items[i + 1], (line->count-- - i) * sizeof(char *));
		return;
	}
}

static void on_batch_end(struct client *client, int status)
{
	if (!client->job)
		record_failed(client->server->record, client->tag);
	client_exit(client, status);
}

/* The id is on the first line that the real sbatch says. */
void job_output(struct client *client)
{
	const char *text, *end;
	char line[64];
	size_t size = evbuffer_get_length(client->captured);

	if (client->job || !client->outlives)
		return;
	text = (const char *)evbuffer_pullup(client->captured, -1);
	end = memchr(text, '\n', size);
	if (!end)
		return;
	client->job = (uint32_t)strtoul(text, NULL, 10);
	if (!client->job)
		return;
	record_submitted(client->server->record, client->tag, client->job);
	if (!ask_option(&client->ask, "--parsable") && ask_option(&client->ask, "--quiet"))
		line[0] = '\0';
	else
		snprintf(line, sizeof(line), "%s%u\n",
			 ask_option(&client->ask, "--parsable") ? "" : "Submitted batch job ",
			 client->job);
	client_send(client, CHAPERON_OUTPUT, line, strlen(line));
	client->outlives = false; /* with --wait: who goes, stops waiting, as outside */
	run_unlimited(client->run);
}

static void run_batch(struct client *client, const char *directory, const char *digest)
{
	char wrapper[8192];

	if (!rebuild_wrapper(directory, digest, wrapper, sizeof(wrapper))) {
		client_fail(client, "the name of the directory of jobs cannot be used");
		return;
	}
	drop_word(&client->line, "--quiet");
	drop_word(&client->line, "--parsable");
	strings_add(&client->line, "--parsable");
	client->outlives = true;
	client_capture(client, &client->line, on_batch_end);
	if (!client->run)
		return;
	run_input(client->run, wrapper, strlen(wrapper));
	run_input_end(client->run);
}

static void run_step(struct client *client, const char *directory, const char *digest)
{
	strings_add(&client->line, "/bin/sh");
	strings_add(&client->line, "-c");
	strings_add(&client->line, "%s", rebuild_step_command);
	strings_add(&client->line, "sbx-job");
	strings_add(&client->line, "%s", directory);
	strings_add(&client->line, "%s", digest);
	client->input = true;
	client_run(client, 0);
}

void job_submit(struct client *client)
{
	const struct session *session = client->server->session;
	struct job_frame frame = { .session = session->id, .backend = session->backend,
				   .workspace = session->workspace, .jobs = session->jobs,
				   .policy = session->policy, .cwd = client->intake.cwd };
	struct strings envelope = { 0 };
	char script[65], digest[65], directory[4300];
	bool good;

	hex_digest(client->intake.script, client->intake.script_size, script);
	command_line(client);
	good = job_tag(client->tag) && rebuild_job(&client->ask, &frame, client->tag, &client->line) &&
	       rebuild_envelope(&client->ask, &frame, batch(client) ? script : NULL, &envelope);
	if (good) {
		rebuild_digest(&envelope, digest);
		snprintf(directory, sizeof(directory), "%.4000s/%s", session->jobs, client->tag);
	}
	if (!good)
		command_refused(client);
	else if (!leave_envelope(client, &envelope, batch(client) ? client->intake.script : NULL,
				 client->intake.script_size))
		client_fail(client, "the job's envelope cannot be written below %s", session->jobs);
	else if (!record_begin(client->server->record, client->tag, tasks_of(&client->ask),
			       ask_value(&client->ask, SBX_TAKES_COMMENT)))
		client_fail(client, "the job cannot be written down");
	else if (batch(client))
		run_batch(client, directory, digest);
	else
		run_step(client, directory, digest);
	strings_free(&envelope);
}

static void check_and_submit(struct client *client, int status)
{
	struct record *record = client->server->record;

	(void)status;
	if (client->captured)
		queue_learn(client);
	record_lock(record);
	if (within_budgets(client))
		job_submit(client);
	else
		command_refused(client);
	record_unlock(record);
}

static void go_on(struct client *client)
{
	bool refused, queue;

	if (!ask_settle(&client->ask) || !tables_fit(&client->ask, client->command->program)) {
		command_refused(client);
		return;
	}
	if (*client->ask.notice)
		client_say(client, "%s", client->ask.notice);
	queue = budgets_need_queue(client, &refused);
	if (refused)
		command_refused(client);
	else if (queue)
		queue_ask(client, check_and_submit);
	else
		check_and_submit(client, 0);
}

/* ---- what it is to run ------------------------------------------------------------------- */

/* As the real sbatch makes it of --wrap. */
static void make_script(struct client *client, const char *command)
{
	int length = asprintf(&client->intake.script,
			      "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n%s\n", command);

	if (length < 0) {
		client->intake.script = NULL;
		client_fail(client, "no memory");
		return;
	}
	client->intake.script_size = (size_t)length;
	go_on(client);
}

/* sbatch looks for a bare name in the directory of --chdir, not where it was called. */
static void want_script(struct client *client, const char *name)
{
	const char *directory = ask_value(&client->ask, SBX_TAKES_DIRECTORY);
	char path[8192];

	if (directory && *name && !strchr(name, '/'))
		snprintf(path, sizeof(path), "%.4000s/%.4000s", directory, name);
	else
		snprintf(path, sizeof(path), "%.8000s", name);
	intake_want_script(&client->intake);
	client_send(client, CHAPERON_WANT_SCRIPT, path, strlen(path));
}

static void begin_batch(struct client *client)
{
	const struct sbx_slurm_request *request = &client->ask.request;
	const char *command = ask_value(&client->ask, SBX_TAKES_SCRIPT);
	const char *name = request->operand_count ? request->operands[0] : "";

	if (command && request->operand_count) {
		ask_refuse(&client->ask, "sbatch refused: no script beside --wrap");
		command_refused(client);
	} else if (command) {
		make_script(client, command);
	} else {
		want_script(client, name);
	}
}

static void begin_step(struct client *client)
{
	static const enum sbx_slurm_takes files[] = { SBX_TAKES_OUTPUT, SBX_TAKES_ERRORS,
						      SBX_TAKES_INPUT };

	if (!client->ask.request.operand_count)
		ask_refuse(&client->ask, "srun refused: which program?");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (ask_value(&client->ask, files[i]))
			ask_refuse(&client->ask, "srun refused: it would open %s outside: redirect it instead",
				   ask_value(&client->ask, files[i]));
	if (*client->ask.refusal)
		command_refused(client);
	else
		go_on(client);
}

void job_begin(struct client *client)
{
	if (batch(client))
		begin_batch(client);
	else
		begin_step(client);
}

void job_script(struct client *client)
{
	if (ask_script(&client->ask, client->intake.script, client->intake.script_size))
		go_on(client);
	else
		command_refused(client);
}
