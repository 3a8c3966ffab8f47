/*
 * compiler/lint.c - the hardening checklist, as far as a policy shows it.
 *
 * A policy that compiles is sound; lint says whether it is hard.  Each check
 * is one function and one line of the table at the end; a finding is a warning
 * with a stable L code, at the rule that causes it or, where something is
 * missing, at the policy's name.  `waive L0102 "why"` on a rule silences that
 * finding there.  What the checks ask is answered by the verdict functions on
 * the blob just made, never by a second reading of the rules.
 */
#include <string.h>

#include "blob/match.h"
#include "compiler/stages.h"

#define MODEL_HOME "/home/u" /* as in model_vars() */

struct lint {
	struct compilation *c;
	const struct policy *policy;
	struct sbx_blob blob;
	struct sbx_vars vars;
	struct sbx_fs_set set;
	struct {
		VEC_OF(const struct rule_head *)
	} waived; /* rules whose `waive` silenced something */
};

static bool waived(struct lint *lint, const struct rule_head *head, enum diag_code code)
{
	if (!head->waive_code.ptr || !str_is(head->waive_code, diag_code_name(code)))
		return false;
	*VEC_PUSH(&lint->c->arena, &lint->waived) = head;
	return true;
}

/* At a rule, unless it waives the finding. */
#define FIND_AT(lint, head, code, ...)                                                             \
	do {                                                                                       \
		if (!waived((lint), (head), (code)))                                               \
			diag_warning((lint)->c->diags, (code), (head)->place.span, __VA_ARGS__);   \
		else                                                                               \
			diag_waived((lint)->c->diags, (code), (head)->place.span,                  \
				    (head)->waive_why, __VA_ARGS__);                               \
	} while (0)
/* Something the policy lacks. */
#define FIND(lint, code, ...)                                                                      \
	diag_warning((lint)->c->diags, (code), (lint)->policy->name_span, __VA_ARGS__)

static bool may(struct lint *lint, const char *path, unsigned right, struct sbx_fs_verdict *verdict)
{
	sbx_fs_decide(&lint->set, path, right, verdict);
	return verdict->allowed;
}

/* The model's rule that a verdict rests on. */
static const struct fs_rule *deciding_rule(struct lint *lint, const struct sbx_fs_verdict *verdict)
{
	uint32_t index = lint->set.points[verdict->point].rule;
	const struct rule_head *head = lint->c->blob.heads[SBX_SEC_FS][index];

	for (size_t i = 0; i < lint->policy->fs.count; i++)
		if (&lint->policy->fs.items[i].head == head)
			return &lint->policy->fs.items[i];
	BUG("a rule of the blob that the model does not have");
}

static bool call_allowed(struct lint *lint, const char *name, const uint64_t args[6])
{
	struct sbx_sys_verdict verdict;
	uint16_t nr[SBX_ARCH_COUNT];

	if (!emit_syscall_numbers(name, nr) || nr[SBX_X86_64] == SBX_SYS_ABSENT)
		return false;
	sbx_sys_decide(&lint->blob, SBX_X86_64, nr[SBX_X86_64], args, &verdict);
	return verdict.action == SBX_ACT_ALLOW;
}

/* ---- files ----------------------------------------------------------------- */

static void lint_home_writable(struct lint *lint)
{
	struct sbx_fs_verdict verdict;

	if (may(lint, MODEL_HOME "/any-file", SBX_WRITE, &verdict))
		FIND_AT(lint, &deciding_rule(lint, &verdict)->head, DIAG_L0101,
			"the home directory is writable: name the directories that have to be");
}

static void lint_write_outside(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->fs.count; i++) {
		const struct fs_rule *rule = &lint->policy->fs.items[i];
		const struct tmpl *path = &rule->path;

		if (rule->verb != SBX_FS_GRANT || !(rule->rights & SBX_WRITE) ||
		    rule->head.compat.ptr || !rule->head.main_file)
			continue;
		if (path->count && path->segs[0].kind == SBX_SEG_VAR &&
		    (path->segs[0].var == SBX_VAR_WORKSPACE || path->segs[0].var == SBX_VAR_CWD ||
		     path->segs[0].var == SBX_VAR_GITDIR || path->segs[0].var == SBX_VAR_GITCOMMON))
			continue;
		FIND_AT(lint, &rule->head, DIAG_L0102,
			"a second writable tree, without a reason: add compat \"why\"");
	}
}

