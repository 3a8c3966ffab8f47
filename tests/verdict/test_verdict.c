/*
 * tests/verdict/test_verdict.c - decided cases that need a whole blob: system
 * calls, network, Slurm, assertions.
 */
#include <stdio.h>
#include <string.h>

#include "blob/verdict.h"
#include "tests/lib/model.h"

static const struct sbx_assert_means means = { .submit = sbx_slurm_decide };

static unsigned passed, failed;

static void check(bool good, const char *what)
{
	if (good) {
		passed++;
		return;
	}
	failed++;
	printf("failed: %s\n", what);
}

static struct tmpls one(struct arena *arena, const char *text)
{
	struct tmpl *tmpl = ARENA_NEW(arena, struct tmpl);

	*tmpl = model_text(arena, text);
	return (struct tmpls){ tmpl, 1 };
}

/* ---- network: NET-06 and the modes ------------------------------------------ */

static void check_modes(struct arena *arena)
{
	static const bool want[] = {
		[SBX_NET_NONE] = false, [SBX_NET_PROXY] = false, [SBX_NET_HOST] = true
	};

	for (unsigned mode = SBX_NET_NONE; mode <= SBX_NET_HOST; mode++) {
		struct policy *policy = model_new(arena);
		struct sbx_net_verdict verdict;
		struct emitted out;
		struct sbx_blob blob;

		policy->net_mode = (enum sbx_net_mode)mode;
		model_open(arena, policy, true, &out, &blob);
		sbx_net_decide(&blob, "example.com", 443, &verdict);
		check(verdict.allowed == want[mode] && verdict.rule == SBX_NONE, "mode decides");
	}
}

static void check_ports(struct arena *arena)
{
	static const struct {
		const char *host;
		unsigned port;
		bool allowed;
	} cases[] = {
		{ "api.test", 443, true },  { "api.test", 22, false }, { "db.test", 5432, true },
		{ "db.test", 443, false },  { "api.test", 0, false },  { "api.test", 65536, false },
		{ "api.test.", 443, true }, { "API.test", 443, true }, { "api.test\n", 443, false },
		{ "bad.test", 443, false }, { "bad.test", 1, false },
	};
	struct policy *policy = model_new(arena);
	struct emitted out;
	struct sbx_blob blob;

	policy->net_mode = SBX_NET_PROXY;
	*VEC_PUSH(arena, &policy->net) =
	    (struct net_rule){ .kind = SBX_NETK_HOST, .port = 443, .host = STR_LIT("api.test") };
	*VEC_PUSH(arena, &policy->net) =
	    (struct net_rule){ .kind = SBX_NETK_HOST, .port = 5432, .host = STR_LIT("db.test") };
	*VEC_PUSH(arena, &policy->net) =
	    (struct net_rule){ .kind = SBX_NETK_HOST, .port = 443, .host = STR_LIT("bad.test") };
	*VEC_PUSH(arena, &policy->net) = (struct net_rule){ .verb = SBX_NETV_DENY,
							    .kind = SBX_NETK_HOST,
							    .host = STR_LIT("bad.test") };
	model_open(arena, policy, true, &out, &blob);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sbx_net_verdict verdict;

		sbx_net_decide(&blob, cases[i].host, cases[i].port, &verdict);
		check(verdict.allowed == cases[i].allowed, cases[i].host);
	}
}

static void check_sockets(struct arena *arena)
{
	static const struct {
		const char *path;
		bool allowed;
	} cases[] = {
		{ "/run/x", true },           { "/run/x/bus", false }, { "/run/x/secret", false },
		{ "/run/x/secret/s", false }, { "/run/xy", false },   { "/run", false },
	};
	struct policy *policy = model_new(arena);
	struct sbx_vars vars = { 0 };
	struct sbx_net_verdict verdict;
	struct emitted out;
	struct sbx_blob blob;

	*VEC_PUSH(arena, &policy->net) =
	    (struct net_rule){ .kind = SBX_NETK_UNIX, .path = model_text(arena, "/run/x") };
	*VEC_PUSH(arena, &policy->net) =
	    (struct net_rule){ .verb = SBX_NETV_DENY,
			       .kind = SBX_NETK_UNIX,
			       .path = model_text(arena, "/run/x/secret") };
	*VEC_PUSH(arena, &policy->net) =
	    (struct net_rule){ .kind = SBX_NETK_ABSTRACT, .host = STR_LIT("dbus") };
	model_open(arena, policy, true, &out, &blob);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sbx_net_decide_unix(&blob, &vars, cases[i].path, &verdict);
		check(verdict.allowed == cases[i].allowed, cases[i].path);
	}
	sbx_net_decide_abstract(&blob, "dbus", &verdict);
	check(verdict.allowed, "abstract dbus");
	sbx_net_decide_abstract(&blob, "dbus2", &verdict);
	check(!verdict.allowed, "abstract dbus2");
}

