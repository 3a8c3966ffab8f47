/*
 * compiler/diff_calls.c - system calls, with arguments, for each architecture.
 *
 * A call of which both sides say the same is passed over.  For the others each
 * argument that a `where` looks at takes every value that some condition turns
 * on: the values written, their neighbours, and for masks each combination of
 * bits that conditions agree or disagree on.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/diff.h"
#include "compiler/render.h"
#include "compiler/text.h"

#define VALUES_MAX 256    /* of one argument */
#define TUPLES_MAX 300000 /* of one call */

static const char *const arch_names[SBX_ARCH_COUNT] = { "x86_64", "aarch64" };

struct entries {
	VEC_OF(struct sbx_sys_entry)
};
struct call {
	uint16_t nr[SBX_ARCH_COUNT];
	const char *name;
};
struct values {
	uint64_t items[VALUES_MAX];
	size_t count;
	bool wide; /* some condition looks at all 8 bytes */
};
struct calls {
	struct diff *diff;
	struct map known; /* pairs of numbers */
	struct {
		VEC_OF(struct call)
	} list;
	struct entries *by_number[DIFF_SIDES][SBX_ARCH_COUNT]; /* [SBX_SYS_ABSENT + 1] */
};
struct decision {
	unsigned action, error;
	uint32_t stmt;
};

static void add_call(struct calls *calls, const uint16_t nr[SBX_ARCH_COUNT], const char *name)
{
	const char *pair = arena_printf(calls->diff->arena, "%u %u", nr[0], nr[1]);
	void **slot = map_put(calls->diff->arena, &calls->known, str_from(pair));

	if (*slot)
		return;
	*slot = calls;
	*VEC_PUSH(calls->diff->arena, &calls->list) = (struct call){ { nr[0], nr[1] }, name };
}

static void read_side(struct calls *calls, unsigned side)
{
	struct arena *arena = calls->diff->arena;
	const struct sbx_blob *blob = calls->diff->side[side].blob;

	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++)
		calls->by_number[side][arch] =
		    arena_array(arena, SBX_SYS_ABSENT + 1, sizeof(struct entries));
	for (uint32_t i = 0; i < SBX_COUNT(blob, SYS_ENTRIES); i++) {
		const struct sbx_sys_entry *entry = SBX_AT(blob, SYS_ENTRIES, sbx_sys_entry, i);

		for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++)
			*VEC_PUSH(arena, &calls->by_number[side][arch][entry->nr[arch]]) = *entry;
		add_call(calls, entry->nr, render_call(arena, blob, entry->nr));
	}
}

