/*
 * prove/claims_calls.c - system calls, by their numbers.
 *
 * Every argument is -1: no descriptor, no address, no flags that exist.  A call
 * that the filter lets through is then refused by the kernel for another reason
 * (EFAULT, EBADF, EINVAL) before it does anything.  Arguments that a `where`
 * looks at are chosen so that it holds, and, where that can be had, no other one.
 */
#include "prove/calls.h"

#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/syscall.h>

#include "compiler/render.h"

#define UNKNOWN_CALL 1999 /* no kernel has it, and no policy speaks of it */
#define PID_LIMIT    (1 << 22) /* PID_MAX_LIMIT of the kernel */
#define SIGNALS      64

static uint64_t wide(const struct sbx_sys_cond *cond)
{
	return cond->width == 4 ? 0xffffffffu : UINT64_MAX;
}

/* Changes args[cond->arg] so that the condition holds, if it can.  Of a list it is the last
 * value: where another statement has a part of the same list, that is its beginning. */
static void satisfy(const struct prove *prove, const struct sbx_sys_cond *cond, uint64_t args[6])
{
	const uint64_t *values = (const uint64_t *)prove->blob.section[SBX_SEC_VALUES].records;
	uint32_t last = cond->op == SBX_IN ? cond->value_count - 1 : 0;
	uint64_t value = values[cond->value_first + last];
	uint64_t *arg = &args[cond->arg], rest = *arg & ~cond->mask & wide(cond);

	switch (cond->op) {
	case SBX_EQ:
	case SBX_LE:
	case SBX_GE:
	case SBX_IN:
		*arg = rest | value;
		break;
	case SBX_NE:
		if ((*arg & cond->mask & wide(cond)) == value)
			*arg = value ? rest : rest | (cond->mask & -cond->mask);
		break;
	case SBX_LT:
		*arg = rest | (value - 1);
		break;
	case SBX_GT:
		*arg = rest | (value + 1);
		break;
	}
}

/* Is it, of == and != and lists, met? */
static bool is_met(const struct prove *prove, const struct sbx_sys_cond *cond,
		   const uint64_t args[6])
{
	const uint64_t *values = (const uint64_t *)prove->blob.section[SBX_SEC_VALUES].records;
	uint64_t value = args[cond->arg] & cond->mask & wide(cond);

	for (uint32_t i = 0; i < cond->value_count; i++)
		if (value == values[cond->value_first + i])
			return cond->op != SBX_NE;
	return cond->op == SBX_NE;
}

static bool looks_at(const struct prove *prove, const struct sbx_sys_stmt *stmt, unsigned arg)
{
	for (unsigned i = 0; i < stmt->cond_count; i++)
		if (SBX_AT(&prove->blob, SYS_CONDS, sbx_sys_cond, stmt->cond_first + i)->arg == arg)
			return true;
	return false;
}

/* Makes args such that other statements about the call, which look at other arguments, do
 * not refuse it as well: 0 where they want something else. */
static void keep_others_out(const struct prove *prove, const struct sbx_sys_entry *entry,
			    uint64_t args[6])
{
	const struct sbx_sys_stmt *own = SBX_AT(&prove->blob, SYS_STMTS, sbx_sys_stmt, entry->stmt);

	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, SYS_ENTRIES); i++) {
		const struct sbx_sys_entry *other =
		    SBX_AT(&prove->blob, SYS_ENTRIES, sbx_sys_entry, i);
		const struct sbx_sys_stmt *stmt =
		    SBX_AT(&prove->blob, SYS_STMTS, sbx_sys_stmt, other->stmt);

		if (other == entry || other->nr[PROVE_ARCH] != entry->nr[PROVE_ARCH])
			continue;
		for (unsigned n = 0; n < stmt->cond_count; n++) {
			const struct sbx_sys_cond *cond = SBX_AT(&prove->blob, SYS_CONDS, sbx_sys_cond,
								 stmt->cond_first + n);

			if (cond->op == SBX_NE && !looks_at(prove, own, cond->arg) &&
			    is_met(prove, cond, args))
				args[cond->arg] = 0;
		}
	}
}

struct call_answer call_decide(const struct prove *prove, uint32_t nr, const uint64_t args[6],
			       uint32_t *first, uint32_t *second)
{
	struct sbx_sys_verdict one, two = { .action = SBX_ACT_ALLOW, .stmt = SBX_NONE };
	struct call_answer answer;

	sbx_sys_decide(&prove->blob, PROVE_ARCH, nr, args, &one);
	if (prove->target.backend == SBX_LANDLOCK)
		sbx_sys_decide_shared(&prove->blob, PROVE_ARCH, nr, args, &two);
	*first = one.stmt;
	*second = two.stmt;
	answer = (struct call_answer){ one.action, one.error, false };
	if (two.action > one.action)
		answer = (struct call_answer){ two.action, two.error, false };
	answer.any = one.action == SBX_ACT_ERRNO && two.action == SBX_ACT_ERRNO;
	return answer;
}

/* @args would do more than be refused, where the filter lets them through: NULL, or what. */
static const char *does_more(uint32_t nr, const uint64_t args[6], bool through)
{
	if (through && nr == SYS_sync)
		return "it would wait for all of the host's disks";
#ifdef SYS_pause
	if (through && nr == SYS_pause)
		return "it would never come back";
#endif
	/* Nobody has so high a number; and in the control run all is let through. */
	if (nr == SYS_kill && (int32_t)args[0] <= PID_LIMIT && args[1] - 1 < SIGNALS)
		return "it would end processes";
	if (nr == SYS_msgget && ((int32_t)args[0] == IPC_PRIVATE || args[1] & IPC_CREAT))
		return "it would make a queue of messages, which stays";
	return NULL;
}

