/*
 * chaperon/session.c - see session.h.
 */
#include "chaperon/session.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "blob/chaperon_wire.h"

/* Of the caller outside, and of nobody else. */
static void make_environment(struct session *session)
{
	struct strings *to = &session->environment;
	const char *conf = given_named(&session->given, "env", "SLURM_CONF"),
		   *lang = given_named(&session->given, "env", "LANG");

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
	const char *end = session->given.values + session->given.values_size;

	session->job = given_one(&session->given, "job");
	if (!session->job)
		return;
	for (size_t i = 0; i < session->environment.count; i++)
		strings_add(&session->step, "%s", session->environment.items[i]);
	for (const char *at = session->given.values; at < end; at += strlen(at) + 1) {
		const char *variable = given_behind(at, "env");

		if (variable && !strncmp(variable, "SLURM_", 6) &&
		    strncmp(variable, "SLURM_CONF", 10) != 0)
			strings_add(&session->step, "%s", variable);
	}
}

/* By name.  Of a number, as also of --me, Slurm asks first whether it is a name: all that
 * nsswitch.conf names is searched in vain, LDAP too, for each squeue. */
static void choose_self(struct session *session)
{
	const struct passwd *entry = getpwnam(session->user);

	if (entry && entry->pw_uid == getuid() && strlen(session->user) < sizeof(session->self))
		strcpy(session->self, session->user);
	else
		snprintf(session->self, sizeof(session->self), "%u", (unsigned)getuid());
}

static const char *read_values(struct session *session)
{
	static const char *const kinds[] = { "backend", "home", "user", "state", "jobs" };
	const char **const to[] = { &session->backend, &session->home, &session->user,
				    &session->state, &session->jobs };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		*to[i] = given_one(&session->given, kinds[i]);
		if (!*to[i])
			return "a value of the session is missing";
	}
	session->workspace = session->vars.value[SBX_VAR_WORKSPACE];
	if (!session->workspace || session->state[0] != '/' || session->jobs[0] != '/')
		return "a value of the session is missing";
	if (strlen(session->state) > SESSION_PATH_MAX || strlen(session->jobs) > SESSION_PATH_MAX)
		return "the name of the directory of jobs or of their records is too long";
	choose_self(session);
	make_environment(session);
	make_step_environment(session);
	return session->environment.broken || session->step.broken ? "no memory" : NULL;
}

static void find_job_policy(struct session *session)
{
	struct sbx_vars *vars = &session->job_policy.vars;

	*vars = session->vars;
	if (!sbx_blob_jobs(&session->blob, &session->job_policy.blob))
		session->job_policy.blob = session->blob;
	else
		memset(&vars->value[SBX_VAR_PARAM], 0, SBX_PARAM_MAX * sizeof(vars->value[0]));
	text_hex(session->job_policy.blob.header->digest, session->job_policy.digest);
}

const char *session_receive(struct session *session)
{
	struct given *given = &session->given;
	const char *wrong = given_receive(given, SBX_CHAPERON_WIRE_VERSION, "sbx-chaperon");

	session->log = (struct lines){ .fd = given->fds[CHAPERON_FD_LOG],
				       .name = "the log of Slurm commands" };
	session->blob = given->blob;
	session->vars = given->vars;
	session->policy = given->policy;
	session->id = given->id;
	if (wrong)
		return wrong;
	find_job_policy(session);
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