static void lint_sealed_stores(struct lint *lint)
{
	static const char *const stores[] = { ".ssh/id_ed25519", ".aws/credentials",
					      ".gnupg/private-keys-v1.d/key" };

	for (size_t i = 0; i < sizeof(stores) / sizeof(*stores); i++) {
		struct sbx_fs_verdict verdict;
		const char *path = arena_printf(&lint->c->arena, "%s/%s", MODEL_HOME, stores[i]);

		may(lint, path, SBX_READ, &verdict);
		if (verdict.why != SBX_WHY_SEAL)
			FIND(lint, DIAG_L0103,
			     "~/%s is not sealed, so a later grant could open it: import "
			     "std/secrets",
			     stores[i]);
	}
}

static void lint_shared_tmp(struct lint *lint)
{
	static const char *const places[] = { "/tmp", "/var/tmp", "/dev/shm" };

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct sbx_fs_verdict verdict;

		if (!may(lint, arena_printf(&lint->c->arena, "%s/x", places[i]), SBX_WRITE,
			 &verdict))
			continue;
		const struct fs_rule *rule = deciding_rule(lint, &verdict);
		if (rule->verb == SBX_FS_GRANT)
			FIND_AT(lint, &rule->head, DIAG_L0104,
				"the host's %s is writable: use a private one, `tmp %s`", places[i],
				places[i]);
	}
}

static void lint_snapshots(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->fs.count; i++) {
		const struct fs_rule *rule = &lint->policy->fs.items[i];

		if ((rule->head.flags & SBX_F_SNAPSHOT) && rule->head.main_file)
			FIND_AT(lint, &rule->head, DIAG_L0105,
				"a snapshot: names that match later are not covered");
	}
}

/* ---- environment ---------------------------------------------------------------- */

/* The line of a module that denies @name by a pattern, or NULL. */
static const struct rule_head *denied_by_pattern(struct lint *lint, struct str name)
{
	for (size_t i = 0; i < lint->policy->env.count; i++) {
		const struct env_rule *rule = &lint->policy->env.items[i];

		if (rule->verb == SBX_ENV_DENY && !rule->head.main_file &&
		    memchr(rule->name.ptr, '*', rule->name.len) &&
		    sbx_star_match(str_cstr(&lint->c->arena, rule->name),
				   str_cstr(&lint->c->arena, name)))
			return &rule->head;
	}
	return NULL;
}

/* An exact name beats a pattern, so a pass opens what a module shuts, without `override`. */
static void lint_pass_denied(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->env.count; i++) {
		const struct env_rule *rule = &lint->policy->env.items[i];
		const struct rule_head *deny;

		if (rule->verb != SBX_ENV_PASS || !rule->head.main_file || rule->head.compat.ptr ||
		    memchr(rule->name.ptr, '*', rule->name.len))
			continue;
		deny = denied_by_pattern(lint, rule->name);
		if (deny)
			FIND_AT(
			    lint, &rule->head, DIAG_L0307,
			    "`%.*s` opens what %s:%u denies: add compat \"why\"",
			    STR_ARG(rule->name), deny->place.span.source->name,
			    source_locate(deny->place.span.source, deny->place.span.start).line);
	}
}

/* ---- system calls ------------------------------------------------------------- */

static void lint_nothing_runs(struct lint *lint)
{
	static const uint64_t args[6];

	if (!call_allowed(lint, "execve", args))
		FIND(lint, DIAG_L0201,
		     "execve is refused, so nothing can start: import std/syscalls and allow "
		     "@default");
}

static void lint_terminal_injection(struct lint *lint)
{
	/* asm-generic/ioctls.h: TIOCSTI, TIOCLINUX. */
	static const struct {
		uint64_t request;
		const char *name;
	} requests[] = { { 0x5412, "TIOCSTI" }, { 0x541c, "TIOCLINUX" } };

	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		uint64_t args[6] = { 0, requests[i].request };

		if (call_allowed(lint, "ioctl", args))
			FIND(lint, DIAG_L0202,
			     "ioctl %s is allowed: it can type into your terminal; import "
			     "std/syscalls",
			     requests[i].name);
	}
}

static void lint_second_interfaces(struct lint *lint)
{
	static const char *const calls[] = { "io_uring_setup",  "bpf",        "userfaultfd",
					     "perf_event_open", "kexec_load", "init_module" };
	static const uint64_t args[6];

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (call_allowed(lint, calls[i], args))
			FIND(lint, DIAG_L0203,
			     "%s is allowed: it goes around what the filter refuses", calls[i]);
}

static void lint_namespaces(struct lint *lint)
{
	/* linux/sched.h: CLONE_NEWUSER. */
	static const uint64_t args[6] = { 0x10000000 };

	for (size_t i = 0; i < lint->policy->process.count; i++) {
		const struct process_rule *rule = &lint->policy->process.items[i];

		if (rule->what == SBX_PROCESS_USERNS) {
			if (!rule->head.compat.ptr)
				FIND_AT(lint, &rule->head, DIAG_L0204,
					"user namespaces are allowed without a reason: add compat "
					"\"why\"");
			return;
		}
	}
	if (call_allowed(lint, "unshare", args) || call_allowed(lint, "clone", args))
		FIND(lint, DIAG_L0204,
		     "user namespaces can be made inside: deny @namespaces, or say why in process "
		     "{ }");
}

