/*
 * chaperon/rebuild.c - see rebuild.h.
 *
 * No word of the client's is a word of a shell anywhere: the script that Slurm gets names
 * the envelope, and what the client asked for stands in that.
 */
#include "chaperon/rebuild.h"

#include "blob/job_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#define SUBMIT_DIR "SLURM_SUBMIT_DIR"

bool job_tag(char tag[JOB_TAG_SIZE])
{
	unsigned char random[16];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return false;
	strcpy(tag, "sbx-");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(tag + 4 + 2 * i, 3, "%02x", random[i]);
	return true;
}

bool job_path_is_plain(const char *path)
{
	return path[0] == '/' &&
	       strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			    "/._+@=-") == strlen(path);
}

/* ---- the command line ----------------------------------------------------------------- */

static bool is_ours(enum sbx_slurm_takes takes)
{
	switch (takes) {
	case SBX_TAKES_DIRECTORY:
	case SBX_TAKES_INPUT:
	case SBX_TAKES_OUTPUT:
	case SBX_TAKES_ERRORS:
	case SBX_TAKES_ENVIRONMENT:
	case SBX_TAKES_COMMENT:
	case SBX_TAKES_SCRIPT:
	case SBX_TAKES_JOBS:
	case SBX_TAKES_COLUMNS:
	case SBX_TAKES_USER: /* nobody else's jobs are asked for, and on no other cluster */
	case SBX_TAKES_CLUSTERS:
		return true;
	default:
		return false;
	}
}

void rebuild_options(const struct ask *ask, struct strings *line)
{
	/* Of two words: scontrol, whose options are flags and whose keys have values. */
	bool keys = strchr(ask->request.command, '-') != NULL;

	for (unsigned i = 0; i < ask->request.given_count; i++) {
		const struct sbx_slurm_given *given = &ask->request.given[i];
		const char *name = ask_name(ask, given);

		if (is_ours(ask_takes(ask, given)))
			continue;
		if (!given->value)
			strings_add(line, "%s", name);
		else
			strings_add(line, "%s=%s", keys ? name + 2 : name, given->value);
	}
}

/* The job's name where none is given: that of the script, as sbatch does it, in the
 * characters that a name of a job may have. */
static void default_name(const struct ask *ask, char *out, size_t size)
{
	const char *script = ask->request.operand_count ? ask->request.operands[0] : "sbatch";
	const char *slash = strrchr(script, '/');

	if (ask_value(ask, SBX_TAKES_SCRIPT))
		script = "wrap";
	snprintf(out, size, "%s", slash && slash[1] && script != slash ? slash + 1 : script);
	for (char *at = out; *at; at++) {
		char name[3] = { 'x', *at, '\0' }; /* the first one is held to more */

		if (sbx_slurm_objection(SBX_TAKES_NAME, at == out ? name + 1 : name))
			*at = '_';
	}
}

bool rebuild_job(struct ask *ask, const struct job_frame *frame, const char *tag,
		 struct strings *line)
{
	bool batch = !strcmp(ask->request.command, "sbatch");
	char name[256]; /* of a file */

	if (!job_path_is_plain(frame->jobs) || !job_path_is_plain(frame->workspace))
		return ask_refuse(
		    ask,
		    "%s refused: the names of the workspace and of the home must be of "
		    "letters, digits and /._+@=- for jobs",
		    ask->request.command);
	if (!ask_value(ask, SBX_TAKES_NAME)) {
		default_name(ask, name, sizeof(name));
		strings_add(line, "--job-name=%s", name);
	}
	strings_add(line, "--chdir=%s", frame->workspace);
	/* The sender's environment, which is the chaperon's own few variables: with a list or
	 * NONE the node would run a login shell outside every sandbox to make one. */
	strings_add(line, "--export=ALL");
	if (frame->job)
		strings_add(line, "--jobid=%s", frame->job);
	else
		strings_add(line, "--comment=%s", tag);
	if (!batch)
		return true;
	strings_add(line, "--output=%s/%s/slurm-%%j.out", frame->jobs, tag);
	strings_add(line, "--error=%s/%s/slurm-%%j.out", frame->jobs, tag);
	strings_add(line, "--input=/dev/null");
	return true;
}

