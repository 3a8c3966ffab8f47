/*
 * compiler/explain_slurm.c - slurm "COMMAND LINE": sbx-chaperon's own reading of it.
 *
 * The same functions that read and judge a command for the chaperon (chaperon/ask.h,
 * judge.h) are asked here, with the script if it is there.  What only the queue, or the
 * record of what was asked for before, can say is no verdict but a condition.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chaperon/ids.h"
#include "chaperon/judge.h"
#include "compiler/explain.h"
#include "compiler/render.h"

#define SCRIPT_MAX (16u << 20) /* as the chaperon's */
#define HOUR       3600

struct asked {
	const struct question *question;
	struct answer *answer;
	const struct command *command;
	struct ask ask;
	struct job_frame frame;
	struct sbx_blob job_blob;
	struct sbx_vars job_vars;
	char line[SBX_SLURM_LINE_SIZE];
	const char *words[SBX_SLURM_WORD_MAX + 1];
	const char *variables[SBX_SLURM_WORD_MAX + 1];
	unsigned count, first;         /* words; those before are variables */
	struct sbx_slurm_request said; /* on the line, before anything is added */
};

static const struct sbx_slurm_rule *rule_at(const struct asked *asked, uint32_t index)
{
	return SBX_AT(asked->question->blob, SLURM, sbx_slurm_rule, index);
}

static const char *rule_text(struct asked *asked, uint32_t index)
{
	char text[1024];

	ask_rule_text(&asked->ask, index, text, sizeof(text));
	return arena_copy(asked->question->arena, text, strlen(text));
}

/* ---- what is asked ---------------------------------------------------------------------- */

/* NAME=VALUE, as a shell takes it before a command. */
static bool is_variable(const char *word)
{
	size_t name = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_");

	return name && word[name + strspn(word + name, "0123456789_")] == '=';
}

/* As in a session that begins here; outside the workspace, in that. */
static void make_frame(struct asked *asked)
{
	const struct view *view = asked->question->view;
	const char *workspace = view->vars.value[SBX_VAR_WORKSPACE];
	const char *home = view->vars.value[SBX_VAR_HOME];
	size_t length;

	workspace = workspace ? workspace : view->cwd;
	length = strlen(workspace);
	asked->job_vars = view->vars;
	if (sbx_blob_jobs(asked->question->blob, &asked->job_blob))
		memset(&asked->job_vars.value[SBX_VAR_PARAM], 0,
		       SBX_PARAM_MAX * sizeof(asked->job_vars.value[0]));
	else
		asked->job_blob = *asked->question->blob;
	asked->frame = (struct job_frame){
		.session = "",
		.backend = "",
		.policy = "",
		.workspace = workspace,
		.jobs = arena_printf(asked->question->arena, "%s/.local/share/sbx/jobs",
				     home ? home : ""),
		.blob = &asked->job_blob,
		.vars = &asked->job_vars,
		.cwd = !strncmp(view->cwd, workspace, length) &&
			       (!view->cwd[length] || view->cwd[length] == '/')
			   ? view->cwd
			   : workspace,
	};
}

/* All of a file, or NULL. */
static char *read_script(struct arena *arena, const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	char *text = NULL;
	ssize_t got = -1;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size <= SCRIPT_MAX) {
		text = arena_alloc(arena, (size_t)status.st_size + 1);
		got = read(fd, text, (size_t)status.st_size);
	}
	close(fd);
	*size = got > 0 ? (size_t)got : 0;
	return got < 0 ? NULL : text;
}

/* False: its lines are refused. */
static bool ask_script_too(struct asked *asked)
{
	const struct question *question = asked->question;
	char name[8192];
	const char *path, *text;
	size_t size;

	if (asked->command->class != COMMAND_BATCH || judge_about(&asked->ask) ||
	    ask_value(&asked->ask, SBX_TAKES_SCRIPT))
		return true;
	if (!judge_script(&asked->ask, name, sizeof(name)))
		return false;
	if (!*name) {
		answer_note(question, asked->answer,
			    "the script is read from standard input: its #SBATCH lines are not in "
			    "this answer");
		return true;
	}
	path =
	    *name == '/' ? name : arena_printf(question->arena, "%s/%s", question->view->cwd, name);
	text = read_script(question->arena, path, &size);
	if (!text) {
		answer_note(question, asked->answer,
			    "%s cannot be read: its #SBATCH lines are not in this answer", path);
		return true;
	}
	answer_note(question, asked->answer, "with the #SBATCH lines of %s", path);
	return ask_script(&asked->ask, text, size);
}

