/*
 * blob/assert.c - does an assertion hold in this policy?
 *
 * Each action asks the verdict function that everyone asks and reduces the
 * answer to one of three: allowed, refused, sealed (refused by a seal, so that
 * no later grant can open it).  `can` wants the first, `cannot` either of the
 * others, `never` the last.
 */
#include "blob/match.h"

#include <stdio.h>
#include <string.h>

#define PATH_SIZE 4096 /* PATH_MAX of linux/limits.h */

enum answer { ALLOWED, REFUSED, SEALED };

struct question {
	const struct sbx_blob *blob;
	const struct sbx_assert *claim;
	const struct sbx_vars *vars;
	const struct sbx_fs_set *set;
	const struct sbx_assert_means *means;
	struct sbx_assert_result *out;
};

static void decided_by(struct question *q, enum sbx_section_id section, uint32_t rule)
{
	const struct sbx_head *head = NULL;

	q->out->section = section;
	q->out->rule = rule;
	if (rule >= q->blob->section[section].count) /* SBX_NONE, SBX_RULE_SELF */
		return;
	switch (section) {
	case SBX_SEC_FS:
		head = &SBX_AT(q->blob, FS, sbx_fs_rule, rule)->head;
		break;
	case SBX_SEC_ENV:
		head = &SBX_AT(q->blob, ENV, sbx_env_rule, rule)->head;
		break;
	case SBX_SEC_CREDENTIALS:
		head = &SBX_AT(q->blob, CREDENTIALS, sbx_credential, rule)->head;
		break;
	case SBX_SEC_SYS_STMTS:
		head = &SBX_AT(q->blob, SYS_STMTS, sbx_sys_stmt, rule)->head;
		break;
	case SBX_SEC_NET:
		head = &SBX_AT(q->blob, NET, sbx_net_rule, rule)->head;
		break;
	case SBX_SEC_SLURM:
		head = &SBX_AT(q->blob, SLURM, sbx_slurm_rule, rule)->head;
		break;
	case SBX_SEC_PROCESS:
		head = &SBX_AT(q->blob, PROCESS, sbx_process_rule, rule)->head;
		break;
	default:
		return;
	}
	q->out->loc = head->loc;
	q->out->snapshot = section == SBX_SEC_FS && head->flags & SBX_F_SNAPSHOT;
}

/* Variables that only a repository gives a value. */
static bool is_git_var(uint32_t var)
{
	return var == SBX_VAR_GITDIR || var == SBX_VAR_GITCOMMON || var == SBX_VAR_GITHOOKS;
}

/* The object as it is written, with the names of its variables. */
static void put_object(const struct question *q)
{
	const char *at = sbx_string(q->blob, q->claim->object.text);
	bool socket = q->claim->is_path && q->claim->action == SBX_DO_CONNECT;
	size_t size = sizeof(q->out->object);
	size_t used = (size_t)snprintf(q->out->object, size, "%s", socket ? "unix:" : "");
	unsigned mark, value;

	while (used < size && (at = sbx_piece(at, &mark, &value))) {
		char *to = q->out->object + used;

		if (mark == SBX_MARK_VAR)
			used +=
			    (size_t)snprintf(to, size - used, "$%s", sbx_var_name(q->blob, value));
		else
			used += (size_t)snprintf(to, size - used, "%c", (int)value);
	}
}

/*
 * The path the claim is about, canonical where that can be had; or says why not
 * and returns false: the claim fails.  Outside a repository a claim about its
 * parts is void, as the rules about them are.
 */
static bool object_path(struct question *q, char out_path[PATH_SIZE])
{
	char path[PATH_SIZE];
	struct sbx_assert_result *out = q->out;
	uint32_t unset;
	bool wild;

	if (sbx_expand(q->blob, q->claim->object, q->vars, path, sizeof(path), &wild, &unset) < 0) {
		out->holds = is_git_var(unset);
		if (unset == SBX_NONE)
			snprintf(out->reason, sizeof(out->reason), "the path is too long");
		else
			snprintf(out->reason, sizeof(out->reason), "$%s has no value",
				 sbx_var_name(q->blob, unset));
		return false;
	}
	snprintf(out->object, sizeof(out->object), "%.*s", (int)sizeof(out->object) - 1, path);
	if (wild) {
		snprintf(out->reason, sizeof(out->reason), "an assertion is about one path");
		return false;
	}
	if (!q->means->resolve || !q->means->resolve(q->means->context, path, out_path, PATH_SIZE))
		memcpy(out_path, path, sizeof(path));
	return true;
}

