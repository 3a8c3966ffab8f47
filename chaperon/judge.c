/*
 * chaperon/judge.c - see judge.h.
 *
 * A job is judged by making what it would be made of, which is then thrown away: nothing
 * can be refused later that is not refused here.
 */
#include "chaperon/judge.h"

#include "chaperon/hours.h"
#include "chaperon/ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command commands[] = {
	{ "sbatch", "/usr/bin/sbatch", COMMAND_BATCH, NULL, NULL },
	{ "srun", "/usr/bin/srun", COMMAND_STEP, NULL, NULL },
	{ "squeue", "/usr/bin/squeue", COMMAND_LISTING, "--Format", NULL },
	{ "sacct", "/usr/bin/sacct", COMMAND_LISTING, "--format", NULL },
	{ "sstat", "/usr/bin/sstat", COMMAND_LISTING, "--format", NULL },
	{ "sprio", "/usr/bin/sprio", COMMAND_LISTING, "--format", NULL },
	{ "scancel", "/usr/bin/scancel", COMMAND_CANCEL, NULL, NULL },
	{ "scontrol", "/usr/bin/scontrol", COMMAND_NONE, NULL, NULL },
	{ "scontrol-show-hostlist", "/usr/bin/scontrol", COMMAND_NAMES, NULL, "hostlist" },
	{ "scontrol-show-hostlistsorted", "/usr/bin/scontrol", COMMAND_NAMES, NULL,
	  "hostlistsorted" },
	{ "scontrol-show-hostnames", "/usr/bin/scontrol", COMMAND_NAMES, NULL, "hostnames" },
	{ "scontrol-show-job", "/usr/bin/scontrol", COMMAND_SHOW, NULL, "show job" },
	{ "scontrol-hold", "/usr/bin/scontrol", COMMAND_CHANGE, NULL, "hold" },
	{ "scontrol-release", "/usr/bin/scontrol", COMMAND_CHANGE, NULL, "release" },
	{ "scontrol-requeue", "/usr/bin/scontrol", COMMAND_CHANGE, NULL, "requeue" },
	{ "scontrol-update", "/usr/bin/scontrol", COMMAND_CHANGE, NULL, "update" },
	{ "sinfo", "/usr/bin/sinfo", COMMAND_PLAIN, NULL, NULL },
	{ "sshare", "/usr/bin/sshare", COMMAND_PLAIN, NULL, NULL },
	{ "sdiag", "/usr/bin/sdiag", COMMAND_PLAIN, NULL, NULL },
};

