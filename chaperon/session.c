/*
 * chaperon/session.c - see session.h.
 *
 * The blob was checked by sbx-exec and sits in a sealed memory file; it is checked again
 * here, since what reads it below relies on that.
 */
#include "chaperon/session.h"

#include "chaperon/control.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A whole file, for reading; NULL: it is empty or cannot be had. */
static const void *map(int fd, size_t *size)
{
	struct stat status;
	void *at;

	if (fd < 0 || fstat(fd, &status) || status.st_size <= 0)
		return NULL;
	*size = (size_t)status.st_size;
	at = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

/* The value behind "@kind " in one of the strings, else NULL. */
static const char *behind(const char *text, const char *kind)
{
	size_t length = strlen(kind);

	return !strncmp(text, kind, length) && text[length] == ' ' ? text + length + 1 : NULL;
}

static const char *named(const struct session *session, const char *kind, const char *name)
{
	const char *end = session->values + session->values_size;
	size_t length = strlen(name);

	for (const char *at = session->values; at < end; at += strlen(at) + 1) {
		const char *rest = behind(at, kind);

		if (rest && !strncmp(rest, name, length) && rest[length] == '=')
			return rest + length + 1;
	}
	return NULL;
}

/* The one value of a kind without names. */
static const char *single(const struct session *session, const char *kind)
{
	const char *end = session->values + session->values_size;

	for (const char *at = session->values; at < end; at += strlen(at) + 1)
		if (behind(at, kind))
			return behind(at, kind);
	return NULL;
}

static void read_vars(struct session *session)
{
	const struct sbx_blob *blob = &session->blob;

	for (uint32_t i = 0; i < SBX_VAR_COUNT; i++)
		session->vars.value[i] = named(session, "var", sbx_var_name(blob, i));
	for (uint32_t i = 0; i < SBX_COUNT(blob, PARAMS); i++)
		session->vars.value[SBX_VAR_PARAM + i] = named(
		    session, "param", sbx_string(blob, SBX_AT(blob, PARAMS, sbx_param, i)->name));
}

/* Of the caller outside, and of nobody else. */
static void make_environment(struct session *session)
{
	struct strings *to = &session->environment;
	const char *conf = named(session, "env", "SLURM_CONF"),
		   *lang = named(session, "env", "LANG");

	strings_add(to, "PATH=/usr/bin:/bin");
	strings_add(to, "HOME=%s", session->home);
	strings_add(to, "USER=%s", session->user);
	strings_add(to, "LOGNAME=%s", session->user);
	strings_add(to, "LANG=%s", lang ? lang : "C.UTF-8");
	if (conf)
		strings_add(to, "SLURM_CONF=%s", conf);
}

/* Slurm's words to the job that this is, as slurmstepd had them. */
static void make_step_environment(struct session *session)
{
	const char *end = session->values + session->values_size;

	session->job = single(session, "job");
	if (!session->job)
		return;
	for (size_t i = 0; i < session->environment.count; i++)
		strings_add(&session->step, "%s", session->environment.items[i]);
	for (const char *at = session->values; at < end; at += strlen(at) + 1) {
		const char *variable = behind(at, "env");

		if (variable && !strncmp(variable, "SLURM_", 6) &&
		    strncmp(variable, "SLURM_CONF", 10) != 0)
			strings_add(&session->step, "%s", variable);
	}
}

static const char *read_values(struct session *session)
{
	static const char *const kinds[] = {
		"session", "backend", "home", "user", "state", "jobs"
	};
	const char **const to[] = { &session->id,   &session->backend, &session->home,
				    &session->user, &session->state,   &session->jobs };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		*to[i] = single(session, kinds[i]);
		if (!*to[i])
			return "a value of the session is missing";
	}
	read_vars(session);
	session->workspace = session->vars.value[SBX_VAR_WORKSPACE];
	if (!session->workspace || session->state[0] != '/' || session->jobs[0] != '/')
		return "a value of the session is missing";
	make_environment(session);
	make_step_environment(session);
	return session->environment.broken || session->step.broken ? "no memory" : NULL;
}

const char *session_receive(struct session *session)
{
	struct chaperon_message message;
	int fds[CONTROL_FDS];
	const char *wrong;

	if (control_receive(true, &message, fds) != CONTROL_GOT || message.kind != CHAPERON_SESSION)
		return "sbx-exec did not say which session this is";
	if (message.value != SBX_CHAPERON_WIRE_VERSION)
		return "sbx-exec and sbx-chaperon are of two versions: install both anew";
	session->log_fd = fds[CHAPERON_FD_LOG];
	session->blob_data = map(fds[CHAPERON_FD_BLOB], &session->blob_size);
	if (!session->blob_data)
		return "the blob cannot be read";
	wrong = sbx_blob_open(session->blob_data, session->blob_size, &session->blob);
	if (wrong)
		return wrong;
	session->values = map(fds[CHAPERON_FD_VALUES], &session->values_size);
	if (!session->values || session->values[session->values_size - 1])
		return "the session's values cannot be read";
	for (size_t i = 0; i < 32; i++)
		snprintf(session->policy + 2 * i, 3, "%02x", session->blob.header->digest[i]);
	return read_values(session);
}

const char *session_scope(const struct session *session)
{
	for (uint32_t i = 0; i < SBX_COUNT(&session->blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule =
		    SBX_AT(&session->blob, SLURM, sbx_slurm_rule, i);

		if (rule->head.verb == SBX_SLURM_SCOPE && rule->value_count)
			return sbx_string(
			    &session->blob,
			    SBX_AT(&session->blob, TMPLS, sbx_tmpl, rule->value_first)->text);
	}
	return "session";
}