/* False: there is no answer and the reason is set. */
static bool ask_path(struct question *q, enum answer *answer)
{
	static const unsigned rights[] = { SBX_READ, SBX_WRITE, SBX_EXEC };
	struct sbx_fs_verdict verdict;
	char path[PATH_SIZE];

	if (!object_path(q, path))
		return false;
	sbx_fs_decide(q->set, path, rights[q->claim->action], &verdict);
	*answer = verdict.allowed ? ALLOWED : verdict.why == SBX_WHY_SEAL ? SEALED : REFUSED;
	decided_by(q, SBX_SEC_FS,
		   verdict.point == SBX_NONE ? SBX_NONE : q->set->points[verdict.point].rule);
	return true;
}

static bool ask_connect(struct question *q, enum answer *answer)
{
	const char *host = sbx_string(q->blob, q->claim->object.text);
	struct sbx_net_verdict verdict;
	char path[PATH_SIZE];

	if (q->claim->is_path) {
		if (!object_path(q, path))
			return false;
		sbx_net_decide_unix(q->blob, q->vars, path, &verdict);
	} else if (!strncmp(host, "abstract:", strlen("abstract:"))) {
		snprintf(q->out->object, sizeof(q->out->object), "%s", host);
		sbx_net_decide_abstract(q->blob, host + strlen("abstract:"), &verdict);
	} else {
		snprintf(q->out->object, sizeof(q->out->object), "%s:%u", host, q->claim->port);
		sbx_net_decide(q->blob, host, q->claim->port, &verdict);
	}
	*answer = verdict.allowed ? ALLOWED : REFUSED;
	if (verdict.rule != SBX_NONE &&
	    SBX_AT(q->blob, NET, sbx_net_rule, verdict.rule)->head.verb == SBX_NETV_SEAL)
		*answer = SEALED;
	decided_by(q, SBX_SEC_NET, verdict.rule);
	return true;
}

/* Could a `where` of this call, or of its seal, be what lets it through? */
static bool allowed_somewhere(const struct sbx_blob *blob, enum sbx_arch arch, uint32_t nr,
			      uint32_t *rule)
{
	for (uint32_t i = 0; i < SBX_COUNT(blob, SYS_ENTRIES); i++) {
		const struct sbx_sys_entry *entry = SBX_AT(blob, SYS_ENTRIES, sbx_sys_entry, i);
		const struct sbx_sys_stmt *stmt =
		    SBX_AT(blob, SYS_STMTS, sbx_sys_stmt, entry->stmt);

		if (entry->nr[arch] != nr || !stmt->cond_count || stmt->action != SBX_ACT_ALLOW)
			continue;
		*rule = entry->stmt;
		return true;
	}
	return false;
}

/* The weakest answer of the architectures that have the call. */
static bool ask_call(struct question *q, enum answer *answer)
{
	bool exists = false;

	*answer = q->claim->head.verb == SBX_CAN ? ALLOWED : SEALED;
	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++) {
		uint16_t nr = q->claim->nr[arch];
		struct sbx_sys_verdict verdict;
		enum answer here = REFUSED;
		bool depends, weaker;

		if (nr == SBX_SYS_ABSENT)
			continue;
		sbx_sys_decide_name(q->blob, (enum sbx_arch)arch, nr, &verdict, &depends);
		if (verdict.action == SBX_ACT_ALLOW)
			here = ALLOWED;
		else if (SBX_AT(q->blob, SYS_STMTS, sbx_sys_stmt, verdict.stmt)->head.verb ==
			 SBX_SYS_SEAL)
			here = SEALED;
		else if (q->claim->head.verb != SBX_CAN && depends &&
			 allowed_somewhere(q->blob, (enum sbx_arch)arch, nr, &verdict.stmt))
			here = ALLOWED;
		weaker = q->claim->head.verb == SBX_CAN ? here > *answer : here < *answer;
		if (!exists || weaker) {
			*answer = here;
			decided_by(q, SBX_SEC_SYS_STMTS, verdict.stmt);
		}
		exists = true;
	}
	if (!exists && q->claim->head.verb == SBX_CAN) {
		snprintf(q->out->reason, sizeof(q->out->reason), "no architecture has this call");
		return false;
	}
	return true;
}

