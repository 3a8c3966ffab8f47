/* The envelope of a job, under its session's policy and under another one. */
#include <criterion/criterion.h>
#include <string.h>

#include "chaperon/rebuild.h"
#include "tests/lib/model.h"

static void add_env(struct arena *arena, struct policy *policy, const char *name)
{
	*VEC_PUSH(arena, &policy->env) =
	    (struct env_rule){ .verb = SBX_ENV_PASS, .name = str_from(name) };
}

static void add_param(struct arena *arena, struct policy *policy, const char *name)
{
	*VEC_PUSH(arena, &policy->params) = (struct param){ .name = str_from(name),
							    .value = model_text(arena, "/default"),
							    .max = UINT64_MAX };
}

static void add_slurm(struct arena *arena, struct policy *policy, enum sbx_slurm_verb verb,
		      const char *option, enum sbx_slurm_takes takes)
{
	*VEC_PUSH(arena, &policy->slurm) = (struct slurm_rule){
		.verb = verb,
		.value_kind = takes,
		.command = STR_LIT("sbatch"),
		.option = option ? str_from(option) : (struct str){ 0 },
	};
}

/* What a session may submit, A passed. */
static void make_session(struct arena *arena, struct sbx_blob *blob)
{
	struct policy *policy = model_new(arena);
	struct emitted out;

	add_env(arena, policy, "A");
	add_param(arena, policy, "depth");
	add_slurm(arena, policy, SBX_SLURM_OPTION, "--export", SBX_TAKES_ENVIRONMENT);
	add_slurm(arena, policy, SBX_SLURM_ALLOW, NULL, 0);
	add_slurm(arena, policy, SBX_SLURM_ALLOW, "--export", 0);
	model_open(arena, policy, true, &out, blob);
}

static void make_jobs(struct arena *arena, struct sbx_blob *blob)
{
	struct policy *policy = model_new(arena);
	struct emitted out;

	add_env(arena, policy, "B");
	add_param(arena, policy, "depth");
	model_open(arena, policy, true, &out, blob);
}

static bool holds(const struct strings *envelope, const char *line)
{
	for (size_t i = 0; i < envelope->count; i++)
		if (!strncmp(envelope->items[i], line, strlen(line)))
			return true;
	return false;
}

/* The envelope of `sbatch EXPORT x` under @frame's policy; false: refused. */
static bool make_envelope(struct ask *ask, const struct sbx_blob *session,
			  const struct sbx_vars *vars, const char *export, struct job_frame *frame,
			  struct strings *envelope)
{
	static const char *const environment[] = { "A=1", "B=2", NULL };
	const char *words[] = { "sbatch", export, "x" };
	bool good;

	frame->workspace = frame->cwd = "/w";
	frame->policy = "POLICY";
	frame->session = "1";
	frame->backend = "bwrap";
	cr_assert(ask_line(ask, session, vars, words, 3, environment));
	cr_assert(ask_settle(ask));
	good = rebuild_envelope(ask, frame, NULL, envelope);
	ask_free(ask);
	return good;
}

Test(job_policy, of_the_session)
{
	static struct ask ask;
	struct sbx_vars vars = { .value = { [SBX_VAR_WORKSPACE] = "/w", [SBX_VAR_PARAM] = "/two" } };
	struct strings envelope = { 0 };
	struct arena arena = { 0 };
	struct sbx_blob session;
	struct job_frame frame = { .blob = &session, .vars = &vars };

	make_session(&arena, &session);
	cr_assert(make_envelope(&ask, &session, &vars, "--export=ALL", &frame, &envelope));
	cr_expect(holds(&envelope, "export A=1") && !holds(&envelope, "export B"));
	cr_expect(holds(&envelope, "param depth=/two") && holds(&envelope, "var workspace=/w"));
	strings_free(&envelope);
	arena_free(&arena);
}

Test(job_policy, of_another)
{
	static struct ask ask;
	struct sbx_vars vars = { .value = { [SBX_VAR_WORKSPACE] = "/w", [SBX_VAR_PARAM] = "/two" } };
	struct sbx_vars of_jobs = { .value = { [SBX_VAR_WORKSPACE] = "/w" } };
	struct strings envelope = { 0 };
	struct arena arena = { 0 };
	struct sbx_blob session, jobs;
	struct job_frame frame = { .blob = &jobs, .vars = &of_jobs };
	char said[ASK_TEXT_SIZE];

	make_session(&arena, &session);
	make_jobs(&arena, &jobs);
	cr_assert(make_envelope(&ask, &session, &vars, "--export=ALL", &frame, &envelope));
	cr_expect(holds(&envelope, "export B=2") && !holds(&envelope, "export A"));
	cr_expect(!holds(&envelope, "param ") && holds(&envelope, "var workspace=/w"));
	strings_free(&envelope);
	cr_expect_not(make_envelope(&ask, &session, &vars, "--export=A", &frame, &envelope));
	ask_problem_text(&ask, 0, said);
	cr_expect(strstr(said, "the job's policy passes no variable A"), "%s", said);
	strings_free(&envelope);
	arena_free(&arena);
}