/* ---- the envelope ----------------------------------------------------------------------- */

/* An absolute name without . and .. and double slashes; false: it has too many .. */
static bool join(const char *cwd, const char *path, char *out, size_t size)
{
	const char *parts[] = { path[0] == '/' ? "" : cwd, path };
	size_t length = 0;

	for (size_t i = 0; i < 2; i++)
		for (const char *at = parts[i]; *at;) {
			size_t part = strcspn(at, "/");

			if (part == 2 && !memcmp(at, "..", 2))
				return false;
			if (part && !(part == 1 && *at == '.')) {
				if (length + part + 2 > size)
					return false;
				out[length++] = '/';
				memcpy(out + length, at, part);
				length += part;
			}
			at += part + (at[part] == '/');
		}
	if (!length)
		out[length++] = '/';
	out[length] = '\0';
	return true;
}

static bool is_within(const char *path, const char *root)
{
	size_t length = strlen(root);

	if (!strcmp(root, "/"))
		return true;
	return !strncmp(path, root, length) && (!path[length] || path[length] == '/');
}

static bool put_directory(struct ask *ask, const struct job_frame *frame, struct strings *envelope)
{
	const char *given = ask_value(ask, SBX_TAKES_DIRECTORY);
	char path[4096];

	if (!join(frame->cwd, given ? given : "", path, sizeof(path)) ||
	    !is_within(path, frame->workspace))
		return ask_refuse(ask, "%s refused: a job starts in the workspace, not in %s",
				  ask->request.command, given ? given : frame->cwd);
	strings_add(envelope, "cwd %s", path);
	return true;
}

/* A file that the job opens: where its name leads is for the policy to say, inside. */
static void put_file(const struct ask *ask, const char *key, enum sbx_slurm_takes takes,
		     struct strings *envelope)
{
	const char *given = ask_value(ask, takes);

	if (given)
		strings_add(envelope, "%s %s", key, given);
}

static const char *variable(const struct ask *ask, const char *name, size_t length)
{
	for (const char *const *at = ask->environment; at && *at; at++)
		if (!strncmp(*at, name, length) && (*at)[length] == '=')
			return *at + length + 1;
	return NULL;
}

/* May a job have it?  What the policy sets, and placeholders, a job gets anew. */
static bool may_have(const struct job_frame *frame, const char *name, bool *useful, bool *denied)
{
	struct sbx_env_verdict verdict;

	sbx_env_decide(frame->blob, name, &verdict);
	*useful = verdict.visible && !verdict.set && verdict.credential == SBX_NONE &&
		  strcmp(name, SUBMIT_DIR) != 0; /* is this job's own */
	*denied = !verdict.visible && verdict.rule != SBX_NONE;
	return verdict.visible;
}

/* The real client runs elsewhere, and tells that.  A step is told its job's. */
static void put_submit_directory(const struct ask *ask, const struct job_frame *frame,
				 struct strings *envelope)
{
	const char *of_job =
	    frame->job ? variable(ask, SUBMIT_DIR, strlen(SUBMIT_DIR)) : NULL;

	strings_add(envelope, "export " SUBMIT_DIR "=%s", of_job ? of_job : frame->cwd);
}

static void put_all(const struct ask *ask, const struct job_frame *frame, struct strings *envelope)
{
	for (const char *const *at = ask->environment; at && *at; at++) {
		char name[256];
		size_t length = strcspn(*at, "=");
		bool useful, denied;

		if (length >= sizeof(name))
			continue;
		memcpy(name, *at, length);
		name[length] = '\0';
		if (may_have(frame, name, &useful, &denied) && useful)
			strings_add(envelope, "export %s", *at);
	}
}

/* One item of --export: NAME or NAME=VALUE. */
static bool put_variable(struct ask *ask, const struct job_frame *frame, const char *item,
			 size_t size, struct strings *envelope)
{
	const char *equals = memchr(item, '=', size), *value;
	size_t length = equals ? (size_t)(equals - item) : size;
	char name[256];
	bool useful, denied;

	if (!length || length >= sizeof(name))
		return ask_refuse(ask, "%s refused: --export=%.*s is no list of variables",
				  ask->request.command, (int)size, item);
	memcpy(name, item, length);
	name[length] = '\0';
	if (!may_have(frame, name, &useful, &denied)) {
		ask_refuse(ask, "%s refused: the job's policy passes no variable %s",
			   ask->request.command, name);
		return !denied && ask_would(ask, "env { pass %.100s }", name);
	}
	value = equals ? equals + 1 : variable(ask, name, length);
	if (useful && value)
		strings_add(envelope, "export %s=%.*s", name,
			    equals ? (int)(size - length - 1) : (int)strlen(value), value);
	return true;
}

