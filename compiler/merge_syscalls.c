/*
 * System call rules of all files put together.
 *
 * An object is what a statement lists: a name or a group, with its `where`.
 * Objects are chained by their text for what stands twice or against each
 * other; the uses are chained by call for two errnos of one rank, which
 * nothing would decide between.
 */
#include "compiler/lower_calls.h"

struct entry {
	struct sys_stmt *stmt;
	struct str key;
	bool dead;
	struct entry *next; /* same key */
};
struct use { /* of one call, in a chain */
	const struct sys_stmt *stmt;
	enum sbx_sys_rank rank;
	struct use *next;
};

static const char *const verb_words[] = { "allow", "deny", "seal" };

static struct str word_of(const struct sys_stmt *stmt)
{
	struct span span = stmt->head.place.span;

	return (struct str){ span.source->text.ptr + span.start, span.end - span.start };
}

/* The word as written, the call (groups and {a,b} have several) and the condition. */
static struct str make_key(struct arena *arena, const struct sys_stmt *stmt)
{
	bool group = stmt->uses.count && stmt->uses.items[0].rank == SBX_RANK_GROUP;
	struct str name =
	    stmt->uses.count == 1 && !group ? stmt->uses.items[0].name : word_of(stmt);
	const char *key = arena_printf(arena, "%.*s", STR_ARG(name));

	if (group) /* of several groups in one word, @{a,b} */
		key = arena_printf(arena, "%s %.*s %zu", key, STR_ARG(stmt->uses.items[0].name),
				   stmt->uses.count);
	for (size_t i = 0; i < stmt->cond_count; i++) {
		const struct sys_cond *cond = &stmt->conds[i];

		key = arena_printf(arena, "%s %u %d %llx", key, cond->arg, cond->op,
				   (unsigned long long)cond->mask);
		for (size_t j = 0; j < cond->value_count; j++)
			key = arena_printf(arena, "%s,%llx", key,
					   (unsigned long long)cond->values[j]);
	}
	if (stmt->without) /* it contests with its like alone */
		key = arena_printf(arena, "%s without %d", key, stmt->without);
	return str_from(key);
}

static bool same_answer(const struct sys_stmt *a, const struct sys_stmt *b)
{
	return a->action == b->action && a->error == b->error;
}

static void compare(struct lower *lower, struct entry *first, struct entry *second)
{
	struct sys_stmt *a = first->stmt, *b = second->stmt;

	if (first->dead || second->dead)
		return;
	if (lower_same_place(&a->head, &b->head)) {
		second->dead = true;
	} else if (a->verb == b->verb &&
		   (same_answer(a, b) || lower_same_file(&a->head, &b->head))) {
		const char *what = arena_printf(lower->arena, "`%s %.*s`", verb_words[b->verb],
						STR_ARG(word_of(b)));
		second->dead = lower_merge_same(lower, &a->head, &b->head, what) == MERGE_DROP;
	} else if ((a->verb == SBX_SYS_ALLOW) != (b->verb == SBX_SYS_ALLOW) &&
		   lower_same_file(&a->head, &b->head)) {
		diag_error(lower->diags, DIAG_C0302, b->head.place.span,
			   "`%s` and `%s` of the same call in one file: %.*s", verb_words[a->verb],
			   verb_words[b->verb], STR_ARG(word_of(b)));
		diag_note(lower->diags, a->head.place.span, "the other one");
	}
}

static void lift(struct lower *lower, const struct entry *entry, struct entry *chain)
{
	bool lifted = false;

	for (struct entry *other = chain; other; other = other->next) {
		if (other->stmt->verb != SBX_SYS_DENY || lower_level(lower, &other->stmt->head) <=
							     lower_level(lower, &entry->stmt->head))
			continue;
		other->dead = lifted = true;
	}
	if (lifted)
		return;
	diag_error(lower->diags, DIAG_C0305, entry->stmt->head.place.span,
		   "this overrides nothing: no other file denies `%.*s` by that very name",
		   STR_ARG(word_of(entry->stmt)));
}

/* ---- effect ------------------------------------------------------------------------------ */

static struct use *uses_of(const struct map *calls, const struct sys_use *use)
{
	return map_get(calls, use->name);
}

/* The unconditional seal of every call that @stmt allows: the first one's. */
static const struct sys_stmt *find_seal(const struct map *calls, const struct sys_stmt *stmt)
{
	const struct sys_stmt *seal = NULL;

	for (size_t i = 0; i < stmt->uses.count; i++) {
		const struct sys_stmt *found = NULL;

		for (const struct use *use = uses_of(calls, &stmt->uses.items[i]); use;
		     use = use->next) {
			if (use->stmt->verb == SBX_SYS_SEAL && !use->stmt->cond_count)
				found = use->stmt;
		}
		if (!found)
			return NULL;
		seal = seal ? seal : found;
	}
	return seal;
}

static const struct sys_stmt *find_deny(const struct entry *entry, const struct entry *chain)
{
	for (; chain; chain = chain->next) {
		if (!chain->dead && chain->stmt->verb == SBX_SYS_DENY &&
		    !lower_same_file(&chain->stmt->head, &entry->stmt->head))
			return chain->stmt;
	}
	return NULL;
}

static void check_effect(struct lower *lower, const struct map *calls, const struct entry *entry,
			 const struct entry *chain)
{
	const struct sys_stmt *winner = find_seal(calls, entry->stmt);

	if (!winner)
		winner = find_deny(entry, chain);
	if (!winner || lower_level(lower, &winner->head) < lower_level(lower, &entry->stmt->head))
		return;
	diag_error(lower->diags, DIAG_C0303, entry->stmt->head.place.span,
		   "`allow %.*s` has no effect: `%s %.*s` wins", STR_ARG(word_of(entry->stmt)),
		   verb_words[winner->verb], STR_ARG(word_of(winner)));
	diag_note(lower->diags, winner->head.place.span, "here");
	if (winner->verb == SBX_SYS_DENY)
		diag_note(lower->diags, NO_PLACE, "to lift it: `override compat \"why\"`");
	else
		diag_note(lower->diags, NO_PLACE, "nothing overrides a seal");
}