/* ---- the rest --------------------------------------------------------------------- */

static void lint_limits(struct lint *lint)
{
	bool memory = false, processes = false;

	for (size_t i = 0; i < lint->policy->limits.count; i++) {
		memory |= lint->policy->limits.items[i].limit == SBX_LIMIT_MEMORY;
		processes |= lint->policy->limits.items[i].limit == SBX_LIMIT_PROCESSES;
	}
	if (!memory)
		FIND(lint, DIAG_L0301, "no limit on memory: limits { memory 8G }");
	if (!processes)
		FIND(lint, DIAG_L0301, "no limit on processes: limits { processes 512 }");
}

static void lint_assertions(struct lint *lint)
{
	bool cannot_write = false, never = false;

	for (size_t i = 0; i < lint->policy->asserts.count; i++) {
		const struct assertion *assertion = &lint->policy->asserts.items[i];

		if (!assertion->head.main_file)
			continue;
		cannot_write |=
		    assertion->polarity == SBX_CANNOT && assertion->action == SBX_DO_WRITE;
		never |= assertion->polarity == SBX_NEVER;
	}
	if (!cannot_write)
		FIND(lint, DIAG_L0302, "nothing is asserted about what cannot be written");
	if (!never)
		FIND(lint, DIAG_L0302,
		     "nothing is asserted with `never`: name a key that must stay shut");
}

static void lint_credentials(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->credentials.count; i++) {
		const struct credential *credential = &lint->policy->credentials.items[i];

		if (!credential->refresh_s && !credential->lifetime_s &&
		    !credential->head.compat.ptr)
			FIND_AT(lint, &credential->head, DIAG_L0303,
				"a credential with no lifetime: add `lifetime` or `refresh`");
	}
}

/* An agent's policy: it labels what guards it, or it talks to a network. */
static void lint_guards(struct lint *lint)
{
	static const char *const labels[] = { "own-code", "endpoint", "host-exec" };
	bool labelled = false;

	for (size_t i = 0; i < lint->policy->fs.count; i++)
		labelled |= lint->policy->fs.items[i].head.main_file &&
			    lint->policy->fs.items[i].head.guards.ptr != NULL;
	if (!labelled)
		return;
	for (size_t l = 0; l < sizeof(labels) / sizeof(*labels); l++) {
		bool found = false;

		for (size_t i = 0; i < lint->policy->fs.count; i++)
			found |= lint->policy->fs.items[i].head.guards.ptr &&
				 str_is(lint->policy->fs.items[i].head.guards, labels[l]);
		if (!found)
			FIND(lint, DIAG_L0304,
			     "no rule guards %s: the checklist wants one in an agent's policy",
			     labels[l]);
	}
}

static void lint_summary(struct lint *lint)
{
	if (!lint->policy->summary.ptr || !lint->policy->summary.len)
		FIND(lint, DIAG_L0305, "no summary: say in one line what the policy is for");
}

/* A waiver that silences nothing hides the next finding of that kind. */
static void lint_waivers(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->fs.count; i++) {
		const struct rule_head *head = &lint->policy->fs.items[i].head;
		bool used = !head->waive_code.ptr;

		for (size_t j = 0; !used && j < lint->waived.count; j++)
			used = lint->waived.items[j] == head;
		if (!used)
			diag_warning(lint->c->diags, DIAG_L0306, head->place.span,
				     "waives %.*s, which lint does not find here",
				     STR_ARG(head->waive_code));
	}
}

/* lint_waivers comes last: it looks at what the others used. */
static void (*const checks[])(struct lint *) = {
	lint_home_writable,     lint_write_outside, lint_sealed_stores, lint_shared_tmp,
	lint_snapshots,         lint_pass_denied,   lint_nothing_runs,  lint_terminal_injection,
	lint_second_interfaces, lint_namespaces,    lint_limits,        lint_assertions,
	lint_credentials,       lint_guards,        lint_summary,       lint_waivers,
};

void lint_policy(struct compilation *c)
{
	struct lint lint = { .c = c, .policy = c->policy };
	const char *reason = sbx_blob_open(c->blob.data, c->blob.size, &lint.blob);

	if (reason)
		BUG(reason);
	if (c->policy->kind != SBX_POLICY)
		return;
	model_vars(&c->arena, &lint.blob, &lint.vars);
	model_fs_set(&c->arena, &lint.blob, &lint.vars, &lint.set);
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		checks[i](&lint);
}