static bool put_environment(struct ask *ask, const struct job_frame *frame,
			    struct strings *envelope)
{
	const char *list = ask_value(ask, SBX_TAKES_ENVIRONMENT), *at;
	bool all = !list;

	if (list && strpbrk(list, "'\"\\"))
		return ask_refuse(ask, "%s refused: no quotes in --export", ask->request.command);
	for (at = list ? list : ""; *at && !all;
	     at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
		all = strcspn(at, ",") == 3 && !memcmp(at, "ALL", 3);
	if (all)
		put_all(ask, frame, envelope);
	for (at = list ? list : ""; *at;) {
		size_t size = strcspn(at, ",");
		bool word = (size == 3 && (!memcmp(at, "ALL", 3) || !memcmp(at, "NIL", 3))) ||
			    (size == 4 && !memcmp(at, "NONE", 4));

		if (!word && !put_variable(ask, frame, at, size, envelope))
			return false;
		at += size + (at[size] == ',');
	}
	return true;
}

static void put_session(const struct job_frame *frame, struct strings *envelope)
{
	const struct sbx_blob *blob = frame->blob;
	const char *const *values = frame->vars->value;

	strings_add(envelope, "version %s", SBX_JOB_VERSION);
	strings_add(envelope, "blob %s", frame->policy);
	strings_add(envelope, "session %s", frame->session);
	strings_add(envelope, "backend %s", frame->backend);
	for (uint32_t i = 0; i < SBX_VAR_COUNT; i++)
		if (values[i])
			strings_add(envelope, "var %s=%s", sbx_var_name(blob, i), values[i]);
	for (uint32_t i = 0; i < SBX_COUNT(blob, PARAMS); i++)
		if (values[SBX_VAR_PARAM + i])
			strings_add(envelope, "param %s=%s",
				    sbx_string(blob, SBX_AT(blob, PARAMS, sbx_param, i)->name),
				    values[SBX_VAR_PARAM + i]);
}

bool rebuild_envelope(struct ask *ask, const struct job_frame *frame, const char *script,
		      struct strings *envelope)
{
	const struct sbx_slurm_given *mode = ask_option(ask, "--open-mode");
	/* Of a script the first operand is its name, which the job does not need. */
	unsigned first = script && !ask_value(ask, SBX_TAKES_SCRIPT) ? 1 : 0;
	char name[256]; /* of a file */