static void ask_env(struct question *q, enum answer *answer)
{
	struct sbx_env_verdict verdict;

	sbx_env_decide(q->blob, sbx_string(q->blob, q->claim->object.text), &verdict);
	*answer = verdict.visible ? ALLOWED : REFUSED;
	if (verdict.rule != SBX_NONE &&
	    SBX_AT(q->blob, ENV, sbx_env_rule, verdict.rule)->head.verb == SBX_ENV_SEAL)
		*answer = SEALED;
	if (verdict.credential != SBX_NONE)
		decided_by(q, SBX_SEC_CREDENTIALS, verdict.credential);
	else
		decided_by(q, SBX_SEC_ENV, verdict.rule);
}

static void ask_submit(struct question *q, enum answer *answer)
{
	struct sbx_slurm_verdict verdict;

	q->means->submit(q->blob, q->vars, sbx_string(q->blob, q->claim->object.text), &verdict);
	*answer = verdict.allowed ? ALLOWED : REFUSED;
	if (verdict.rule != SBX_NONE && !verdict.allowed &&
	    SBX_AT(q->blob, SLURM, sbx_slurm_rule, verdict.rule)->head.verb == SBX_SLURM_SEAL)
		*answer = SEALED;
	decided_by(q, SBX_SEC_SLURM, verdict.rule);
	snprintf(q->out->reason, sizeof(q->out->reason), "%s", verdict.reason);
}

static bool ask_use(struct question *q, enum answer *answer)
{
	const char *what = sbx_string(q->blob, q->claim->object.text);
	bool terminal = !strcmp(what, "pty") || !strcmp(what, "terminal");
	uint32_t wanted = terminal ? SBX_PROCESS_TERMINAL_NONE : SBX_PROCESS_USERNS;

	if (!terminal && strcmp(what, "user-namespaces")) {
		snprintf(q->out->reason, sizeof(q->out->reason),
			 "nothing by that name can be used");
		return false;
	}
	*answer = terminal ? ALLOWED : REFUSED;
	for (uint32_t i = 0; i < SBX_COUNT(q->blob, PROCESS); i++) {
		if (SBX_AT(q->blob, PROCESS, sbx_process_rule, i)->what != wanted)
			continue;
		*answer = terminal ? REFUSED : ALLOWED;
		decided_by(q, SBX_SEC_PROCESS, i);
	}
	return true;
}

static bool ask(struct question *q, enum answer *answer)
{
	put_object(q);
	switch ((enum sbx_action)q->claim->action) {
	case SBX_DO_READ:
	case SBX_DO_WRITE:
	case SBX_DO_EXEC:
		return ask_path(q, answer);
	case SBX_DO_CONNECT:
		return ask_connect(q, answer);
	case SBX_DO_CALL:
		return ask_call(q, answer);
	case SBX_DO_SEE:
		ask_env(q, answer);
		return true;
	case SBX_DO_SUBMIT:
		if (q->means->submit)
			ask_submit(q, answer);
		else
			*answer = q->claim->head.verb == SBX_CAN ? ALLOWED : SEALED;
		return true;
	case SBX_DO_USE:
		return ask_use(q, answer);
	}
	return false;
}

static void say_why(struct question *q, enum answer answer)
{
	struct sbx_assert_result *out = q->out;
	bool nobody = out->rule == SBX_NONE;
	const char *why;

	if (out->reason[0])
		return;
	if (answer == ALLOWED)
		why = nobody ? "it is allowed: nothing forbids it" : "it is allowed";
	else if (q->claim->head.verb == SBX_NEVER)
		why = "it is refused, but not sealed: a grant could still open it";
	else if (answer == SEALED)
		why = "a seal refuses it";
	else
		why = nobody ? "nothing allows it" : "it is refused";
	snprintf(out->reason, sizeof(out->reason), "%s", why);
}

void sbx_assert_check(const struct sbx_blob *blob, uint32_t index, const struct sbx_vars *vars,
		      const struct sbx_fs_set *set, const struct sbx_assert_means *means,
		      struct sbx_assert_result *out)
{
	const struct sbx_assert *claim = SBX_AT(blob, ASSERTS, sbx_assert, index);
	struct question q = { blob, claim, vars, set, means, out };
	enum answer answer = REFUSED;

	out->holds = out->snapshot = false;
	out->object[0] = out->reason[0] = '\0';
	out->loc = out->rule = SBX_NONE;
	out->section = SBX_SEC_ASSERTS;
	if (!ask(&q, &answer))
		return;
	out->holds = claim->head.verb == SBX_CAN      ? answer == ALLOWED
		     : claim->head.verb == SBX_CANNOT ? answer != ALLOWED
						      : answer == SEALED;
	if (!out->holds)
		say_why(&q, answer);
}
