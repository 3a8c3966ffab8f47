/*
 * tests/lib/model.c - policies made in C, without a source text.
 */
#include "tests/lib/model.h"

#include <stdio.h>
#include <stdlib.h>

struct policy *model_new(struct arena *arena)
{
	struct policy *policy = ARENA_NEW(arena, struct policy);
	struct seg *workspace = ARENA_NEW(arena, struct seg);
	struct fs_rule *rule;

	*workspace = (struct seg){ .kind = SBX_SEG_VAR, .var = SBX_VAR_CWD };
	policy->kind = SBX_POLICY;
	policy->name = STR_LIT("sample");
	policy->workspace = (struct tmpl){ workspace, 1 };
	policy->workspace_rights = SBX_READ | SBX_WRITE | SBX_EXEC;
	rule = model_fs(arena, policy, SBX_FS_GRANT, policy->workspace_rights,
			model_glob(arena, NULL));
	policy->workspace_rule = (size_t)(rule - policy->fs.items);
	policy->sys_default = (struct sys_stmt){ .verb = SBX_SYS_DEFAULT };
	return policy;
}

struct tmpl model_text(struct arena *arena, const char *text)
{
	struct seg *seg = ARENA_NEW(arena, struct seg);

	*seg = (struct seg){ .kind = SBX_SEG_TEXT, .text = str_from(text) };
	return (struct tmpl){ seg, 1 };
}

struct tmpl model_glob(struct arena *arena, const char *pattern)
{
	struct seg *segs = arena_array(arena, 2, sizeof(*segs));

	segs[0] = (struct seg){ .kind = SBX_SEG_VAR, .var = SBX_VAR_WORKSPACE };
	if (pattern)
		segs[1] = (struct seg){ .kind = SBX_SEG_GLOB, .text = str_from(pattern) };
	return (struct tmpl){ segs, pattern ? 2 : 1 };
}

struct fs_rule *model_fs(struct arena *arena, struct policy *policy, enum sbx_fs_verb verb,
			 unsigned rights, struct tmpl path)
{
	struct fs_rule *rule = VEC_PUSH(arena, &policy->fs);

	*rule = (struct fs_rule){ .verb = verb, .rights = rights, .path = path };
	return rule;
}

struct sys_stmt *model_sys(struct arena *arena, struct policy *policy, enum sbx_sys_verb verb,
			   enum sbx_sys_action action, unsigned error)
{
	struct sys_stmt *stmt = VEC_PUSH(arena, &policy->sys);

	*stmt = (struct sys_stmt){ .verb = verb, .action = action, .error = error };
	return stmt;
}

void model_use(struct arena *arena, struct sys_stmt *stmt, const char *name, enum sbx_sys_rank rank)
{
	struct sys_use *use = VEC_PUSH(arena, &stmt->uses);

	*use = (struct sys_use){ .name = str_from(name), .rank = rank };
	if (!emit_syscall_numbers(name, use->nr)) {
		fprintf(stderr, "no system call is called %s\n", name);
		exit(2);
	}
}

void model_use_number(struct arena *arena, struct sys_stmt *stmt, const char *name, unsigned nr,
		      enum sbx_sys_rank rank)
{
	*VEC_PUSH(arena, &stmt->uses) =
	    (struct sys_use){ str_from(name), { (uint16_t)nr, (uint16_t)nr }, rank };
}

static void set_head(struct rule_head *head, const struct source *source, uint32_t at)
{
	static struct place other;

	other.span = (struct span){ source, 0, 1 };
	head->place = (struct place){ { source, at, at + 1 }, at ? &other : NULL };
	head->flags = SBX_F_COMPAT;
	head->compat = STR_LIT("why");
	head->because = STR_LIT("told to");
	head->guards = STR_LIT("own-code");
}

static void fill_files(struct arena *arena, struct policy *policy, const struct source *source)
{
	struct tmpl *excepts = arena_array(arena, 1, sizeof(*excepts));
	struct fs_rule *rule;

	*excepts = model_text(arena, "/home/u/.ssh/known_hosts");
	rule = model_fs(arena, policy, SBX_FS_SEAL, 7, model_text(arena, "/home/u/.ssh"));
	rule->excepts = (struct tmpls){ excepts, 1 };
	set_head(&rule->head, source, 4);
	rule = model_fs(arena, policy, SBX_FS_DENY, SBX_WRITE, model_glob(arena, "/**/.envrc"));
	rule->head.flags = SBX_F_SNAPSHOT;
	rule->placeholder = SBX_PLACEHOLDER_FILE;
	rule->placeholder_text = STR_LIT("#\n");
	rule = model_fs(arena, policy, SBX_FS_TMP, 3, model_text(arena, "/tmp"));
	rule->size = 1u << 30;
}

