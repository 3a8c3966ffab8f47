/*
 * blob/sys_verdict.c - what the seccomp filter answers.
 *
 * The highest rank decides: a seal, a `where` that holds, a name, a group, the
 * default; within a rank kill beats errno beats allow.  emit/seccomp.c builds
 * the program from the same order; tests/bpf runs the two against each other
 * for every number.
 */
#include "blob/bpf.h"
#include "blob/verdict.h"

/* The argument as the kernel reads it, sign-extended where it is signed. */
static uint64_t widen(const struct sbx_sys_cond *cond, uint64_t value)
{
	if (cond->width == 8)
		return value;
	return cond->is_signed ? (uint64_t)(int64_t)(int32_t)(uint32_t)value : (uint32_t)value;
}

static bool less(const struct sbx_sys_cond *cond, uint64_t a, uint64_t b)
{
	return cond->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static bool condition_holds(const struct sbx_blob *blob, const struct sbx_sys_cond *cond,
			    const uint64_t args[6])
{
	uint64_t a = widen(cond, args[cond->arg] & cond->mask);

	for (uint32_t i = 0; i < cond->value_count; i++) {
		uint64_t value = ((const uint64_t *)blob->section[SBX_SEC_VALUES]
				      .records)[cond->value_first + i];
		uint64_t b = widen(cond, value);

		switch ((enum sbx_cond_op)cond->op) {
		case SBX_EQ:
		case SBX_IN:
			if (a == b)
				return true;
			break;
		case SBX_NE:
			return a != b;
		case SBX_LT:
			return less(cond, a, b);
		case SBX_LE:
			return !less(cond, b, a);
		case SBX_GT:
			return less(cond, b, a);
		case SBX_GE:
			return !less(cond, a, b);
		}
	}
	return false;
}

static bool statement_holds(const struct sbx_blob *blob, const struct sbx_sys_stmt *stmt,
			    const uint64_t args[6])
{
	for (uint32_t i = 0; i < stmt->cond_count; i++)
		if (!condition_holds(
			blob, SBX_AT(blob, SYS_CONDS, sbx_sys_cond, stmt->cond_first + i), args))
			return false;
	return true;
}

/* Entries are sorted by the x86-64 number only; the other table is scanned. */
static uint32_t first_entry(const struct sbx_blob *blob, enum sbx_arch arch, uint32_t nr)
{
	uint32_t low = 0, high = SBX_COUNT(blob, SYS_ENTRIES);

	while (arch == SBX_X86_64 && low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (SBX_AT(blob, SYS_ENTRIES, sbx_sys_entry, middle)->nr[arch] < nr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* @flag: SBX_F_SHARED, for the statements that have it, or 0. */
static void decide(const struct sbx_blob *blob, enum sbx_arch arch, uint32_t nr,
		   const uint64_t *args, unsigned flag, struct sbx_sys_verdict *out, bool *depends)
{
	uint32_t best_stmt = flag ? SBX_NONE : sbx_meta(blob)->sys_default;
	uint32_t count = SBX_COUNT(blob, SYS_ENTRIES);
	unsigned best = SBX_RANK_DEFAULT, conditional = 0;
	const struct sbx_sys_stmt *stmt;

	for (uint32_t i = first_entry(blob, arch, nr); i < count; i++) {
		const struct sbx_sys_entry *entry = SBX_AT(blob, SYS_ENTRIES, sbx_sys_entry, i);
		unsigned rank;

		if (arch == SBX_X86_64 && entry->nr[arch] != nr)
			break;
		if (entry->nr[arch] != nr || nr == SBX_SYS_ABSENT)
			continue;
		stmt = SBX_AT(blob, SYS_STMTS, sbx_sys_stmt, entry->stmt);
		if ((stmt->head.flags & SBX_F_SHARED) != flag)
			continue;
		rank = entry->rank * 4u + stmt->action;
		if (!args && stmt->cond_count) {
			conditional = rank > conditional ? rank : conditional;
			continue;
		}
		if (args && !statement_holds(blob, stmt, args))
			continue;
		if (rank > best || (rank == best && entry->stmt < best_stmt)) {
			best = rank;
			best_stmt = entry->stmt;
		}
	}
	*depends = conditional > best;
	*out = (struct sbx_sys_verdict){ SBX_ACT_ALLOW, 0, best_stmt };
	if (best_stmt == SBX_NONE)
		return;
	stmt = SBX_AT(blob, SYS_STMTS, sbx_sys_stmt, best_stmt);
	out->action = (enum sbx_sys_action)stmt->action;
	out->error = stmt->error;
}

void sbx_sys_decide(const struct sbx_blob *blob, enum sbx_arch arch, uint32_t nr,
		    const uint64_t args[6], struct sbx_sys_verdict *out)
{
	bool depends;

	/* The x32 ABI reaches the same calls under other numbers: killed, but for
	 * -1, which a tracer sets to skip a call and no call has. */
	if (arch == SBX_X86_64 && nr >= SBX_X32_BIT && nr != UINT32_MAX) {
		*out = (struct sbx_sys_verdict){ SBX_ACT_KILL, 0, SBX_NONE };
		return;
	}
	decide(blob, arch, nr, args, 0, out, &depends);
}

void sbx_sys_decide_shared(const struct sbx_blob *blob, enum sbx_arch arch, uint32_t nr,
			   const uint64_t args[6], struct sbx_sys_verdict *out)
{
	bool depends;

	decide(blob, arch, nr, args, SBX_F_SHARED, out, &depends);
}

void sbx_sys_decide_name(const struct sbx_blob *blob, enum sbx_arch arch, uint32_t nr,
			 struct sbx_sys_verdict *out, bool *depends)
{
	decide(blob, arch, nr, NULL, 0, out, depends);
}
