/*
 * emit/calls.c - what is to happen for each system call of one architecture.
 *
 * For each number the statements that speak of it are put into the order in
 * which they decide: rank, then kill before errno before allow, then the order
 * they are written in (blob/sys_verdict.c does the same).  What stands behind
 * the first one without a condition can never be reached; a last condition
 * that gives the same answer as what follows it is dropped too.
 */
#include "emit/calls.h"

#include <stdlib.h>

#include "blob/bpf.h"
#include "emit/order.h"

static int compare_uses(const void *left, const void *right)
{
	const struct sys_use *a = left, *b = right;

	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++)
		if (a->nr[arch] != b->nr[arch])
			return a->nr[arch] < b->nr[arch] ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* The calls as a set: the order a group lists them in must not show. */
static void key_uses(struct order_key *key, const struct sys_stmt *stmt)
{
	struct sys_use *uses = arena_array(key->arena, stmt->uses.count, sizeof(*uses));

	for (size_t i = 0; i < stmt->uses.count; i++)
		uses[i] = stmt->uses.items[i];
	qsort(uses, stmt->uses.count, sizeof(*uses), compare_uses);
	for (size_t i = 0; i < stmt->uses.count; i++) {
		for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++)
			key_number(key, uses[i].nr[arch]);
		key_number(key, uses[i].rank);
	}
}

static void make_key(struct order_key *key, const void *item)
{
	const struct sys_stmt *stmt = item;

	key_number(key, stmt->verb);
	key_number(key, stmt->action);
	key_number(key, stmt->error);
	key_number(key, stmt->cond_count);
	for (size_t i = 0; i < stmt->cond_count; i++) {
		const struct sys_cond *cond = &stmt->conds[i];

		key_number(key, cond->arg);
		key_str(key, cond->name);
		key_number(key, cond->width);
		key_number(key, cond->is_signed);
		key_number(key, cond->op);
		key_number(key, cond->mask);
		key_number(key, cond->value_count);
		for (size_t n = 0; n < cond->value_count; n++)
			key_number(key, cond->values[n]);
	}
	key_uses(key, stmt);
	key_head(key, &stmt->head);
}

const size_t *calls_order(struct arena *arena, const struct policy *policy)
{
	return order_items(arena, policy->sys.items, policy->sys.count, sizeof(struct sys_stmt),
			   make_key);
}

struct mention { /* a statement speaks of a call */
	uint32_t nr;
	const struct sys_use *use;
	const struct sys_stmt *stmt;
	size_t number; /* of the statement */
};

static int compare_mentions(const void *left, const void *right)
{
	const struct mention *a = left, *b = right;

	if (a->nr != b->nr)
		return a->nr < b->nr ? -1 : 1;
	if (a->use->rank != b->use->rank)
		return a->use->rank > b->use->rank ? -1 : 1;
	if (a->stmt->action != b->stmt->action)
		return a->stmt->action > b->stmt->action ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

uint32_t calls_answer(const struct sys_stmt *stmt)
{
	switch (stmt->action) {
	case SBX_ACT_ALLOW:
		return SBX_RET_ALLOW;
	case SBX_ACT_ERRNO:
		return SBX_RET_ERRNO | stmt->error;
	case SBX_ACT_KILL:
		return SBX_RET_KILL_PROCESS;
	}
	BUG("no such action");
}

static struct call plan_one(struct arena *arena, const struct mention *mentions, size_t count,
			    const struct sys_stmt *default_stmt)
{
	const struct sys_stmt **tries = arena_array(arena, count + 1, sizeof(*tries));
	const struct sys_stmt *last = default_stmt;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (!mentions[i].stmt->cond_count) {
			last = mentions[i].stmt;
			break;
		}
		tries[n++] = mentions[i].stmt;
	}
	while (n && calls_answer(tries[n - 1]) == calls_answer(last))
		n--;
	tries[n++] = last;
	return (struct call){ mentions->nr, mentions->use->name, tries, n };
}

const struct call *calls_plan(struct arena *arena, const struct policy *policy,
			      const struct sys_stmt *default_stmt, unsigned flag,
			      enum sbx_arch arch, size_t *count)
{
	const size_t *order = calls_order(arena, policy);
	struct {
		VEC_OF(struct mention)
	} mentions = { 0 };
	struct {
		VEC_OF(struct call)
	} calls = { 0 };
	size_t end;

	for (size_t i = 0; i < policy->sys.count; i++) {
		const struct sys_stmt *stmt = &policy->sys.items[order[i]];

		if ((stmt->head.flags & SBX_F_SHARED) != flag)
			continue;
		for (size_t n = 0; n < stmt->uses.count; n++)
			if (stmt->uses.items[n].nr[arch] != SBX_SYS_ABSENT)
				*VEC_PUSH(arena, &mentions) =
				    (struct mention){ stmt->uses.items[n].nr[arch],
						      &stmt->uses.items[n], stmt, i };
	}
	if (mentions.count)
		qsort(mentions.items, mentions.count, sizeof(struct mention), compare_mentions);
	for (size_t start = 0; start < mentions.count; start = end) {
		for (end = start;
		     end < mentions.count && mentions.items[end].nr == mentions.items[start].nr;)
			end++;
		*VEC_PUSH(arena, &calls) =
		    plan_one(arena, &mentions.items[start], end - start, default_stmt);
	}
	*count = calls.count;
	return calls.items;
}
