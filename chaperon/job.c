/*
 * chaperon/job.c - sbatch and srun: a job that runs inside its policy on its node.
 *
 * Whatever the client gave, what Slurm gets is a command of ours that starts the node's
 * sbx-exec; script, arguments, files and variables lie in the job's envelope.
 */
#include "chaperon/command.h"

#include "blob/job_wire.h"
#include "chaperon/budget.h"
#include "chaperon/queue.h"
#include "chaperon/tables.h"
#include "chaperon/words.h"

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
	int fd =
	    openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool written = fd >= 0 && write_all(fd, data, size);

	return fd >= 0 && !close(fd) && written;
}

/* jobs/DIGEST.sbx, once for all jobs of this policy. */
static bool keep_policy(const struct session *session, int jobs)
{
	char name[80], other[96];

	snprintf(name, sizeof(name), "%s" SBX_JOB_POLICY, session->job_policy.digest);
	if (!utimensat(jobs, name, NULL, AT_SYMLINK_NOFOLLOW)) /* in use: see sweep.c */
		return true; /* the job's launcher compares its digest with the name */
	snprintf(other, sizeof(other), ".%s.%d", session->job_policy.digest, (int)getpid());
	unlinkat(jobs, other, 0);
	return write_file(jobs, other, session->job_policy.blob.base,
			  session->job_policy.blob.size) &&
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

/* All that the job finds on its node. */
static bool leave_envelope(struct client *client, const struct strings *envelope,
			   const char *script, size_t size)
{
	const struct session *session = client->server->session;
	int jobs = -1, directory = -1;
	bool good;

	if (directories_make(session->jobs))
		jobs = open(session->jobs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (jobs >= 0 && !mkdirat(jobs, client->tag, 0700))
		directory =
		    openat(jobs, client->tag, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* What an envelope names is not swept away. */
	good = directory >= 0 &&
	       (!script || write_file(directory, SBX_JOB_SCRIPT, script, size)) &&
	       write_envelope(directory, envelope) && keep_policy(session, jobs);
	if (directory >= 0)
		close(directory);
	if (jobs >= 0)
		close(jobs);
	return good;
}

/* ---- submitting ---------------------------------------------------------------------------- */

static void hex_digest(const void *data, size_t size, char out[65])
{
	struct sbx_sha256 sum;
	uint8_t bytes[32];

	sbx_sha256_init(&sum);
	sbx_sha256_add(&sum, data, size);
	sbx_sha256_end(&sum, bytes);
	text_hex(bytes, out);
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

static bool counts_hours(const struct client *client)
{
	return budget_needs(client->server->session) & BUDGET_HOURS;
}

static void say_id(struct client *client)
{
	bool parsable = ask_option(&client->ask, "--parsable") != NULL;
	char line[64];

	if (!parsable && ask_option(&client->ask, "--quiet"))
		return;
	snprintf(line, sizeof(line), "%s%u\n", parsable ? "" : "Submitted batch job ", client->job);
	client_send(client, CHAPERON_OUTPUT, line, strlen(line));
}

static void within_hours(struct client *client)
{
	say_id(client);
	client_exit(client, 0);
}

/* One that was killed may have submitted it: then it counts.  Where the queue has its tag,
 * it is there, whatever sbatch says. */
static void not_submitted(struct client *client, int status)
{
	struct record *record = client->server->record;
	const struct job *job;
	bool never;

	record_lock(record);
	job = record_tagged(record, client->tag);
	never = WIFEXITED(status) && job && !job->id;
	if (never)
		record_failed(record, client->tag);
	record_unlock(record);
	if (never)
		job_forget(client);
}

static void on_batch_end(struct client *client, int status)
{
	if (!client->job)
		not_submitted(client, status);
	else if (WIFEXITED(status) && WEXITSTATUS(status) == SBX_JOB_EXIT) /* of --wait */
		words_show(client, client->tag, client->job);
	if (client->job && counts_hours(client))
		budget_judge_hours(client, within_hours);
	else
		client_exit(client, status);
}

/* The id is on the first line that the real sbatch says. */
void job_output(struct client *client)
{
	const char *text, *end;
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
	if (counts_hours(client))
		return; /* not yet */
	say_id(client);
	client->outlives = false; /* with --wait: who goes, stops waiting, as outside */
	run_unlimited(client->run);
}

static void run_batch(struct client *client, const char *directory, const char *digest)
{
	char wrapper[8192];

	if (!rebuild_wrapper(directory, digest, wrapper, sizeof(wrapper))) {
		record_failed(client->server->record, client->tag);
		job_forget(client);
		client_fail(client, "the name of the directory of jobs cannot be used");
		return;
	}
	drop_word(&client->line, "--quiet");
	drop_word(&client->line, "--parsable");
	strings_add(&client->line, "--parsable");
	if (counts_hours(client) && !ask_option(&client->ask, "--hold"))
		strings_add(&client->line, "--hold");
	client->outlives = true;
	client_capture(client, &client->line, on_batch_end);
	if (!client->run) {
		record_failed(client->server->record, client->tag);
		job_forget(client);
		return;
	}
	run_input(client->run, wrapper, strlen(wrapper));
	run_input_end(client->run);
	intake_drop_script(&client->intake); /* with --wait it may be long */
}

static void run_step(struct client *client, const char *directory, const char *digest)
{
	strings_add(&client->line, "/bin/sh");
	strings_add(&client->line, "-c");
	strings_add(&client->line, "%s", SBX_JOB_STEP);
	strings_add(&client->line, SBX_JOB_RUNNER);
	strings_add(&client->line, "%s", directory);
	strings_add(&client->line, "%s", digest);
	client->input = true;
	client_run(client, 0);
}

struct job_frame job_frame(const struct client *client)
{
	const struct session *session = client->server->session;

	return (struct job_frame){ .session = session->id,
				   .backend = session->backend,
				   .workspace = session->workspace,
				   .jobs = session->jobs,
				   .policy = session->job_policy.digest,
				   .blob = &session->job_policy.blob,
				   .vars = &session->job_policy.vars,
				   .cwd = client->intake.cwd,
				   .job = command_is_step(client) ? session->job : NULL };
}

void job_submit(struct client *client)
{
	const struct session *session = client->server->session;
	const struct job_frame frame = job_frame(client);
	struct strings envelope = { 0 };
	char script[65], digest[65], directory[4300];
	bool good, left = false, begun = false;

	hex_digest(client->intake.script, client->intake.script_size, script);
	command_line(client);
	good = job_tag(client->tag) &&
	       rebuild_job(&client->ask, &frame, client->tag, &client->line) &&
	       rebuild_envelope(&client->ask, &frame, batch(client) ? script : NULL, &envelope);
	if (good) {
		rebuild_digest(&envelope, digest);
		snprintf(directory, sizeof(directory), "%.4000s/%s", session->jobs, client->tag);
		left =
		    leave_envelope(client, &envelope, batch(client) ? client->intake.script : NULL,
				   client->intake.script_size);
		begun =
		    left && (frame.job || record_begin(client->server->record, client->tag,
						       budget_tasks(&client->ask),
						       ask_value(&client->ask, SBX_TAKES_COMMENT)));
	}
	if (good && !begun)
		job_forget(client);
	if (!good)
		command_refused(client);
	else if (!left)
		client_fail(client, "the job's envelope cannot be written below %s", session->jobs);
	else if (!begun)
		client_fail(client, "the job cannot be written down in %s: %s",
			    client->server->record->path, record_trouble(client->server->record));
	else if (batch(client))
		run_batch(client, directory, digest);
	else
		run_step(client, directory, digest);
	strings_free(&envelope);
}

void job_forget(const struct client *client)
{
	const struct session *session = client->server->session;
	char path[4300];
	int jobs = open(session->jobs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (jobs < 0)
		return;
	snprintf(path, sizeof(path), "%s/" SBX_JOB_ENVELOPE, client->tag);
	unlinkat(jobs, path, 0);
	snprintf(path, sizeof(path), "%s/" SBX_JOB_SCRIPT, client->tag);
	unlinkat(jobs, path, 0);
	unlinkat(jobs, client->tag, AT_REMOVEDIR);
	close(jobs);
}

static void check_and_submit(struct client *client, int status)
{
	struct record *record = client->server->record;

	if (status) {
		client_exit(client, status); /* squeue has said why */
		return;
	}
	if (client->captured)
		queue_learn(client);
	record_lock(record);
	if (budget_allows_job(client))
		job_submit(client);
	else
		command_refused(client);
	record_unlock(record);
}

static void go_on(struct client *client)
{
	const struct job_frame frame = job_frame(client);

	if (!ask_settle(&client->ask) || !judge_command(&client->ask, client->command, &frame) ||
	    !tables_fit(&client->ask, client->command->program) ||
	    !command_waits_for_ours(client, "--dependency")) {
		command_refused(client);
		return;
	}
	command_notice(client);
	if (command_is_step(client)) /* its job was counted */
		job_submit(client);
	else if (budget_needs(client->server->session) & BUDGET_QUEUE)
		queue_ask(client, check_and_submit);
	else
		check_and_submit(client, 0);
}

/* ---- what it is to run ------------------------------------------------------------------- */

/* As the real sbatch makes it of --wrap. */
static void make_script(struct client *client, const char *command)
{
	int length =
	    asprintf(&client->intake.script,
		     "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n%s\n", command);

	if (length < 0) {
		client->intake.script = NULL;
		client_fail(client, "no memory");
		return;
	}
	client->intake.script_size = (size_t)length;
	go_on(client);
}

void job_begin(struct client *client)
{
	const char *command = ask_value(&client->ask, SBX_TAKES_SCRIPT);
	char path[8192];

	if (!batch(client)) {
		go_on(client);
	} else if (client->ask.problem_count && !client->ask.request.operand_count) {
		command_refused(client); /* nobody has to type a script for it */
	} else if (command) {
		make_script(client, command);
	} else if (!judge_script(&client->ask, path, sizeof(path))) {
		command_refused(client);
	} else {
		intake_want_script(&client->intake);
		client_send(client, CHAPERON_WANT_SCRIPT, path, strlen(path));
	}
}

void job_script(struct client *client)
{
	if (ask_script(&client->ask, client->intake.script, client->intake.script_size))
		go_on(client);
	else
		command_refused(client);
}
