/*
 * stub/job.c - `--job`: what sbx-chaperon left for this node, see blob/job_wire.h.
 *
 * The digest on the command line, which slurmctld keeps, is that of the envelope, and the
 * envelope names policy and script by theirs: who has changed a file meanwhile has ended
 * the job, and changed nothing of it.  Workspace and values are the session's; what the
 * program made of the workspace since does not choose them.
 *
 * What slurmstepd would open or execute is not looked at here: sbx-slurm does that inside,
 * as the first program (chaperon/inside/job.c), with envelope and script as memory files.
 */
#include "stub/job.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "blob/job_wire.h"
#include "stub/backend.h"
#include "stub/clients.h"
#include "stub/launch.h"
#include "stub/out.h"

#define ENVELOPE_MAX (4u << 20)
#define SCRIPT_MAX   (16u << 20)
/* Below lie the descriptors that scripts choose for themselves. */
#define FIRST_FD 100

#define PARAM  "param "
#define EXPORT "export "

/* The line behind @at (NULL: the first) that begins with @key, or NULL. */
static const char *next_line(const struct launch *launch, const char *at, const char *key)
{
	const char *end = launch->envelope + launch->envelope_size;

	at = at ? at + strlen(at) + 1 : launch->envelope;
	while (at < end && strncmp(at, key, strlen(key)))
		at += strlen(at) + 1;
	return at < end ? at : NULL;
}

static const char *value_of(const struct launch *launch, const char *key)
{
	const char *line = next_line(launch, NULL, key);

	return line ? line + strlen(key) : NULL;
}

static _Noreturn void refuse_changed(const struct launch *launch, const char *what)
{
	refuse("job %s: its %s is not the one that was submitted: submit it again",
	       launch->options.job, what);
}

/* A file of at most @most bytes whose digest is @digest: in the arena. */
static const char *read_file(const struct launch *launch, int dir, const char *name, size_t most,
			     const char *digest, size_t *size)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct sbx_sha256 sum;
	uint8_t bytes[32];
	struct stat st;
	ssize_t got = 1;
	char *data;

	if (fd < 0 || fstat(fd, &st) || st.st_size > (off_t)most)
		refuse("job %s: its %s cannot be read: %s", launch->options.job, name,
		       out_error(fd < 0 ? errno : EFBIG));
	data = mem_get((size_t)st.st_size + 1);
	for (*size = 0; got > 0; *size += got > 0 ? (size_t)got : 0)
		got = read(fd, data + *size, (size_t)st.st_size - *size);
	close(fd);
	sbx_sha256_init(&sum);
	sbx_sha256_add(&sum, data, *size);
	sbx_sha256_end(&sum, bytes);
	if (strcmp(out_hex(bytes), digest))
		refuse_changed(launch, name);
	return data;
}

/* Of these, too, only what the caller lets be taken: `--backend` stands behind where a
 * launch begins anew. */
static void take_backend(struct launch *launch)
{
	const char *name = value_of(launch, "backend ");
	unsigned enough = 0;

	/* The order is that of their strength. */
	for (enum sbx_backend kind = 0; kind < SBX_BACKEND_COUNT; kind++)
		if (name && !strcmp(name, sbx_backend_name(kind)))
			enough = (2u << kind) - 1;
	launch->options.backends &= enough;
	if (!launch->options.backends)
		refuse("job %s: no backend here enforces as much as %s: install it",
		       launch->options.job, name ? name : "");
}

static void take_params(struct launch *launch)
{
	const char *line = NULL;

	while ((line = next_line(launch, line, PARAM)))
		options_define(&launch->options, line + strlen(PARAM));
}

static bool is_exported(const struct launch *launch, const char *variable)
{
	const char *line = NULL;

	while ((line = next_line(launch, line, EXPORT)))
		if (!strncmp(line + strlen(EXPORT), variable, strcspn(variable, "=") + 1))
			return true;
	return false;
}

/* slurmstepd's, and over them those that the client's environment had. */
static void take_variables(struct launch *launch)
{
	const char *line = NULL;
	VEC(char *) all = { 0 };

	for (char **at = launch->environ; *at; at++)
		if (!is_exported(launch, *at))
			*vec_add(&all) = *at;
	while ((line = next_line(launch, line, EXPORT)))
		*vec_add(&all) = mem_string(line + strlen(EXPORT));
	*vec_add(&all) = NULL;
	launch->environ = all.items;
}