/* ---- what is done with it ------------------------------------------------------------------ */

static bool has(const struct sbx_slurm_request *request, const struct asked *asked,
		const char *option)
{
	for (unsigned i = 0; i < request->given_count; i++)
		if (!strcmp(ask_name(&asked->ask, &request->given[i]), option))
			return true;
	return false;
}

/* What ask_settle() has changed. */
static void note_changes(struct asked *asked)
{
	for (uint32_t i = 0; i < SBX_COUNT(asked->question->blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = rule_at(asked, i);
		const char *option = sbx_string(asked->question->blob, rule->option);
		bool forces = rule->head.verb == SBX_SLURM_FORCE, given;

		if ((!forces && rule->head.verb != SBX_SLURM_ADD) ||
		    strcmp(sbx_string(asked->question->blob, rule->command),
			   asked->ask.request.command) != 0)
			continue;
		given = has(&asked->said, asked, option) ||
			has(&asked->ask.script.request, asked, option);
		if (forces || !given)
			answer_note(asked->question, asked->answer, "it gets, by %s",
				    rule_text(asked, i));
	}
	for (const char *at = asked->ask.notice; *at;) {
		size_t length = strcspn(at, "\n"), sbx = strlen("sbx: ");

		answer_note(asked->question, asked->answer, "%.*s", (int)(length - sbx), at + sbx);
		at += length + (at[length] == '\n');
	}
}

static void note_policy_of_job(struct asked *asked)
{
	struct sbx_blob jobs;

	if (asked->command->class > COMMAND_STEP)
		return;
	if (sbx_blob_jobs(asked->question->blob, &jobs))
		answer_note(asked->question, asked->answer,
			    "the job runs under another policy, %s, whose params have their "
			    "defaults: digest %s",
			    sbx_string(&jobs, sbx_meta(&jobs)->name),
			    render_digest(asked->question->arena, &jobs));
	else
		answer_note(asked->question, asked->answer,
			    "the job runs under this policy, too");
}

static const char *scope_of(const struct asked *asked)
{
	for (uint32_t i = 0; i < SBX_COUNT(asked->question->blob, SLURM); i++)
		if (rule_at(asked, i)->head.verb == SBX_SLURM_SCOPE)
			return view_expand(asked->question->view,
					   *SBX_AT(asked->question->blob, TMPLS, sbx_tmpl,
						   rule_at(asked, i)->value_first));
	return "session";
}

/* What the job asks for at least, in the unit of the budget: each task has a processor. */
static uint64_t asks_for(const struct asked *asked, const char *what)
{
	const char *array = ask_value(&asked->ask, SBX_TAKES_ARRAY);
	const struct sbx_slurm_given *time = ask_option(&asked->ask, "--time");
	uint64_t tasks = 1, seconds = 0;

	if (array && !sbx_slurm_amount(SBX_TAKES_ARRAY, array, &tasks))
		tasks = 1;
	if (!strncmp(what, "jobs", 4))
		return tasks;
	if (strcmp(what, "cpu-hours") != 0 || !time || !time->value ||
	    !sbx_slurm_amount(SBX_TAKES_TIME, time->value, &seconds))
		return 0;
	return (tasks * seconds + HOUR - 1) / HOUR;
}

/* A budget that is too small for it when nothing is used yet refuses. */
static void ask_budgets(struct asked *asked)
{
	const struct question *question = asked->question;

	for (uint32_t i = 0; i < SBX_COUNT(question->blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = rule_at(asked, i);
		const char *what = sbx_string(question->blob, rule->option);
		uint64_t most, asks;

		if (rule->head.verb != SBX_SLURM_BUDGET || !rule->value_count)
			continue;
		most = strtoull(
		    sbx_string(question->blob,
			       SBX_AT(question->blob, TMPLS, sbx_tmpl, rule->value_first)->text),
		    NULL, 10);
		asks = asks_for(asked, what);
		if (asks > most)
			ask_refuse_by(&asked->ask, i, "%s refused: it asks for %s%llu %s",
				      asked->ask.request.command,
				      strstr(what, "hours") ? "at least " : "",
				      (unsigned long long)asks, what);
		else if (strstr(what, "hours"))
			answer_condition(question, asked->answer,
					 "the %s that Slurm says it asks for are left of %s", what,
					 rule_text(asked, i));
		else
			answer_condition(question, asked->answer, "%llu job%s left of %s",
					 (unsigned long long)asks, asks == 1 ? " is" : "s are",
					 rule_text(asked, i));
	}
}

/* Each once. */
static void ask_ids(struct asked *asked, const struct job_ids *ids)
{
	for (size_t i = 0; i < ids->count; i++)
		if (!i || ids->items[i].job != ids->items[i - 1].job)
			answer_condition(asked->question, asked->answer, "job %u is of this %s",
					 ids->items[i].job, scope_of(asked));
}

/* Ids that were judged to be such. */
static void ask_whose(struct asked *asked)
{
	const char *given = ask_value(&asked->ask, SBX_TAKES_JOBS);
	struct job_ids ids = { 0 };

	if (given)
		ids_read(&ids, given);
	for (unsigned i = 0; i < asked->ask.request.operand_count; i++)
		ids_read(&ids, asked->ask.request.operands[i]);
	ask_ids(asked, &ids);
	if (!ids.count)
		answer_note(asked->question, asked->answer, "of the jobs of the %s alone",
			    scope_of(asked));
	ids_free(&ids);
}

static void ask_waiting(struct asked *asked)
{
	const char *text = judge_dependency(&asked->ask);
	struct job_ids ids = { 0 };

	if (text)
		ids_read_dependency(&ids, text);
	ask_ids(asked, &ids);
	ids_free(&ids);
}

/* ---- the answer ----------------------------------------------------------------------------- */

static void answer_problems(struct asked *asked)
{
	const struct question *question = asked->question;
	struct answer *answer = asked->answer;
	const struct ask *ask = &asked->ask;
	char text[ASK_TEXT_SIZE];

	answer->allowed = false;
	answer->conditions.count = 0;
	answer->rule = ask->problems[0].rule;
	answer->nobody = arena_printf(question->arena, "%s", ask->problems[0].reason);
	if (ask->problem_count > ASK_PROBLEMS)
		answer_note(question, answer, "for %u reasons, of which these are the first",
			    ask->problem_count);
	for (unsigned i = 0; i < ask->problem_count && i < ASK_PROBLEMS; i++) {
		const struct ask_problem *problem = &ask->problems[i];

		*VEC_PUSH(question->arena, &answer->lines) =
		    arena_copy(question->arena, problem->line, strlen(problem->line));
		ask_problem_text(ask, i, text);
		/* Of one that no rule has decided the first line says all. */
		if (ask->problem_count > 1)
			answer_note(question, answer, "%s", text + strlen("sbx: "));
		else if (answer->rule != SBX_NONE || strstr(problem->what, " ("))
			answer_note(question, answer, "%s%s%s", problem->what,
				    *problem->what ? " refused: " : "", problem->reason);
	}
}

/* False: refused, for ask.problems. */
static bool decide(struct asked *asked)
{
	const struct question *question = asked->question;
	struct ask *ask = &asked->ask;

	if (!ask_line(ask, question->blob, &question->view->vars, asked->words + asked->first,
		      asked->count - asked->first, asked->variables))
		return false;
	asked->command = judge_find(ask->request.command);
	if (!asked->command)
		return ask_refuse(ask, "%s refused: sbx-chaperon does not know what it does",
				  ask->request.command);
	if (!ask_script_too(asked))
		return false;
	asked->said = ask->request;
	if (!ask_settle(ask) || !judge_command(ask, asked->command, &asked->frame))
		return false;
	if (judge_about(ask))
		return true; /* it asks nobody */
	ask_waiting(asked);
	if (asked->command->class <= COMMAND_STEP)
		ask_budgets(asked);
	else if (asked->command->class >= COMMAND_LISTING &&
		 asked->command->class <= COMMAND_CANCEL)
		ask_whose(asked);
	if (!ask->problem_count)
		note_changes(asked);
	return !ask->problem_count;
}

const char *explain_submit(const struct question *question, struct answer *answer)
{
	struct asked *asked = arena_alloc(question->arena, sizeof(*asked));

	memset(asked, 0, sizeof(*asked));
	asked->question = question;
	asked->answer = answer;
	answer->section = SBX_SEC_SLURM;
	if (!sbx_slurm_split(question->object, asked->line, asked->words, &asked->count))
		return "no command line: too long, or a quote is open";
	while (asked->first < asked->count && is_variable(asked->words[asked->first])) {
		asked->variables[asked->first] = asked->words[asked->first];
		asked->first++;
	}
	make_frame(asked);
	answer->allowed = decide(asked);
	if (answer->allowed) {
		answer->rule = asked->ask.rule;
		note_policy_of_job(asked);
	} else {
		answer_problems(asked);
	}
	ask_free(&asked->ask);
	answer_held(question, answer, "no Slurm client, configuration or munge socket is inside");
	return NULL;
}