/* A statement, as far as it decides. */
static void describe(struct text *text, const struct sbx_blob *blob,
		     const struct sbx_sys_stmt *stmt)
{
	const uint64_t *values = blob->section[SBX_SEC_VALUES].records;

	text_add(text, "%u %u %u", stmt->action, stmt->error, stmt->head.flags & SBX_F_SHARED);
	for (uint32_t i = 0; i < stmt->cond_count; i++) {
		const struct sbx_sys_cond *cond =
		    SBX_AT(blob, SYS_CONDS, sbx_sys_cond, stmt->cond_first + i);

		text_add(text, " %u %u %u %u %" PRIx64, cond->arg, cond->op, cond->width,
			 cond->is_signed, cond->mask);
		for (uint32_t v = 0; v < cond->value_count; v++)
			text_add(text, ",%" PRIx64, values[cond->value_first + v]);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All that @side says of a number, in an order of its own. */
static const char *all_of(const struct calls *calls, unsigned side, unsigned arch, uint16_t nr)
{
	const struct sbx_blob *blob = calls->diff->side[side].blob;
	const struct entries *entries = &calls->by_number[side][arch][nr];
	const char **lines = arena_array(calls->diff->arena, entries->count + 1, sizeof(*lines));
	struct text all = { .arena = calls->diff->arena };

	for (size_t i = 0; i < entries->count; i++) {
		struct text line = { .arena = calls->diff->arena };

		text_add(&line, "%u:", entries->items[i].rank);
		describe(&line, blob,
			 SBX_AT(blob, SYS_STMTS, sbx_sys_stmt, entries->items[i].stmt));
		lines[i] = text_end(&line);
	}
	qsort(lines, entries->count, sizeof(*lines), by_text);
	describe(&all, blob, SBX_AT(blob, SYS_STMTS, sbx_sys_stmt, sbx_meta(blob)->sys_default));
	for (size_t i = 0; i < entries->count; i++)
		text_add(&all, ";%s", lines[i]);
	return text_end(&all);
}

/* ---- arguments ---------------------------------------------------------------------- */

static void add_value(struct values *values, uint64_t value)
{
	for (size_t i = 0; i < values->count; i++)
		if (values->items[i] == value)
			return;
	if (values->count < VALUES_MAX)
		values->items[values->count++] = value;
}

/* What @cond turns on, with the bits that it does not look at as other values have them. */
static void add_condition(struct values *values, const struct sbx_blob *blob,
			  const struct sbx_sys_cond *cond)
{
	const uint64_t *written = blob->section[SBX_SEC_VALUES].records;
	uint64_t all = cond->width == 4 ? UINT32_MAX : UINT64_MAX, mask = cond->mask & all;
	uint64_t rest = (values->wide ? UINT64_MAX : UINT32_MAX) & ~mask;
	size_t count = values->count;

	for (uint32_t v = 0; v < cond->value_count; v++) {
		uint64_t value = written[cond->value_first + v] & all;
		uint64_t near[] = { value, value ^ (mask & -mask), value + 1, value - 1 };

		for (size_t n = 0; n < 4; n++)
			for (size_t i = 0; i < count; i++)
				add_value(values, (values->items[i] & rest) | (near[n] & mask));
	}
}

/* The ends of what the kernel reads. */
static void add_ends(struct values *values)
{
	static const uint64_t ends[] = { 0,          UINT32_MAX, INT32_MAX, 1u << 31,
					 1ull << 32, UINT64_MAX, INT64_MAX, 1ull << 63 };

	for (size_t i = 0; i < (values->wide ? 8u : 4u); i++)
		add_value(values, ends[i]);
}

static void visit(struct values values[6], const char *names[6], const struct sbx_blob *blob,
		  const struct sbx_sys_stmt *stmt, unsigned round)
{
	for (uint32_t i = 0; i < stmt->cond_count; i++) {
		const struct sbx_sys_cond *cond =
		    SBX_AT(blob, SYS_CONDS, sbx_sys_cond, stmt->cond_first + i);
		struct values *of = &values[cond->arg];

		if (cond->name != SBX_NONE)
			names[cond->arg] = sbx_string(blob, cond->name);
		of->wide |= cond->width == 8;
		if (round == 1)
			add_value(of, 0); /* the small ones first: they make the nicer witnesses */
		if (round == 2)
			add_ends(of);
		if (round)
			add_condition(of, blob, cond);
	}
}

/* First how wide arguments are, then twice their values, so that every condition meets
 * the values of every other. */
static void collect_values(const struct calls *calls, const struct call *call,
			   struct values values[6], const char *names[6])
{
	for (unsigned i = 0; i < 3 * DIFF_SIDES * SBX_ARCH_COUNT; i++) {
		unsigned round = i / (DIFF_SIDES * SBX_ARCH_COUNT);
		unsigned side = i / SBX_ARCH_COUNT % DIFF_SIDES, arch = i % SBX_ARCH_COUNT;
		const struct sbx_blob *blob = calls->diff->side[side].blob;
		const struct entries *entries = &calls->by_number[side][arch][call->nr[arch]];

		for (size_t n = 0; call->nr[arch] != SBX_SYS_ABSENT && n < entries->count; n++)
			visit(values, names, blob,
			      SBX_AT(blob, SYS_STMTS, sbx_sys_stmt, entries->items[n].stmt), round);
	}
}

/* ---- verdicts ----------------------------------------------------------------------- */

/* @alone: on a backend without namespaces, where the stricter of two programs decides. */
static struct decision decide(const struct calls *calls, unsigned side, enum sbx_arch arch,
			      uint16_t nr, const uint64_t args[6], bool alone)
{
	const struct entries *entries = &calls->by_number[side][arch][nr];
	struct sbx_blob part = *calls->diff->side[side].blob;
	struct sbx_sys_verdict first, second;

	part.section[SBX_SEC_SYS_ENTRIES].records = entries->items;
	part.section[SBX_SEC_SYS_ENTRIES].count = (uint32_t)entries->count;
	sbx_sys_decide(&part, arch, nr, args, &first);
	if (alone) {
		sbx_sys_decide_shared(&part, arch, nr, args, &second);
		if (second.stmt != SBX_NONE && second.action > first.action)
			first = second;
	}
	return (struct decision){ first.action, first.error, first.stmt };
}

static const char *answer_text(struct arena *arena, const struct decision *decision)
{
	struct sbx_sys_stmt stmt = { .action = (uint8_t)decision->action,
				     .error = (uint16_t)decision->error };

	if (decision->action == SBX_ACT_ALLOW)
		return "allowed";
	return decision->action == SBX_ACT_KILL ? "killed" : render_answer(arena, &stmt);
}

static bool differ(const struct diff *diff, const struct decision *was, const struct decision *is)
{
	if (diff->within)
		return was->action != SBX_ACT_ALLOW && is->action == SBX_ACT_ALLOW;
	return was->action != is->action || was->error != is->error;
}

static const char *witness_of(const struct calls *calls, const struct call *call,
			      const struct values values[6], const char *const names[6],
			      const uint64_t args[6])
{
	struct text text = { .arena = calls->diff->arena };

	text_add(&text, "call %s", call->name);
	for (unsigned i = 0; i < 6; i++) {
		if (!values[i].count)
			continue;
		if (names[i])
			text_add(&text, " %s=", names[i]);
		else
			text_add(&text, " arg%u=", i);
		text_add(&text, args[i] < 10 ? "%" PRIu64 : "%#" PRIx64, args[i]);
	}
	return text_end(&text);
}

/* The witness names a call; others that the same two statements decide are listed. */
static void also(struct diff *diff, struct diff_finding *finding, const char *name)
{
	size_t length = strlen(name);
	const char *first = finding->witness + strlen("call ");

	if (!strncmp(first, name, length) && (first[length] == ' ' || !first[length]))
		return;
	if (finding->also.count && !strcmp(finding->also.items[finding->also.count - 1], name))
		return;
	*VEC_PUSH(diff->arena, &finding->also) = name;
}

static void report(const struct calls *calls, const struct call *call, unsigned archs,
		   const struct decision side[DIFF_SIDES], const char *witness, bool alone)
{
	struct diff *diff = calls->diff;
	struct diff_says says[DIFF_SIDES];
	struct diff_finding *finding;
	unsigned present = 0;
	const char *on = "";

	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++)
		present |= (call->nr[arch] != SBX_SYS_ABSENT) << arch;
	if (archs != present)
		on = arch_names[archs == 1u << SBX_AARCH64];
	for (unsigned i = 0; i < DIFF_SIDES; i++)
		says[i] = diff_says(diff, i, answer_text(diff->arena, &side[i]), SBX_SEC_SYS_STMTS,
				    side[i].stmt, NULL);
	diff->when = *on ? arena_printf(diff->arena, "on %s", on) : NULL;
	if (alone)
		diff->when = arena_printf(diff->arena, "on a backend without namespaces%s%s",
					  *on ? ", " : "", diff->when ? diff->when : "");
	finding =
	    diff_add(diff, "syscalls",
		     side[0].action == side[1].action
			 ? DIFF_CHANGED
			 : diff_order(SBX_ACT_KILL - side[0].action, SBX_ACT_KILL - side[1].action),
		     arena_printf(diff->arena, "%s %d", on, alone), witness, says);
	diff->when = NULL;
	if (finding)
		also(diff, finding, call->name);
}

static void compare_tuple(const struct calls *calls, const struct call *call,
			  const struct values values[6], const char *const names[6],
			  const uint64_t args[6])
{
	for (unsigned alone = 0; alone < 2; alone++) {
		struct decision found[SBX_ARCH_COUNT][DIFF_SIDES];
		unsigned archs = 0;

		for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++) {
			for (unsigned side = 0; call->nr[arch] != SBX_SYS_ABSENT && side < 2;
			     side++)
				found[arch][side] = decide(calls, side, (enum sbx_arch)arch,
							   call->nr[arch], args, alone);
			if (call->nr[arch] != SBX_SYS_ABSENT &&
			    differ(calls->diff, &found[arch][0], &found[arch][1]))
				archs |= 1u << arch;
		}
		if (!archs)
			continue;
		if (archs == 3 && memcmp(found[0], found[1], sizeof(found[0]))) {
			report(calls, call, 1, found[0],
			       witness_of(calls, call, values, names, args), alone);
			archs = 2;
		}
		report(calls, call, archs, found[archs == 2],
		       witness_of(calls, call, values, names, args), alone);
		return;
	}
}