/* A memory file that the first program gets: its number. */
static char *hand_over(struct launch *launch, const char *data, size_t size)
{
	int file = backend_sealed_file("sbx-job", data, size);
	int fd = fcntl(file, F_DUPFD_CLOEXEC, FIRST_FD);

	if (fd < 0)
		fd = file; /* few are allowed */
	*vec_add(&launch->plan.pass_fds) = (uint32_t)fd;
	return mem_string(out_number((unsigned)fd));
}

/* The first word is for job_hold() to say. */
static void take_command(struct launch *launch, int dir)
{
	const char *digest = value_of(launch, "script "), *script;
	char **words = mem_get(4 * sizeof(*words));
	size_t size;

	words[1] = hand_over(launch, launch->envelope, launch->envelope_size);
	if (digest) {
		script = read_file(launch, dir, SBX_JOB_SCRIPT, SCRIPT_MAX, digest, &size);
		words[2] = hand_over(launch, script, size);
	}
	launch->options.command = words;
}

void job_read(struct launch *launch)
{
	struct options *options = &launch->options;
	int dir = open(options->job, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *version, *policy;

	if (*options->job != '/' || dir < 0)
		refuse("job %s: %s: submit it again", options->job,
		       out_error(dir < 0 ? errno : EINVAL));
	launch->envelope = read_file(launch, dir, SBX_JOB_ENVELOPE, ENVELOPE_MAX, options->digest,
				     &launch->envelope_size);
	if (!launch->envelope_size || launch->envelope[launch->envelope_size - 1])
		launch->envelope_size = 0;
	version = value_of(launch, "version ");
	policy = value_of(launch, "blob ");
	options->workspace = job_value(launch, SBX_VAR_WORKSPACE);
	if (!version || strcmp(version, SBX_JOB_VERSION) || !policy || !options->workspace)
		refuse("job %s: of another version of sbx: install the same everywhere",
		       options->job);
	options->blob = out_string("%s/%s.sbx", path_parent(options->job), policy);
	chdir(options->workspace); /* or vars.c says what is wrong with it */
	take_backend(launch);
	take_params(launch);
	take_variables(launch);
	take_command(launch, dir);
	close(dir);
}

const char *job_value(const struct launch *launch, enum sbx_var var)
{
	return value_of(launch, out_string("var %s=", sbx_var_name(&launch->blob, var)));
}

void job_hold(struct launch *launch)
{
	static const enum sbx_var same[] = { SBX_VAR_HOME, SBX_VAR_USER, SBX_VAR_UID,
					     SBX_VAR_WORKSPACE },
				  git[] = { SBX_VAR_GITDIR, SBX_VAR_GITCOMMON, SBX_VAR_GITHOOKS };

	if (!launch->envelope)
		return;
	if (strcmp(out_hex(launch->blob.header->digest), value_of(launch, "blob ")))
		refuse_changed(launch, "policy");
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		const char *was = job_value(launch, same[i]), *is = launch->vars.value[same[i]];

		if (was && (!is || strcmp(was, is)))
			refuse("job %s: $%s is %s here, and %s where it was submitted",
			       launch->options.job, sbx_var_name(&launch->blob, same[i]),
			       is ? is : "not set", was);
	}
	for (size_t i = 0; i < sizeof(git) / sizeof(*git); i++)
		launch->vars.value[git[i]] = job_value(launch, git[i]);
	*launch->options.command = mem_join(clients_directory(launch), "/" SBX_JOB_RUNNER);
}

bool job_is_batch(const struct launch *launch)
{
	return launch->envelope && value_of(launch, "script ");
}

bool job_has_slurm(const struct launch *launch)
{
	return job_is_batch(launch) || value_of(launch, "interactive ");
}

const char *job_session(const struct launch *launch)
{
	return value_of(launch, "session ");
}

bool job_says(const struct launch *launch, const char *name, const struct sbx_env_verdict *verdict)
{
	if (!launch->envelope || strncmp(name, "SLURM", 5))
		return false;
	return verdict->rule == SBX_NONE ||
	       SBX_AT(&launch->blob, ENV, sbx_env_rule, verdict->rule)->head.verb != SBX_ENV_SEAL;
}
