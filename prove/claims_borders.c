/*
 * prove/claims_borders.c - system calls, by the values that a `where` compares with.
 *
 * One set of arguments a statement shows that it is there, not that it takes no more than it
 * says: `domain in 2 10` may have become `domain >= 2`.  So each argument that is looked at
 * gets each value that it is compared with and those beside it, once where the policy then
 * lets the call through and once where it does not.  What nothing looks at is -1, as in
 * claims_calls.c.
 */
#include <sys/syscall.h>

#include "compiler/render.h"
#include "compiler/text.h"
#include "prove/calls.h"

struct border {
	const struct sbx_sys_cond *cond;
	uint64_t value; /* of what the mask leaves */
	bool tried[2];  /* by whether it is let through */
};
struct base {
	uint64_t args[6];
};
struct call {
	struct prove *prove;
	const uint16_t *nr;
	bool looked_at[6];
	struct {
		VEC_OF(struct border)
	} borders;
	struct {
		VEC_OF(struct base)
	} bases;
};

static const struct sbx_sys_stmt *statement(const struct prove *prove, uint32_t index)
{
	return SBX_AT(&prove->blob, SYS_STMTS, sbx_sys_stmt, index);
}

static void add_border(struct call *call, const struct sbx_sys_cond *cond, uint64_t value)
{
	value &= cond->mask & (cond->width == 4 ? UINT32_MAX : UINT64_MAX);
	for (size_t i = 0; i < call->borders.count; i++) {
		const struct border *known = &call->borders.items[i];

		if (known->cond->arg == cond->arg && known->cond->mask == cond->mask &&
		    known->value == value)
			return;
	}
	*VEC_PUSH(call->prove->arena, &call->borders) =
	    (struct border){ .cond = cond, .value = value };
}

static void add_borders(struct call *call, const struct sbx_sys_stmt *stmt)
{
	const uint64_t *values = call->prove->blob.section[SBX_SEC_VALUES].records;

	for (uint32_t i = 0; i < stmt->cond_count; i++) {
		const struct sbx_sys_cond *cond =
		    SBX_AT(&call->prove->blob, SYS_CONDS, sbx_sys_cond, stmt->cond_first + i);
		const uint64_t lowest = cond->mask & -cond->mask;

		call->looked_at[cond->arg] = true;
		for (uint32_t n = 0; n < cond->value_count; n++) {
			const uint64_t value = values[cond->value_first + n];

			add_border(call, cond, value);
			add_border(call, cond, value - lowest);
			add_border(call, cond, value + lowest);
		}
	}
}

/* Arguments for which one statement or another decides: from these one at a time is changed. */
static void add_base(struct call *call, const struct sbx_sys_entry *entry)
{
	struct call_answer answer;
	struct base base;

	if (call_arguments(call->prove, entry, base.args, &answer))
		*VEC_PUSH(call->prove->arena, &call->bases) = base;
}

static bool read_call(struct call *call)
{
	struct prove *prove = call->prove;

	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, SYS_ENTRIES); i++) {
		const struct sbx_sys_entry *entry =
		    SBX_AT(&prove->blob, SYS_ENTRIES, sbx_sys_entry, i);
		const struct sbx_sys_stmt *stmt = statement(prove, entry->stmt);

		if (entry->nr[PROVE_ARCH] != call->nr[PROVE_ARCH] ||
		    (stmt->head.flags & SBX_F_SHARED && prove->target.backend != SBX_LANDLOCK))
			continue;
		add_borders(call, stmt);
		add_base(call, entry);
	}
	for (size_t i = 0; i < call->bases.count; i++)
		for (unsigned arg = 0; arg < 6; arg++)
			if (!call->looked_at[arg])
				call->bases.items[i].args[arg] =
				    call_nothing(call->nr[PROVE_ARCH], arg);
	return call->borders.count;
}

/* "socket domain=1": what was changed.  For a mask it is the whole argument. */
static const char *shown(const struct call *call, const struct border *border,
			 const uint64_t args[6])
{
	struct prove *prove = call->prove;

	return arena_printf(prove->arena, "%s %s=%#llx",
			    render_call(prove->arena, prove->given, call->nr),
			    sbx_string(&prove->blob, border->cond->name),
			    (unsigned long long)args[border->cond->arg]);
}

static void try(struct call *call, struct border *border, const struct base *base)
{
	const struct sbx_sys_cond *cond = border->cond;
	const uint32_t nr = call->nr[PROVE_ARCH];
	uint64_t args[6];
	uint32_t first, second;
	struct call_answer answer;
	struct claim *claim;
	bool through;

	for (unsigned i = 0; i < 6; i++)
		args[i] = base->args[i];
	args[cond->arg] = (args[cond->arg] & ~cond->mask) | border->value;
	if (cond->width == 4)
		args[cond->arg] = (uint32_t)args[cond->arg];
	answer = call_decide(call->prove, nr, args, &first, &second);
	through = answer.action == SBX_ACT_ALLOW;
	if (border->tried[through])
		return;
	border->tried[through] = true;
	claim = call_add(call->prove, SBX_SEC_SYS_STMTS, second == SBX_NONE ? first : second,
			 shown(call, border, args), nr, args, answer);
	claim->rule = render_rule_for_call(call->prove->arena, call->prove->given,
					   second == SBX_NONE ? first : second, call->nr);
}

static void add_call(struct prove *prove, const uint16_t nr[SBX_ARCH_COUNT])
{
	struct call call = { .prove = prove, .nr = nr };

	/* It would make processes, which have nothing to return to. */
	if (nr[PROVE_ARCH] == SYS_clone || !read_call(&call))
		return;
	for (size_t i = 0; i < call.borders.count; i++)
		for (size_t n = 0; n < call.bases.count; n++)
			try(&call, &call.borders.items[i], &call.bases.items[n]);
}

void claims_borders(struct prove *prove)
{
	/* Sorted by number on one architecture, so that a call's entries stand together there. */
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, SYS_ENTRIES); i++) {
		const struct sbx_sys_entry *entry =
		    SBX_AT(&prove->blob, SYS_ENTRIES, sbx_sys_entry, i);
		bool before = false;

		for (uint32_t n = 0; n < i && !before; n++)
			before =
			    SBX_AT(&prove->blob, SYS_ENTRIES, sbx_sys_entry, n)->nr[PROVE_ARCH] ==
			    entry->nr[PROVE_ARCH];
		if (!before && entry->nr[PROVE_ARCH] != SBX_SYS_ABSENT)
			add_call(prove, entry->nr);
	}
}