static void compare_call(const struct calls *calls, const struct call *call)
{
	struct values values[6] = { 0 };
	const char *names[6] = { 0 };
	uint64_t args[6] = { 0 };
	size_t at[6] = { 0 }, tuples = 0;
	bool same = true;
	unsigned i;

	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++)
		if (call->nr[arch] != SBX_SYS_ABSENT)
			same &= !strcmp(all_of(calls, DIFF_OLD, arch, call->nr[arch]),
					all_of(calls, DIFF_NEW, arch, call->nr[arch]));
	if (same)
		return;
	collect_values(calls, call, values, names);
	do {
		for (i = 0; i < 6; i++)
			args[i] = values[i].count ? values[i].items[at[i]] : 0;
		compare_tuple(calls, call, values, names, args);
		for (i = 0; i < 6 && ++at[i] >= values[i].count; i++)
			at[i] = 0;
		calls->diff->effort.spent |= ++tuples == TUPLES_MAX;
	} while (i < 6 && tuples < TUPLES_MAX);
}

void diff_calls(struct diff *diff)
{
	static const uint16_t unknown[SBX_ARCH_COUNT] = { 4094, 4094 };
	struct calls calls = { .diff = diff };
	const char *name;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		read_side(&calls, side);
	for (size_t i = 0; (name = emit_syscall_name_at(i)); i++) {
		uint16_t nr[SBX_ARCH_COUNT];

		if (emit_syscall_numbers(name, nr))
			add_call(&calls, nr, name);
	}
	add_call(&calls, unknown, "4094");
	for (size_t i = 0; i < calls.list.count; i++)
		compare_call(&calls, &calls.list.items[i]);
}
