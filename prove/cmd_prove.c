/*
 * prove/cmd_prove.c - sbxc prove: each claim of a policy, held against the kernel.
 */
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/library.h"
#include "compiler/render.h"
#include "compiler/stages.h"
#include "prove/keep.h"
#include "prove/record.h"
#include "prove/report.h"

#define JOBS_MAX 64

volatile sig_atomic_t prove_stopped;

struct request {
	struct compile_options options;
	struct targets targets;
	const char *policy, *launcher, *record, *by;
	enum format format;
	unsigned jobs;
	bool verbose, help;
	const char *wrong;
};

static const char prove_help[] =
    "usage: sbxc prove [-v] [--backend NAME] [--format text|json|junit|tap]\n"
    "                  [--record FILE --by NAME] [--jobs N] [--launcher FILE]\n"
    "                  [-I DIR] [-D NAME=VALUE] BLOB|POLICY\n"
    "Tries each claim of the policy inside the sandbox, on each backend or on each\n"
    "--backend NAME, and each refusal once more without it: then it must work.\n"
    "  -v               list what holds, too\n"
    "  --record FILE    add the result to that record, by --by NAME\n"
    "  --jobs N         try so many backends at once (2)\n"
    "  --launcher FILE  another sbx-exec\n"
    "Exit status: 0 all that can be measured holds; 1 a claim leaks, a probe cannot\n"
    "fail, nothing could be measured, no session starts on a --backend, or the policy\n"
    "cannot be read; 2 usage.\n";

static const char *set_format(struct request *request, struct arena *arena, const char *name)
{
	for (unsigned i = 0; i < FORMAT_COUNT; i++)
		if (!strcmp(name, format_names[i])) {
			request->format = (enum format)i;
			return NULL;
		}
	return arena_printf(arena, "there is no format `%s`: they are text, json, junit and tap",
			    name);
}

static const char *set_jobs(struct request *request, struct arena *arena, const char *text)
{
	char *end;
	unsigned long jobs = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !jobs || jobs > JOBS_MAX)
		return arena_printf(arena, "--jobs takes a number from 1 to %d, not `%s`", JOBS_MAX,
				    text);
	request->jobs = (unsigned)jobs;
	return NULL;
}

/* An option with a value; false: it is none, or what is wrong is said. */
static bool read_value(int argc, char **argv, int *index, struct request *request,
		       struct arena *arena)
{
	const char *option = argv[*index], *value = *index + 1 < argc ? argv[*index + 1] : NULL;

	if (!strcmp(option, "--backend") && value)
		request->wrong = targets_add(arena, &request->targets, value);
	else if (!strcmp(option, "--format") && value)
		request->wrong = set_format(request, arena, value);
	else if (!strcmp(option, "--jobs") && value)
		request->wrong = set_jobs(request, arena, value);
	else if (!strcmp(option, "--record") && value)
		request->record = value;
	else if (!strcmp(option, "--by") && value)
		request->by = value;
	else if (!strcmp(option, "--launcher") && value)
		request->launcher = value;
	else
		return false;
	++*index;
	return true;
}

static bool read_request(int argc, char **argv, struct request *request, struct arena *arena)
{
	for (int i = 1; i < argc && !request->wrong; i++) {
		const char *word = argv[i];

		if (is_help(word))
			request->help = true;
		else if (!strcmp(word, "-v"))
			request->verbose = true;
		else if (word[0] != '-' || !word[1])
			request->wrong = request->policy ? "one policy at a time" : NULL,
			request->policy = word;
		else if (!read_value(argc, argv, &i, request, arena) &&
			 !common_option(argc, argv, &i, &request->options, arena))
			return false;
	}
	return !request->wrong && (request->policy || request->help);
}

static void stop(int signal)
{
	prove_stopped = signal;
}

static void take_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = stop };
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

/* prove->failed: why nothing could be tried. */
static void prove_backend(struct prove *prove)
{
	const char *error = scratch_make(prove), *blob;

	if (!error)
		error = control_plain(prove);
	blob = prove->view.vars.value[SBX_VAR_POLICY];
	/* A policy speaks of its own blob, so it has to be there before it is looked at. */
	if (!error && !output_write(blob, prove->blob.base, prove->blob.size))
		error = arena_printf(prove->arena, "%s could not be written", blob);
	if (!error) {
		claims_files(prove);
		claims_env(prove);
		claims_calls(prove);
		claims_net(prove);
		claims_process(prove);
		claims_slurm(prove);
		prove_all(prove);
	}
	scratch_remove(prove);
	prove->failed = error;
}

/* Backends that are not taken yet.  What threads share is only read but for this. */
struct queue {
	struct prove *proves;
	size_t count;
	atomic_size_t next;
};

static void *work(void *context)
{
	struct queue *queue = context;
	size_t index;

	while ((index = atomic_fetch_add(&queue->next, 1)) < queue->count && !prove_stopped)
		prove_backend(&queue->proves[index]);
	return NULL;
}

static void prove_each(struct prove *proves, size_t count, unsigned jobs)
{
	struct queue queue = { proves, count, 0 };
	pthread_t threads[JOBS_MAX];
	unsigned started = 0;

	while (started + 1 < jobs && started + 1 < count &&
	       pthread_create(&threads[started], NULL, work, &queue) == 0)
		started++;
	work(&queue);
	while (started)
		pthread_join(threads[--started], NULL);
	if (count && proves[0].progress)
		fputs("\r\33[K", stderr);
}