/* ---- system calls: ranks ------------------------------------------------------ */

static void check_ranks(struct arena *arena)
{
	static const uint64_t seven = 7;
	struct sys_cond cond = { .arg = 0,
				 .width = 4,
				 .op = SBX_EQ,
				 .mask = UINT32_MAX,
				 .values = &seven,
				 .value_count = 1 };
	struct policy *policy = model_new(arena);
	struct sys_stmt *stmt;
	struct sbx_sys_verdict verdict;
	uint64_t args[6] = { 0 };
	struct emitted out;
	struct sbx_blob blob;
	bool depends;

	model_use(arena, model_sys(arena, policy, SBX_SYS_DENY, SBX_ACT_ERRNO, 1), "read",
		  SBX_RANK_GROUP);
	model_use(arena, model_sys(arena, policy, SBX_SYS_ALLOW, SBX_ACT_ALLOW, 0), "read",
		  SBX_RANK_NAME);
	stmt = model_sys(arena, policy, SBX_SYS_DENY, SBX_ACT_KILL, 0);
	stmt->conds = &cond;
	stmt->cond_count = 1;
	model_use(arena, stmt, "read", SBX_RANK_WHERE);
	model_use(arena, model_sys(arena, policy, SBX_SYS_ALLOW, SBX_ACT_ALLOW, 0), "bpf",
		  SBX_RANK_NAME);
	model_use(arena, model_sys(arena, policy, SBX_SYS_SEAL, SBX_ACT_KILL, 0), "bpf",
		  SBX_RANK_SEAL);
	model_open(arena, policy, true, &out, &blob);
	sbx_sys_decide(&blob, SBX_X86_64, 0, args, &verdict);
	check(verdict.action == SBX_ACT_ALLOW, "a name beats a group");
	args[0] = 7 | 1ull << 32;
	sbx_sys_decide(&blob, SBX_X86_64, 0, args, &verdict);
	check(verdict.action == SBX_ACT_KILL, "a where beats a name, by the low word alone");
	sbx_sys_decide_name(&blob, SBX_AARCH64, 63, &verdict, &depends);
	check(verdict.action == SBX_ACT_ALLOW && depends, "read depends on its arguments");
	sbx_sys_decide_name(&blob, SBX_X86_64, 321, &verdict, &depends);
	check(verdict.action == SBX_ACT_KILL && !depends, "a seal beats a name");
	sbx_sys_decide_name(&blob, SBX_X86_64, 1, &verdict, &depends);
	check(verdict.action == SBX_ACT_ERRNO && verdict.error == 38, "the default");
	sbx_sys_decide(&blob, SBX_X86_64, 0x40000000, args, &verdict);
	check(verdict.action == SBX_ACT_KILL, "x32 is killed");
}

/* ---- Slurm ---------------------------------------------------------------------- */

static struct slurm_rule *add_slurm(struct arena *arena, struct policy *policy,
				    enum sbx_slurm_verb verb, const char *option, const char *value,
				    unsigned op)
{
	struct slurm_rule *rule = VEC_PUSH(arena, &policy->slurm);

	*rule = (struct slurm_rule){ .verb = verb, .op = op, .command = STR_LIT("sbatch") };
	if (option)
		rule->option = str_from(option);
	if (value)
		rule->values = one(arena, value);
	return rule;
}

static void declare(struct arena *arena, struct policy *policy, const char *option,
		    const char *short_name, unsigned kind)
{
	struct slurm_rule *rule = add_slurm(arena, policy, SBX_SLURM_OPTION, option, NULL, 0);

	rule->value_kind = kind;
	if (short_name)
		rule->short_name = str_from(short_name);
}