	put_session(frame, envelope);
	if (!put_directory(ask, frame, envelope))
		return false;
	put_submit_directory(ask, frame, envelope);
	default_name(ask, name, sizeof(name));
	strings_add(envelope, "name %s",
		    ask_value(ask, SBX_TAKES_NAME) ? ask_value(ask, SBX_TAKES_NAME) : name);
	put_file(ask, "output", SBX_TAKES_OUTPUT, envelope);
	put_file(ask, "error", SBX_TAKES_ERRORS, envelope);
	put_file(ask, "input", SBX_TAKES_INPUT, envelope);
	if (mode && mode->value)
		strings_add(envelope, "open-mode %s", mode->value);
	if (!put_environment(ask, frame, envelope))
		return false;
	if (ask_option(ask, "--pty") && !frame->job)
		strings_add(envelope, "interactive yes");
	if (script)
		strings_add(envelope, "script %s", script);
	for (unsigned i = first; i < ask->request.operand_count; i++)
		strings_add(envelope, "argument %s", ask->request.operands[i]);
	return !envelope->broken || ask_refuse(ask, "no memory");
}

void rebuild_digest(const struct strings *envelope, char digest[65])
{
	struct sbx_sha256 sum;
	uint8_t bytes[32];

	sbx_sha256_init(&sum);
	for (size_t i = 0; i < envelope->count; i++)
		sbx_sha256_add(&sum, envelope->items[i], strlen(envelope->items[i]) + 1);
	sbx_sha256_end(&sum, bytes);
	text_hex(bytes, digest);
}

bool rebuild_wrapper(const char *directory, const char *digest, char *out, size_t size)
{
	int length = snprintf(out, size, SBX_JOB_WRAPPER, directory, digest);

	return job_path_is_plain(directory) && length > 0 && (size_t)length < size;
}

/* ---- columns ------------------------------------------------------------------------------ */

/* The `show` of the command, or SBX_NONE. */
static uint32_t show_rule(const struct ask *ask)
{
	for (uint32_t i = 0; i < SBX_COUNT(ask->blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = SBX_AT(ask->blob, SLURM, sbx_slurm_rule, i);

		if (rule->head.verb == SBX_SLURM_SHOW &&
		    !strcmp(sbx_string(ask->blob, rule->command), ask->request.command))
			return i;
	}
	return SBX_NONE;
}

static bool shows(const struct ask *ask, uint32_t index, const char *name, size_t length)
{
	const struct sbx_slurm_rule *rule = SBX_AT(ask->blob, SLURM, sbx_slurm_rule, index);
	char text[128];
	uint32_t unset;
	bool wild;

	for (uint32_t i = 0; i < rule->value_count; i++)
		if (sbx_expand(ask->blob,
			       *SBX_AT(ask->blob, TMPLS, sbx_tmpl, rule->value_first + i),
			       ask->vars, text, sizeof(text), &wild, &unset) == (int)length &&
		    !strncasecmp(text, name, length))
			return true;
	return false;
}

static bool check_columns(struct ask *ask, uint32_t rule, const char *list)
{
	for (const char *at = list; *at;) {
		size_t size = strcspn(at, ","), name = strcspn(at, ",:.%");

		if (!shows(ask, rule, at, name))
			return ask_refuse_by(ask, rule,
					     "%s refused: the policy does not show column %.*s",
					     ask->request.command, (int)size, at);
		at += size + (at[size] == ',');
	}
	return true;
}

bool rebuild_columns(struct ask *ask, const char *option, struct strings *line)
{
	const struct sbx_slurm_rule *rule;
	uint32_t index = show_rule(ask);
	bool given = false;
	char text[4096] = "", name[128];
	size_t length = 0;
	uint32_t unset;
	bool wild;

	/* The real squeue has columns for it that no other option changes. */
	if (index != SBX_NONE && ask_option(ask, "--start"))
		return ask_refuse_by(
		    ask, index,
		    "%s refused: the policy names columns, and --start shows others",
		    ask->request.command);
	for (unsigned i = 0; i < ask->request.given_count; i++) {
		const struct sbx_slurm_given *one = &ask->request.given[i];

		if (ask_takes(ask, one) != SBX_TAKES_COLUMNS)
			continue;
		if (index != SBX_NONE && strcmp(ask_name(ask, one), option) != 0)
			return ask_refuse_by(
			    ask, index,
			    "%s refused: the policy names columns, so only %s is taken",
			    ask->request.command, option);
		if (index != SBX_NONE && !check_columns(ask, index, one->value))
			return false;
		strings_add(line, "%s=%s", ask_name(ask, one), one->value);
		given = true;
	}
	if (index == SBX_NONE || given)
		return true;
	rule = SBX_AT(ask->blob, SLURM, sbx_slurm_rule, index);
	for (uint32_t i = 0; i < rule->value_count; i++) {
		int size = sbx_expand(ask->blob,
				      *SBX_AT(ask->blob, TMPLS, sbx_tmpl, rule->value_first + i),
				      ask->vars, name, sizeof(name), &wild, &unset);

		/* A name that is cut may be another column's. */
		if (size < 0 || length + (size_t)size + sizeof(",") > sizeof(text))
			return ask_refuse_by(ask, index,
					     "%s refused: the policy shows more columns than one "
					     "list can name",
					     ask->request.command);
		if (size)
			length += (size_t)sprintf(text + length, "%s%s", length ? "," : "", name);
	}
	strings_add(line, "%s=%s", option, text);
	return true;
}