const struct command *judge_find(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

const char *judge_about(const struct ask *ask)
{
	static const char *const options[] = { "--help", "--usage", "--version", "--helpformat",
					       "--help-fields" };

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (ask_option(ask, options[i]))
			return options[i];
	return NULL;
}

uint32_t judge_hours(const struct sbx_blob *blob)
{
	for (uint32_t i = 0; i < SBX_COUNT(blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = SBX_AT(blob, SLURM, sbx_slurm_rule, i);

		if (rule->head.verb == SBX_SLURM_BUDGET &&
		    strstr(sbx_string(blob, rule->option), "-hours"))
			return i;
	}
	return SBX_NONE;
}

bool judge_adds_hours(const struct command *command)
{
	return command->class == COMMAND_CHANGE &&
	       (!strcmp(command->words, "update") || !strcmp(command->words, "requeue"));
}

/* ---- jobs ------------------------------------------------------------------------------ */

bool judge_script(struct ask *ask, char *out, size_t size)
{
	const char *directory = ask_value(ask, SBX_TAKES_DIRECTORY);
	const char *name = ask->request.operand_count ? ask->request.operands[0] : "";

	/* sbatch looks for a name in the directory of --chdir, not where it was called, unless it
	 * begins with a dot. */
	if (!directory || !*name || *name == '.' || *name == '/')
		directory = NULL;
	return (size_t)snprintf(out, size, "%s%s%s", directory ? directory : "",
				directory ? "/" : "", name) < size ||
	       ask_refuse(ask, "%s refused: the name of the script is too long",
			  ask->request.command);
}

/* Hours are counted while the job is held: see hours.def for what that bears. */
static bool bears_hours(struct ask *ask, const struct command *command,
			const struct job_frame *frame)
{
	uint32_t hours = judge_hours(ask->blob);

	if (hours == SBX_NONE || frame->job)
		return true;
	if (command->class == COMMAND_STEP)
		return ask_refuse_by(ask, hours,
				     "srun refused: the policy has a budget of hours: submit the "
				     "job with sbatch");
	for (unsigned i = 0; i < ask->request.given_count; i++) {
		const char *name = ask_name(ask, &ask->request.given[i]);

		if (!hours_bears(name))
			return ask_refuse_by(
			    ask, hours,
			    "sbatch refused: the policy has a budget of hours, so there is no %s",
			    name);
	}
	return true;
}

static bool judge_step(struct ask *ask)
{
	static const enum sbx_slurm_takes files[] = { SBX_TAKES_OUTPUT, SBX_TAKES_ERRORS,
						      SBX_TAKES_INPUT };

	if (!ask->request.operand_count)
		ask_refuse(ask, "srun refused: which program?");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (ask_value(ask, files[i]))
			ask_refuse(ask,
				   "srun refused: it would open %s outside: redirect it instead",
				   ask_value(ask, files[i]));
	return !ask->problem_count;
}

static bool judge_job(struct ask *ask, const struct command *command, const struct job_frame *frame)
{
	struct strings line = { 0 }, envelope = { 0 };
	bool batch = command->class == COMMAND_BATCH, good;

	if (batch && ask_value(ask, SBX_TAKES_SCRIPT) && ask->request.operand_count)
		return ask_refuse(ask, "sbatch refused: no script beside --wrap");
	if ((!batch && !judge_step(ask)) || !bears_hours(ask, command, frame))
		return false;
	good = rebuild_job(ask, frame, "", &line) &&
	       rebuild_envelope(ask, frame, batch ? "" : NULL, &envelope);
	strings_free(&line);
	strings_free(&envelope);
	return good;
}

/* ---- what is about jobs that there are ----------------------------------------------------- */

/* Are the ids that are named such, and how many?  Whose they are is another question. */
static bool judge_ids(struct ask *ask, size_t *count)
{
	const char *given = ask_value(ask, SBX_TAKES_JOBS), *text = given, *wrong = NULL;
	struct job_ids ids = { 0 };

	if (given)
		wrong = ids_read(&ids, given);
	for (unsigned i = 0; i < ask->request.operand_count && !wrong; i++) {
		text = ask->request.operands[i];
		wrong = ids_read(&ids, text);
	}
	*count = ids.count;
	ids_free(&ids);
	return !wrong || ask_refuse(ask, "%s refused: %s %s", ask->request.command, text, wrong);
}

static bool judge_listing(struct ask *ask, const struct command *command)
{
	struct strings line = { 0 };
	bool good = rebuild_columns(ask, command->columns, &line);

	strings_free(&line);
	return good;
}

/* Does an option of scancel say which jobs are meant?  --quiet or a signal does not, and
 * would end all there are. */
static bool picks_jobs(const struct ask *ask)
{
	for (unsigned i = 0; i < ask->request.given_count; i++) {
		const struct sbx_slurm_given *given = &ask->request.given[i];
		const char *name = ask_name(ask, given);

		if (given->value ? strcmp(name, "--signal") != 0 &&
				       ask_takes(ask, given) != SBX_TAKES_CLUSTERS
				 : !strcmp(name, "--me"))
			return true;
	}
	return false;
}

static bool judge_change(struct ask *ask, const struct command *command, size_t ids)
{
	uint32_t hours = judge_hours(ask->blob);

	if (judge_adds_hours(command) && hours != SBX_NONE)
		return ask_refuse_by(ask, hours,
				     "%s refused: the policy has a budget of hours, counted once",
				     ask->request.command);
	return ids || (command->class == COMMAND_CANCEL && picks_jobs(ask)) ||
	       ask_refuse(ask, "%s refused: which job?", ask->request.command);
}

/* What is asked of nobody: a list may be left out, where a variable has one.  Of a name
 * with a slash scontrol would read the file. */
static bool judge_names(struct ask *ask)
{
	const struct sbx_slurm_request *request = &ask->request;
	const char *list = request->operand_count ? request->operands[0] : "";

	return (request->operand_count <= 1 && list[0] != '-' && !strchr(list, '/')) ||
	       ask_refuse(ask, "%s refused: it takes one list of names, such as n[1-3]",
			  request->command);
}

const char *judge_dependency(const struct ask *ask)
{
	const struct sbx_slurm_given *given = ask_option(ask, "--dependency");

	if (!given)
		given = ask_option(ask, "--Dependency"); /* the key of scontrol */
	return given ? given->value : NULL;
}

/* Is what is waited for named by ids?  Whose they are is another question. */
static bool judge_waiting(struct ask *ask)
{
	const char *text = judge_dependency(ask), *wrong;
	struct job_ids ids = { 0 };

	wrong = text ? ids_read_dependency(&ids, text) : NULL;
	ids_free(&ids);
	return !wrong || ask_refuse(ask, "%s refused: %s %s", ask->request.command, text, wrong);
}

bool judge_command(struct ask *ask, const struct command *command, const struct job_frame *frame)
{
	const struct sbx_slurm_request *request = &ask->request;
	size_t ids = 0;

	if (judge_about(ask))
		return true;
	if (!judge_waiting(ask))
		return false;
	if (command->class == COMMAND_NONE) /* it would read commands */
		return ask_refuse(ask,
				  "%s refused: only --help and --version are without a command",
				  request->command);
	if (command->class == COMMAND_NAMES)
		return judge_names(ask);
	if (command->class <= COMMAND_STEP)
		return judge_job(ask, command, frame);
	if (command->class == COMMAND_PLAIN)
		return !request->operand_count ||
		       ask_refuse(ask, "%s refused: it takes no %s", request->command,
				  request->operands[0]);
	if (!judge_ids(ask, &ids))
		return false;
	if (command->class == COMMAND_LISTING)
		return judge_listing(ask, command);
	if (command->class == COMMAND_SHOW)
		return ids == 1 ||
		       ask_refuse(ask, "%s refused: it takes the id of one job", request->command);
	return judge_change(ask, command, ids);
}