static void check_slurm(struct arena *arena)
{
	static const struct {
		const char *line;
		bool allowed;
	} cases[] = {
		{ "sbatch job.sh", true },
		{ "sbatch --partition=gpu --time=1:00:00 job.sh", true },
		{ "sbatch --partition gpu -t 240 job.sh", true },
		{ "sbatch -t4:00:00 -pdebug job.sh", true },
		{ "sbatch --time=3-0 job.sh", false },
		{ "sbatch --time=4:00:01 job.sh", false },
		{ "sbatch --time=UNLIMITED job.sh", false },
		{ "sbatch --partition=other job.sh", false },
		{ "sbatch --part=gpu job.sh", false },             /* no abbreviations */
		{ "sbatch --partition=gpu -p gpu job.sh", false }, /* no repeats */
		{ "sbatch --wrap=id --uid=0", false },
		{ "sbatch --uid=0 job.sh", false },
		{ "sbatch -H job.sh", true },
		{ "sbatch -Ht 10 job.sh", true },
		{ "sbatch -H=1 job.sh", false },
		{ "sbatch --hold=1 job.sh", false },
		{ "sbatch --nodes=2 job.sh", true },
		{ "sbatch --nodes=3 job.sh", false },
		{ "sbatch --nodes=1-2 job.sh", false },
		{ "sbatch --mem=2G job.sh", true },
		{ "sbatch --mem=4096 job.sh", true },
		{ "sbatch --mem=4097M job.sh", false },
		{ "sbatch --time", false },
		{ "sbatch --time job.sh", false },
		{ "sbatch -n1 : --uid=0 job.sh", false },
		{ "sbatch : job.sh", false },
		{ "sbatch job.sh --uid=0 x", true }, /* the script's own arguments */
		{ "sbatch job.sh x : y", false },    /* sbatch drops it without a word */
		{ "sbatch -n : job.sh", false },     /* read as a value once, then as a second job */
		{ "sbatch -- --uid=0", true },
		{ "'sbatch' \"--partition=gpu\" 'my job.sh'", true },
		{ "sbatch 'job", false },
		{ "sbatch --account=any job.sh", true }, /* it is replaced */
		{ "sbatch --account", false },
		{ "sbatch --qos=low job.sh", false },
		{ "srun id", false },
		{ "", false },
	};
	struct policy *policy = model_new(arena);
	struct sbx_vars vars = { 0 };
	struct emitted out;
	struct sbx_blob blob;

	declare(arena, policy, "--partition", "-p", 1);
	declare(arena, policy, "--time", "-t", 1);
	declare(arena, policy, "--nodes", "-N", 1);
	declare(arena, policy, "--ntasks", "-n", 1);
	declare(arena, policy, "--mem", NULL, 1);
	declare(arena, policy, "--uid", NULL, 1);
	declare(arena, policy, "--wrap", NULL, 1);
	declare(arena, policy, "--hold", "-H", 0);
	declare(arena, policy, "--account", NULL, 1);
	declare(arena, policy, "--qos", NULL, 1);
	add_slurm(arena, policy, SBX_SLURM_FORCE, "--account", "mine", 0);
	add_slurm(arena, policy, SBX_SLURM_FORCE, "--qos", "low", 0);
	add_slurm(arena, policy, SBX_SLURM_DENY, "--qos", NULL, 0);
	add_slurm(arena, policy, SBX_SLURM_ALLOW, NULL, NULL, 0);
	add_slurm(arena, policy, SBX_SLURM_ALLOW, "--partition", "gpu", 1);
	add_slurm(arena, policy, SBX_SLURM_ALLOW, "--partition", "debug", 1);
	add_slurm(arena, policy, SBX_SLURM_ALLOW, "--time", "4h", 2);
	add_slurm(arena, policy, SBX_SLURM_ALLOW, "--nodes", "2", 2);
	add_slurm(arena, policy, SBX_SLURM_ALLOW, "--mem", "4G", 2);
	add_slurm(arena, policy, SBX_SLURM_ALLOW, "--ntasks", NULL, 0);
	add_slurm(arena, policy, SBX_SLURM_ALLOW, "--hold", NULL, 0);
	add_slurm(arena, policy, SBX_SLURM_ALLOW, "--wrap", NULL, 0);
	add_slurm(arena, policy, SBX_SLURM_DENY, "--wrap", NULL, 0);
	model_open(arena, policy, true, &out, &blob);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sbx_slurm_verdict verdict;

		sbx_slurm_decide(&blob, &vars, cases[i].line, &verdict);
		check(verdict.allowed == cases[i].allowed, cases[i].line);
		check(verdict.allowed || verdict.reason[0], "a refusal has a reason");
	}
}

/* ---- assertions ------------------------------------------------------------------- */