uint64_t call_nothing(uint32_t nr, unsigned arg)
{
	/* To -1 a signal goes that is for all. */
	if (nr == SYS_kill && arg == 0)
		return INT32_MAX;
	/* With all flags it would make a queue, which stays. */
	return nr == SYS_msgget && arg == 1 ? 0 : UINT64_MAX;
}

bool call_may_fork(const struct prove *prove)
{
	const uint64_t args[6] = { CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD };
	uint32_t first, second;

	return call_decide(prove, SYS_clone, args, &first, &second).action == SBX_ACT_ALLOW;
}

struct claim *call_add(struct prove *prove, enum sbx_section_id section, uint32_t rule,
		       const char *name, uint32_t nr, const uint64_t args[6],
		       struct call_answer answer)
{
	struct claim *claim = claim_add(prove, section, rule);

	claim->through = answer.action == SBX_ACT_ALLOW;
	claim->kills = answer.action == SBX_ACT_KILL;
	claim->error = answer.any ? 0 : answer.error;
	claim->tried = arena_printf(prove->arena, "call %s", name);
	claim->request = arena_printf(prove->arena, "call %u %lld %lld %lld %lld %lld %lld", nr,
				      (long long)args[0], (long long)args[1], (long long)args[2],
				      (long long)args[3], (long long)args[4], (long long)args[5]);
	claim->why = does_more(nr, args, claim->through);
	return claim;
}

/* Mostly -1, but a statement that allows a call is often narrowed by another, to which 0 or
 * 1 mean nothing. */
bool call_arguments(const struct prove *prove, const struct sbx_sys_entry *entry, uint64_t args[6],
		    struct call_answer *answer)
{
	static const uint64_t fills[] = { UINT64_MAX, 0, 1 };
	const struct sbx_sys_stmt *stmt =
	    SBX_AT(&prove->blob, SYS_STMTS, sbx_sys_stmt, entry->stmt);
	uint32_t first, second;

	for (size_t n = 0; n < sizeof(fills) / sizeof(fills[0]); n++) {
		for (unsigned i = 0; i < 6; i++)
			args[i] = n ? fills[n] : call_nothing(entry->nr[PROVE_ARCH], i);
		for (unsigned i = 0; i < stmt->cond_count; i++)
			satisfy(prove,
				SBX_AT(&prove->blob, SYS_CONDS, sbx_sys_cond, stmt->cond_first + i),
				args);
		if (stmt->cond_count)
			keep_others_out(prove, entry, args);
		*answer = call_decide(prove, entry->nr[PROVE_ARCH], args, &first, &second);
		if ((stmt->head.flags & SBX_F_SHARED ? second : first) == entry->stmt)
			return true;
	}
	return false; /* others decide this call in every case */
}

static void add_entry(struct prove *prove, const struct sbx_sys_entry *entry)
{
	const struct sbx_sys_stmt *stmt =
	    SBX_AT(&prove->blob, SYS_STMTS, sbx_sys_stmt, entry->stmt);
	bool shared = stmt->head.flags & SBX_F_SHARED;
	struct call_answer answer;
	struct claim *claim;
	uint64_t args[6];

	/* `without namespaces`: where there are some, it says nothing. */
	if (entry->nr[PROVE_ARCH] == SBX_SYS_ABSENT ||
	    (shared && prove->target.backend != SBX_LANDLOCK) ||
	    !call_arguments(prove, entry, args, &answer))
		return;
	claim = call_add(prove, SBX_SEC_SYS_STMTS, entry->stmt,
		    render_call(prove->arena, prove->given, entry->nr), entry->nr[PROVE_ARCH], args,
		    answer);
	claim->rule = render_rule_for_call(prove->arena, prove->given, entry->stmt, entry->nr);
}

static void add_assert(struct prove *prove, uint32_t index)
{
	const struct sbx_assert *said = SBX_AT(&prove->blob, ASSERTS, sbx_assert, index);
	uint64_t args[6] = {
		UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX
	};
	uint32_t first, second;

	if (said->action != SBX_DO_CALL || said->nr[PROVE_ARCH] == SBX_SYS_ABSENT)
		return;
	call_add(prove, SBX_SEC_ASSERTS, index, render_call(prove->arena, prove->given, said->nr),
	    said->nr[PROVE_ARCH], args, call_decide(prove, said->nr[PROVE_ARCH], args, &first, &second));
}

void claims_calls(struct prove *prove)
{
	const uint64_t none[6] = { 0 };
	uint32_t first, second;
	struct call_answer unknown = call_decide(prove, UNKNOWN_CALL, none, &first, &second);

	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, SYS_ENTRIES); i++)
		add_entry(prove, SBX_AT(&prove->blob, SYS_ENTRIES, sbx_sys_entry, i));
	claims_borders(prove);
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, ASSERTS); i++)
		add_assert(prove, i);
	call_add(prove, SBX_SEC_SYS_STMTS, first, "(one that nothing names)", UNKNOWN_CALL, none,
	    unknown);
}