static struct proven what_is_proven(const struct request *request, struct arena *arena,
				    const struct sbx_blob *blob)
{
	return (struct proven){
		.blob = blob,
		.defines = request->options.defines,
		.define_count = request->options.define_count,
		.launcher =
		    request->launcher ? request->launcher : library_program(arena, "sbx-exec"),
	};
}

/* In the record, and where it is there for sbx-exec. */
static bool write_down(const struct request *request, struct arena *arena,
		       const struct proven *proven, const struct prove *proves, size_t count)
{
	const char *error = record_add(arena, request->record, request->by, proven, proves, count);

	if (error)
		error = arena_printf(arena, "%s: %s", request->record, error);
	else
		error = keep_proofs(arena, proven, proves, count);
	if (error)
		fprintf(stderr, "sbxc prove: %s\n", diag_escape(arena, str_from(error)));
	return !error;
}

/* A job's sessions are others, on other machines: its policy is proved by itself. */
static void note_jobs(struct arena *arena, const struct sbx_blob *blob)
{
	struct sbx_blob jobs;

	if (!sbx_blob_jobs(blob, &jobs))
		return;
	fprintf(stderr,
		"sbxc prove: jobs run under another policy, which was not tried: %s, digest %s: prove "
		"it by its own name, on a node\n",
		diag_escape(arena, str_from(sbx_string(&jobs, sbx_meta(&jobs)->name))),
		render_digest(arena, &jobs));
}

static int prove_policy(struct request *request, struct arena *arena, const struct sbx_blob *blob)
{
	const struct proven proven = what_is_proven(request, arena, blob);
	const struct passwd *user = getpwuid(getuid());
	size_t count;
	struct prove *proves;
	struct arena *arenas;
	const bool named = request->targets.count != 0;
	int status;

	targets_settle(arena, &request->targets, blob);
	count = request->targets.count;
	proves = arena_array(arena, count, sizeof(*proves));
	arenas = arena_array(arena, count, sizeof(*arenas));
	take_signals();
	for (size_t i = 0; i < count; i++)
		proves[i] = (struct prove){
			.arena = &arenas[i],
			.parent = user ? user->pw_dir : "/var/tmp",
			.launcher = proven.launcher,
			.probe = library_program(arena, "sbx-probe"),
			.given = blob,
			.defines = proven.defines,
			.define_count = proven.define_count,
			.target = request->targets.items[i],
			.progress = isatty(STDERR_FILENO),
			.named = named,
		};
	prove_each(proves, count, request->jobs);
	if (prove_stopped) {
		signal(prove_stopped, SIG_DFL);
		raise(prove_stopped);
	}
	for (size_t i = 0; i < count; i++)
		if (proves[i].failed)
			fprintf(stderr, "sbxc prove: %s\n",
				diag_escape(arena, str_from(proves[i].failed)));
	report(request->format, proves, count, request->verbose);
	note_jobs(arena, blob);
	status = proofs_hold(proves, count) ? SBXC_OK : SBXC_ERRORS;
	if (request->record && !write_down(request, arena, &proven, proves, count))
		status = SBXC_ERRORS;
	for (size_t i = 0; i < count; i++)
		arena_free(&arenas[i]);
	return status;
}

int cmd_prove(int argc, char **argv)
{
	struct request request = { .jobs = 2 };
	struct compilation compilation;
	struct arena arena = { 0 };
	int status = SBXC_ERRORS;
	struct sbx_blob blob;
	bool understood = read_request(argc, argv, &request, &arena);

	if (!request.wrong && !request.record != !request.by)
		request.wrong = "--record FILE and --by NAME go together";
	if (!understood || request.wrong || request.help) {
		status = usage_end("prove", request.wrong, request.help, prove_help);
		arena_free(&arena);
		return status;
	}
	compilation_init(&compilation, &request.options);
	if (open_blob_or_compile(&compilation, request.policy, &blob))
		status = prove_policy(&request, &compilation.arena, &blob);
	compilation_free(&compilation);
	arena_free(&arena);
	return finish_output(status);
}

static const char status_help[] =
    "usage: sbxc proof-status --record FILE [--launcher FILE] [-I DIR] [-D NAME=VALUE]\n"
    "                         BLOB|POLICY\n"
    "Does the last proof of this policy in the record still cover it: the same kernel,\n"
    "Landlock, launcher and backends?  One fact a line, yes or no; the last is the "
    "answer.\n"
    "Exit status: 0 it does; 1 it does not, or the record is broken; 2 usage.\n";

int cmd_proof_status(int argc, char **argv)
{
	struct request request = { 0 };
	struct compilation compilation;
	struct arena arena = { 0 };
	int status = SBXC_ERRORS;
	struct sbx_blob blob;

	if (!read_request(argc, argv, &request, &arena) || !request.record || request.help ||
	    request.targets.count || request.jobs || request.verbose || request.by) {
		status = usage_end("proof-status", request.wrong, request.help, status_help);
		arena_free(&arena);
		return status;
	}
	compilation_init(&compilation, &request.options);
	if (open_blob_or_compile(&compilation, request.policy, &blob)) {
		const struct proven proven = what_is_proven(&request, &arena, &blob);

		status = record_status(&compilation.arena, request.record, &proven);
	}
	compilation_free(&compilation);
	arena_free(&arena);
	return finish_output(status);
}