static void check_assertions(struct arena *arena)
{
	static const struct {
		enum sbx_polarity polarity;
		enum sbx_action action;
		const char *object;
		bool holds;
	} cases[] = {
		{ SBX_CAN, SBX_DO_WRITE, "/home/u/w/notes.txt", true },
		{ SBX_CANNOT, SBX_DO_WRITE, "/home/u/anything", true },
		{ SBX_CANNOT, SBX_DO_WRITE, "/home/u/w/x", false },
		{ SBX_NEVER, SBX_DO_READ, "/home/u/.ssh/id", true },
		{ SBX_NEVER, SBX_DO_READ, "/home/u/x", false }, /* refused, not sealed */
		{ SBX_CAN, SBX_DO_READ, "/home/u/.ssh/id", false },
		{ SBX_CAN, SBX_DO_SEE, "LC_ALL", true },
		{ SBX_CANNOT, SBX_DO_SEE, "AWS_SECRET_ACCESS_KEY", true },
		{ SBX_CANNOT, SBX_DO_SEE, "HOME", false },
		{ SBX_CAN, SBX_DO_SEE, "API_KEY", true }, /* a placeholder */
		{ SBX_CAN, SBX_DO_USE, "pty", true },
		{ SBX_CANNOT, SBX_DO_USE, "user-namespaces", true },
		{ SBX_CANNOT, SBX_DO_SUBMIT, "sbatch x", true },
	};
	struct policy *policy = model_full(arena);
	struct sbx_vars vars = {
		.value = { [SBX_VAR_WORKSPACE] = "/home/u/w", [SBX_VAR_HOME] = "/home/u" }
	};
	const struct sbx_fs_point points[] = {
		{ .path = "/home/u/w", .rights = 7, .rule = 0, .verb = SBX_FS_GRANT },
		{ .path = "/home/u/.ssh", .rights = 7, .rule = 1, .verb = SBX_FS_SEAL },
	};
	const struct sbx_fs_set set = { points, 2, NULL };
	struct emitted out;
	struct sbx_blob blob;

	policy->asserts.count = 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct assertion *claim = VEC_PUSH(arena, &policy->asserts);

		*claim = (struct assertion){ .polarity = cases[i].polarity,
					     .action = cases[i].action,
					     .text = str_from(cases[i].object) };
		if (cases[i].action <= SBX_DO_EXEC)
			claim->path = model_text(arena, cases[i].object);
	}
	model_open(arena, policy, true, &out, &blob);
	for (uint32_t n = 0; n < SBX_COUNT(&blob, ASSERTS); n++) {
		const struct sbx_assert *claim = SBX_AT(&blob, ASSERTS, sbx_assert, n);
		struct sbx_assert_result result;

		sbx_assert_check(&blob, n, &vars, &set, &means, &result);
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			if (cases[i].polarity == claim->head.verb &&
			    cases[i].action == claim->action &&
			    !strcmp(cases[i].object, sbx_string(&blob, claim->object.text)))
				check(result.holds == cases[i].holds, cases[i].object);
		check(result.holds || result.reason[0], "a failure has a reason");
	}
}

/* What a repository has is void without one; another variable must have its value. */
static void check_unset(struct arena *arena)
{
	static const struct {
		enum sbx_var var;
		bool holds;
	} cases[] = { { SBX_VAR_GITDIR, true },
		      { SBX_VAR_GITCOMMON, true },
		      { SBX_VAR_GITHOOKS, true },
		      { SBX_VAR_RUNTIME, false } };
	const struct sbx_vars vars = { .value = { [SBX_VAR_WORKSPACE] = "/home/u/w" } };
	const struct sbx_fs_set set = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct policy *policy = model_new(arena);
		struct seg *seg = ARENA_NEW(arena, struct seg);
		struct sbx_assert_result result;
		struct emitted out;
		struct sbx_blob blob;

		*seg = (struct seg){ .kind = SBX_SEG_VAR, .var = cases[i].var };
		*VEC_PUSH(arena, &policy->asserts) = (struct assertion){
			.polarity = SBX_CAN,
			.action = SBX_DO_READ,
			.text = STR_LIT("x"),
			.path = { seg, 1 },
		};
		model_open(arena, policy, true, &out, &blob);
		sbx_assert_check(&blob, 0, &vars, &set, &means, &result);
		check(result.holds == cases[i].holds, "a claim about a variable without a value");
	}
}

int main(void)
{
	struct arena arena = { 0 };

	check_modes(&arena);
	check_ports(&arena);
	check_sockets(&arena);
	check_ranks(&arena);
	check_slurm(&arena);
	check_assertions(&arena);
	check_unset(&arena);
	arena_free(&arena);
	printf("%u %u\n", passed, failed);
	return failed ? 1 : 0;
}