static void fill_rest(struct arena *arena, struct policy *policy, const struct source *source)
{
	struct sbx_cidr *at = ARENA_NEW(arena, struct sbx_cidr);
	struct tmpl *hosts = ARENA_NEW(arena, struct tmpl);
	struct net_rule *net;
	struct assertion *claim;

	*at = (struct sbx_cidr){ { [10] = 0xff, 0xff, 10, 1, 2, 0 }, 120 };
	*hosts = model_text(arena, "api.test:443");
	*VEC_PUSH(arena, &policy->env) =
	    (struct env_rule){ .verb = SBX_ENV_PASS, .name = STR_LIT("LC_*") };
	*VEC_PUSH(arena, &policy->env) = (struct env_rule){ .verb = SBX_ENV_SET,
							    .name = STR_LIT("HOME"),
							    .value = model_glob(arena, NULL) };
	net = VEC_PUSH(arena, &policy->net);
	*net = (struct net_rule){ .verb = SBX_NETV_ALLOW,
				  .kind = SBX_NETK_HOST,
				  .port = 443,
				  .host = STR_LIT("api.test"),
				  .at = at,
				  .at_count = 1 };
	set_head(&net->head, source, 9);
	*VEC_PUSH(arena, &policy->net) = (struct net_rule){ .verb = SBX_NETV_ALLOW,
							    .kind = SBX_NETK_UNIX,
							    .path = model_text(arena, "/run/x") };
	*VEC_PUSH(arena, &policy->credentials) =
	    (struct credential){ .name = STR_LIT("API_KEY"),
				 .hosts = { hosts, 1 },
				 .source_words = { hosts, 1 },
				 .header = STR_LIT("x-api-key") };
	*VEC_PUSH(arena, &policy->limits) =
	    (struct limit_rule){ .limit = SBX_LIMIT_MEMORY, .value = 8ull << 30 };
	*VEC_PUSH(arena, &policy->process) =
	    (struct process_rule){ .what = SBX_PROCESS_PASS_FD, .value = 3 };
	*VEC_PUSH(arena, &policy->require) =
	    (struct require_rule){ .what = SBX_REQUIRE_LANDLOCK, .value = 3 };
	*VEC_PUSH(arena, &policy->slots) = (struct slot){ .name = STR_LIT("docs"),
							  .rights = SBX_READ,
							  .under = model_text(arena, "/srv"),
							  .for_s = 3600,
							  .count = 2 };
	*VEC_PUSH(arena, &policy->slurm) = (struct slurm_rule){ .verb = SBX_SLURM_OPTION,
								.value_kind = 1,
								.command = STR_LIT("sbatch"),
								.option = STR_LIT("--time"),
								.short_name = STR_LIT("-t"),
								.env = STR_LIT("SBATCH_TIMELIMIT"),
								.values = { hosts, 1 } };
	*VEC_PUSH(arena, &policy->params) = (struct param){ .name = STR_LIT("state"),
							    .value = model_text(arena, "/s"),
							    .choices = { hosts, 1 },
							    .max = UINT64_MAX };
	claim = VEC_PUSH(arena, &policy->asserts);
	*claim = (struct assertion){ .polarity = SBX_NEVER,
				     .action = SBX_DO_READ,
				     .path = model_text(arena, "/home/u/.ssh/id"),
				     .text = STR_LIT("/home/u/.ssh/id") };
}

static void fill_jobs(struct arena *arena, struct policy *policy)
{
	struct policy *jobs = model_new(arena);
	struct tmpl *name = ARENA_NEW(arena, struct tmpl);
	struct emitted out;
	struct sbx_blob blob;

	jobs->name = STR_LIT("inner");
	model_open(arena, jobs, true, &out, &blob);
	policy->jobs = (struct str){ (const char *)out.data, out.size };
	*name = model_text(arena, "inner");
	*VEC_PUSH(arena, &policy->slurm) =
	    (struct slurm_rule){ .verb = SBX_SLURM_JOBS, .values = { name, 1 } };
}

struct policy *model_full(struct arena *arena)
{
	static const uint64_t requests[] = { 0x5412, 0x541c };
	struct source *source =
	    source_from_text(arena, "a.pol", "a.pol", STR_LIT("one\ntwo\nthree\n"));
	struct policy *policy = model_new(arena);
	struct sys_cond *cond = ARENA_NEW(arena, struct sys_cond);
	struct sys_stmt *stmt;

	policy->net_mode = SBX_NET_PROXY;
	policy->command = (struct tmpls){ ARENA_NEW(arena, struct tmpl), 1 };
	*cond =
	    (struct sys_cond){ 1, 4, false, SBX_IN, UINT32_MAX, requests, 2, STR_LIT("request") };
	stmt = model_sys(arena, policy, SBX_SYS_ALLOW, SBX_ACT_ALLOW, 0);
	model_use(arena, stmt, "read", SBX_RANK_GROUP);
	model_use(arena, stmt, "ioctl", SBX_RANK_NAME);
	model_use_number(arena, stmt, "newcall", 599, SBX_RANK_NAME);
	stmt = model_sys(arena, policy, SBX_SYS_DENY, SBX_ACT_ERRNO, 1);
	stmt->conds = cond;
	stmt->cond_count = 1;
	model_use(arena, stmt, "ioctl", SBX_RANK_WHERE);
	stmt = model_sys(arena, policy, SBX_SYS_DENY, SBX_ACT_ERRNO, 1);
	stmt->head.flags = SBX_F_SHARED;
	model_use(arena, stmt, "read", SBX_RANK_NAME);
	*VEC_PUSH(arena, &policy->sys_names) = (struct sys_name){ STR_LIT("newcall"), 599 };
	fill_files(arena, policy, source);
	fill_rest(arena, policy, source);
	fill_jobs(arena, policy);
	return policy;
}

void model_open(struct arena *arena, const struct policy *policy, bool strip, struct emitted *out,
		struct sbx_blob *blob)
{
	const char *error = emit_policy(arena, policy, strip, out);

	if (!error)
		error = sbx_blob_open(out->data, out->size, blob);
	if (error) {
		fprintf(stderr, "%s\n", error);
		exit(2);
	}
}
