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

/* Of a call: some bits of its arguments, or all, or none.  What depends on others PERHAPS holds. */
struct call {
	const uint64_t *known, *value;
};
enum holds { NEVER, PERHAPS, ALWAYS };

/* Is what is read of the argument equal to one of the values? */
static enum holds is_among(const struct sbx_blob *blob, const struct sbx_sys_cond *cond,
			   const struct call *call)
{
	uint64_t read = cond->width == 8 ? cond->mask : (uint32_t)cond->mask;
	uint64_t unknown = read & ~call->known[cond->arg];
	uint64_t a = widen(cond, call->value[cond->arg] & cond->mask);
	enum holds holds = NEVER;

	for (uint32_t i = 0; i < cond->value_count; i++) {
		uint64_t b = widen(cond, ((const uint64_t *)blob->section[SBX_SEC_VALUES]
					      .records)[cond->value_first + i]);

		if (!unknown && a == b)
			return ALWAYS;
		if (unknown && !((a ^ b) & read & ~unknown))
			holds = PERHAPS;
	}
	return holds;
}

static enum holds condition_holds(const struct sbx_blob *blob, const struct sbx_sys_cond *cond,
				  const struct call *call)
{
	uint64_t read = cond->width == 8 ? cond->mask : (uint32_t)cond->mask;
	uint64_t a = widen(cond, call->value[cond->arg] & cond->mask), b;
	bool holds = false;

	if (cond->op == SBX_EQ || cond->op == SBX_IN)
		return is_among(blob, cond, call);
	if (cond->op == SBX_NE)
		return (enum holds)(ALWAYS - is_among(blob, cond, call));
	if (read & ~call->known[cond->arg])
		return PERHAPS;
	b = widen(cond,
		  ((const uint64_t *)blob->section[SBX_SEC_VALUES].records)[cond->value_first]);
	switch ((enum sbx_cond_op)cond->op) {
	case SBX_LT:
		holds = less(cond, a, b);
		break;
	case SBX_LE:
		holds = !less(cond, b, a);
		break;
	case SBX_GT:
		holds = less(cond, b, a);
		break;
	default:
		holds = !less(cond, a, b);
		break;
	}
	return holds ? ALWAYS : NEVER;
}

static enum holds statement_holds(const struct sbx_blob *blob, const struct sbx_sys_stmt *stmt,
				  const struct call *call)
{
	enum holds all = ALWAYS;

	for (uint32_t i = 0; i < stmt->cond_count && all != NEVER; i++) {
		enum holds one = condition_holds(
		    blob, SBX_AT(blob, SYS_CONDS, sbx_sys_cond, stmt->cond_first + i), call);

		all = one < all ? one : all;
	}
	return all;
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

/* What else than the verdict may come of it, by the bits that are not known. */
struct other {
	bool depends, allowed;
};

/* @flag: SBX_F_SHARED, for the statements that have it, or 0. */
static struct other decide(const struct sbx_blob *blob, enum sbx_arch arch, uint32_t nr,
			   const struct call *call, unsigned flag, struct sbx_sys_verdict *out)
{
	uint32_t best_stmt = flag ? SBX_NONE : sbx_meta(blob)->sys_default;
	uint32_t count = SBX_COUNT(blob, SYS_ENTRIES);
	unsigned best = SBX_RANK_DEFAULT, conditional = 0, allowing = 0;
	const struct sbx_sys_stmt *stmt;

	for (uint32_t i = first_entry(blob, arch, nr); i < count; i++) {
		const struct sbx_sys_entry *entry = SBX_AT(blob, SYS_ENTRIES, sbx_sys_entry, i);
		enum holds holds;
		unsigned rank;

		if (arch == SBX_X86_64 && entry->nr[arch] != nr)
			break;
		if (entry->nr[arch] != nr || nr == SBX_SYS_ABSENT)
			continue;
		stmt = SBX_AT(blob, SYS_STMTS, sbx_sys_stmt, entry->stmt);
		if ((stmt->head.flags & SBX_F_SHARED) != flag)
			continue;
		rank = entry->rank * 4u + stmt->action;
		holds = statement_holds(blob, stmt, call);
		if (holds == PERHAPS) {
			conditional = rank > conditional ? rank : conditional;
			if (stmt->action == SBX_ACT_ALLOW && rank > allowing)
				allowing = rank;
		}
		if (holds == ALWAYS && (rank > best || (rank == best && entry->stmt < best_stmt))) {
			best = rank;
			best_stmt = entry->stmt;
		}
	}
	*out = (struct sbx_sys_verdict){ SBX_ACT_ALLOW, 0, best_stmt };
	if (best_stmt != SBX_NONE) {
		stmt = SBX_AT(blob, SYS_STMTS, sbx_sys_stmt, best_stmt);
		out->action = (enum sbx_sys_action)stmt->action;
		out->error = stmt->error;
	}
	return (struct other){ conditional > best,
			       out->action == SBX_ACT_ALLOW || allowing > best };
}

static const uint64_t all[6] = { ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull }, none[6];

void sbx_sys_decide(const struct sbx_blob *blob, enum sbx_arch arch, uint32_t nr,
		    const uint64_t args[6], struct sbx_sys_verdict *out)
{
	/* The x32 ABI reaches the same calls under other numbers: killed, but for
	 * -1, which a tracer sets to skip a call and no call has. */
	if (arch == SBX_X86_64 && nr >= SBX_X32_BIT && nr != UINT32_MAX) {
		*out = (struct sbx_sys_verdict){ SBX_ACT_KILL, 0, SBX_NONE };
		return;
	}
	decide(blob, arch, nr, &(struct call){ all, args }, 0, out);
}

void sbx_sys_decide_shared(const struct sbx_blob *blob, enum sbx_arch arch, uint32_t nr,
			   const uint64_t args[6], struct sbx_sys_verdict *out)
{
	decide(blob, arch, nr, &(struct call){ args ? all : none, args ? args : none },
	       SBX_F_SHARED, out);
}

void sbx_sys_decide_name(const struct sbx_blob *blob, enum sbx_arch arch, uint32_t nr,
			 struct sbx_sys_verdict *out, bool *depends)
{
	*depends = decide(blob, arch, nr, &(struct call){ none, none }, 0, out).depends;
}

bool sbx_sys_refuses(const struct sbx_blob *blob, enum sbx_arch arch, uint32_t nr,
		     const uint64_t known[6], const uint64_t value[6])
{
	const struct call call = { known, value };
	struct sbx_sys_verdict verdict;

	return !decide(blob, arch, nr, &call, 0, &verdict).allowed ||
	       !decide(blob, arch, nr, &call, SBX_F_SHARED, &verdict).allowed;
}