/* ---- two errnos ----------------------------------------------------------------------------- */

static bool has_value(const struct sys_cond *cond, uint64_t value)
{
	for (size_t i = 0; i < cond->value_count; i++) {
		if (cond->values[i] == value)
			return true;
	}
	return false;
}

static bool exact(const struct sys_cond *cond)
{
	return cond->op == SBX_EQ || cond->op == SBX_IN;
}

/* Can no call satisfy both?  Only said where one argument is compared with values. */
static bool disjoint(const struct sys_stmt *a, const struct sys_stmt *b)
{
	for (size_t i = 0; i < a->cond_count; i++) {
		for (size_t j = 0; j < b->cond_count; j++) {
			const struct sys_cond *x = &a->conds[i], *y = &b->conds[j];
			bool common = false;

			if (x->arg != y->arg || x->mask != y->mask || !exact(x) || !exact(y))
				continue;
			for (size_t k = 0; k < x->value_count; k++)
				common |= has_value(y, x->values[k]);
			if (!common)
				return true;
		}
	}
	return false;
}

static bool killed(const struct use *uses, enum sbx_sys_rank rank)
{
	for (; uses; uses = uses->next) {
		if (uses->rank == rank && uses->stmt->action == SBX_ACT_KILL &&
		    !uses->stmt->cond_count)
			return true;
	}
	return false;
}

static bool two_errnos(const struct use *a, const struct use *b)
{
	return a->rank == b->rank && a->stmt->action == SBX_ACT_ERRNO &&
	       b->stmt->action == SBX_ACT_ERRNO && a->stmt->error != b->stmt->error &&
	       !disjoint(a->stmt, b->stmt);
}

static void check_errnos(struct lower *lower, struct str call, const struct use *chain)
{
	for (const struct use *use = chain; use; use = use->next) {
		for (const struct use *old = use->next; old; old = old->next) {
			if (!two_errnos(use, old) || killed(chain, use->rank))
				continue;
			diag_error(lower->diags, DIAG_C0408, use->stmt->head.place.span,
				   "`%.*s` is refused with two errors of equal weight",
				   STR_ARG(call));
			diag_note(lower->diags, old->stmt->head.place.span, "the other one");
			if (use->rank == SBX_RANK_GROUP)
				diag_note(lower->diags, NO_PLACE,
					  "a name weighs more than a group: `deny %.*s with "
					  "ERROR` settles it",
					  STR_ARG(call));
			lower_note_chain(lower, &use->stmt->head);
			return;
		}
	}
}

static void add_uses(struct lower *lower, struct map *calls, const struct sys_stmt *stmt)
{
	for (size_t i = 0; i < stmt->uses.count; i++) {
		void **slot = map_put(lower->arena, calls, stmt->uses.items[i].name);
		struct use *use = ARENA_NEW(lower->arena, struct use);

		*use = (struct use){ stmt, stmt->uses.items[i].rank, *slot };
		*slot = use;
	}
}

/* ---- all of it ---------------------------------------------------------------------------------
 */

static void chain_objects(struct lower *lower, struct entry *entries, struct map *objects)
{
	for (size_t i = 0; i < lower->policy->sys.count; i++) {
		struct entry *entry = &entries[i], *last = NULL;

		entry->stmt = &lower->policy->sys.items[i];
		entry->key = make_key(lower->arena, entry->stmt);
		void **slot = map_put(lower->arena, objects, entry->key);
		for (struct entry *other = *slot; other; last = other, other = other->next)
			compare(lower, other, entry);
		if (last)
			last->next = entry;
		else
			*slot = entry;
	}
}

static void compact(struct policy *policy, const struct entry *entries)
{
	size_t kept = 0;

	for (size_t i = 0; i < policy->sys.count; i++) {
		if (!entries[i].dead)
			policy->sys.items[kept++] = *entries[i].stmt;
	}
	policy->sys.count = kept;
}

void merge_syscalls(struct lower *lower)
{
	struct policy *policy = lower->policy;
	struct map objects = { 0 }, calls = { 0 }, shared = { 0 };
	struct entry *entries;
	size_t count;

	shared_drop_void(policy);
	count = policy->sys.count;
	entries = arena_array(lower->arena, count, sizeof(*entries));
	chain_objects(lower, entries, &objects);
	for (size_t i = 0; i < count; i++) {
		if (entries[i].stmt->head.flags & SBX_F_OVERRIDE && !entries[i].dead)
			lift(lower, &entries[i], map_get(&objects, entries[i].key));
	}
	for (size_t i = 0; i < count; i++) {
		if (!entries[i].dead)
			add_uses(lower, entries[i].stmt->without ? &shared : &calls,
				 entries[i].stmt);
	}
	for (size_t i = 0; i < calls.room; i++)
		check_errnos(lower, calls.slots[i].key, calls.slots[i].value);
	for (size_t i = 0; i < shared.room; i++)
		check_errnos(lower, shared.slots[i].key, shared.slots[i].value);
	for (size_t i = 0; i < count; i++) {
		if (!entries[i].dead && entries[i].stmt->verb == SBX_SYS_ALLOW &&
		    entries[i].stmt->head.main_file)
			check_effect(lower, &calls, &entries[i], map_get(&objects, entries[i].key));
	}
	compact(policy, entries);
	shared_drop_refused(policy);
}
