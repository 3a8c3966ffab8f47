/*
 * The env section, and what env rules of all files are together.
 *
 * Patterns stay as they are; who wins between a pattern and a name is for
 * blob/verdict.h.  Here only rules on the very same name meet.
 */
#include "compiler/lower.h"

static enum sbx_env_verb env_verb(const struct ast_stmt *stmt)
{
	if (str_is(stmt->verb->text, "pass"))
		return SBX_ENV_PASS;
	return str_is(stmt->verb->text, "deny") ? SBX_ENV_DENY : SBX_ENV_SEAL;
}

static void lower_set(struct lower *lower, const struct ast_stmt *stmt)
{
	struct env_rule rule = { .verb = SBX_ENV_SET };
	struct str_list names = { 0 };

	if (!lower_head(lower, stmt, stmt->items->span, &rule.head) ||
	    !words_env_names(&lower->words, stmt->items, &names) ||
	    !words_text(&lower->words, stmt->items->next, &rule.value))
		return;
	if (names.count != 1 || memchr(names.items[0].ptr, '*', names.items[0].len)) {
		diag_error(lower->diags, DIAG_C0217, stmt->items->span,
			   "`set` gives one variable a value");
		return;
	}
	rule.name = names.items[0];
	*VEC_PUSH(lower->arena, &lower->policy->env) = rule;
}

static void lower_names(struct lower *lower, const struct ast_stmt *stmt)
{
	struct env_rule rule = { .verb = env_verb(stmt) };

	if (!lower_head(lower, stmt, stmt->span, &rule.head))
		return;
	for (const struct ast_word *word = stmt->items; word; word = word->next) {
		struct str_list names = { 0 };

		if (!words_env_names(&lower->words, word, &names))
			return;
		rule.head.place.span = word->span;
		for (size_t i = 0; i < names.count; i++) {
			rule.name = names.items[i];
			if (rule.verb == SBX_ENV_PASS && str_is(rule.name, "*") &&
			    lower->policy->kind != SBX_SITE) {
				diag_error(lower->diags, DIAG_C0108, word->span,
					   "`pass *` stands in a site only: name what is passed");
				return;
			}
			*VEC_PUSH(lower->arena, &lower->policy->env) = rule;
		}
	}
}

void lower_env(struct lower *lower, const struct ast_stmt *block)
{
	for (const struct ast_stmt *stmt = block; stmt; stmt = stmt->next) {
		if (str_is(stmt->verb->text, "set"))
			lower_set(lower, stmt);
		else
			lower_names(lower, stmt);
	}
}

/* ---- merging ----------------------------------------------------------------------- */

struct entry {
	struct env_rule *rule;
	bool dead;
	struct entry *next; /* same name */
};

static const char *const verb_words[] = {
	[SBX_ENV_PASS] = "pass",
	[SBX_ENV_SET] = "set",
	[SBX_ENV_DENY] = "deny",
	[SBX_ENV_SEAL] = "seal",
};

static bool gives(const struct env_rule *rule)
{
	return rule->verb == SBX_ENV_PASS || rule->verb == SBX_ENV_SET;
}

static const char *describe(struct lower *lower, const struct env_rule *rule)
{
	return arena_printf(lower->arena, "`%s %.*s`", verb_words[rule->verb], STR_ARG(rule->name));
}

/* Two `set` of one name, or a `set` and a `pass`. */
static void choose_value(struct lower *lower, struct entry *first, struct entry *second)
{
	struct env_rule *a = first->rule, *b = second->rule;
	unsigned level_a = lower_level(lower, &a->head), level_b = lower_level(lower, &b->head);
	bool same = a->verb == b->verb &&
		    str_equal(tmpl_key(lower->arena, a->value), tmpl_key(lower->arena, b->value));

	if (lower_same_file(&a->head, &b->head)) {
		diag_error(lower->diags, DIAG_C0302, b->head.place.span,
			   "%s: its value is given twice", describe(lower, b));
		diag_note(lower->diags, a->head.place.span, "%s is the other one",
			  describe(lower, a));
	} else if (same) {
		second->dead = lower_merge_same(lower, &a->head, &b->head, "this") == MERGE_DROP;
	} else if (level_a != level_b) {
		(level_a < level_b ? second : first)->dead = true;
	} else if (a->verb != b->verb) { /* two modules: the value of one of them stands */
		(a->verb == SBX_ENV_SET ? second : first)->dead = true;
	}
}

static void compare(struct lower *lower, struct entry *first, struct entry *second)
{
	struct env_rule *a = first->rule, *b = second->rule;

	if (first->dead || second->dead)
		return;
	if (lower_same_place(&a->head, &b->head)) {
		second->dead = a->verb == b->verb;
	} else if (gives(a) && gives(b) && (a->verb == SBX_ENV_SET || b->verb == SBX_ENV_SET)) {
		choose_value(lower, first, second);
	} else if (a->verb == b->verb) {
		second->dead =
		    lower_merge_same(lower, &a->head, &b->head, describe(lower, b)) == MERGE_DROP;
	} else if (gives(a) != gives(b) && lower_same_file(&a->head, &b->head)) {
		diag_error(lower->diags, DIAG_C0302, b->head.place.span,
			   "`%s` and `%s` of the same name in one file: %.*s", verb_words[a->verb],
			   verb_words[b->verb], STR_ARG(b->name));
		diag_note(lower->diags, a->head.place.span, "the other one");
	}
}

/* Values that two modules give differently and no nearer file has settled. */
static void check_values(struct lower *lower, struct entry *first)
{
	for (; first; first = first->next) {
		if (first->dead || first->rule->verb != SBX_ENV_SET)
			continue;
		for (struct entry *second = first->next; second; second = second->next) {
			if (second->dead || second->rule->verb != SBX_ENV_SET ||
			    lower_same_file(&first->rule->head, &second->rule->head))
				continue;
			diag_error(lower->diags, DIAG_C0306, second->rule->head.place.span,
				   "two modules set `%.*s` differently",
				   STR_ARG(second->rule->name));
			diag_note(lower->diags, first->rule->head.place.span, "the other one");
			diag_note(lower->diags, NO_PLACE, "a `set` in the policy settles it");
			lower_note_chain(lower, &second->rule->head);
			return;
		}
	}
}

static bool star_match(struct str pattern, struct str name)
{
	while (pattern.len && pattern.ptr[0] != '*') {
		if (!name.len || name.ptr[0] != pattern.ptr[0])
			return false;
		pattern = (struct str){ pattern.ptr + 1, pattern.len - 1 };
		name = (struct str){ name.ptr + 1, name.len - 1 };
	}
	if (!pattern.len)
		return !name.len;
	pattern = (struct str){ pattern.ptr + 1, pattern.len - 1 };
	for (;; name = (struct str){ name.ptr + 1, name.len - 1 }) {
		if (star_match(pattern, name))
			return true;
		if (!name.len)
			return false;
	}
}

static const struct entry *find_seal(const struct entry *entries, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++) {
		if (entries[i].rule->verb == SBX_ENV_SEAL &&
		    star_match(entries[i].rule->name, name))
			return &entries[i];
	}
	return NULL;
}

static void lift(struct lower *lower, const struct entry *entry, struct entry *chain)
{
	bool lifted = false;

	for (struct entry *other = chain; other; other = other->next) {
		if (other->rule->verb != SBX_ENV_DENY || lower_level(lower, &other->rule->head) <=
							     lower_level(lower, &entry->rule->head))
			continue;
		other->dead = lifted = true;
	}
	if (lifted)
		return;
	diag_error(lower->diags, DIAG_C0305, entry->rule->head.place.span,
		   "this overrides nothing: no other file denies `%.*s` by that very name",
		   STR_ARG(entry->rule->name));
}

static void check_effect(struct lower *lower, const struct entry *entry, const struct entry *winner)
{
	struct diags *diags = lower->diags;

	if (!winner ||
	    lower_level(lower, &winner->rule->head) < lower_level(lower, &entry->rule->head))
		return;
	diag_error(diags, DIAG_C0303, entry->rule->head.place.span, "%s has no effect: %s wins",
		   describe(lower, entry->rule), describe(lower, winner->rule));
	diag_note(diags, winner->rule->head.place.span, "here");
	if (winner->rule->verb == SBX_ENV_DENY)
		diag_note(diags, NO_PLACE, "to lift it: `override compat \"why\"`");
	else
		diag_note(diags, NO_PLACE, "nothing overrides a seal");
}

static const struct entry *find_deny(const struct entry *entry, const struct entry *chain)
{
	for (; chain; chain = chain->next) {
		if (!chain->dead && chain->rule->verb == SBX_ENV_DENY &&
		    !lower_same_file(&chain->rule->head, &entry->rule->head))
			return chain;
	}
	return NULL;
}

static void compact(struct policy *policy, const struct entry *entries)
{
	size_t kept = 0;

	for (size_t i = 0; i < policy->env.count; i++) {
		if (!entries[i].dead)
			policy->env.items[kept++] = *entries[i].rule;
	}
	policy->env.count = kept;
}

void merge_env(struct lower *lower)
{
	struct policy *policy = lower->policy;
	size_t count = policy->env.count;
	struct entry *entries = arena_array(lower->arena, count, sizeof(*entries));
	struct map names = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct entry *last = NULL;

		entries[i].rule = &policy->env.items[i];
		void **slot = map_put(lower->arena, &names, entries[i].rule->name);
		for (struct entry *other = *slot; other; last = other, other = other->next)
			compare(lower, other, &entries[i]);
		if (last)
			last->next = &entries[i];
		else
			*slot = &entries[i];
	}
	for (size_t i = 0; i < count; i++) {
		if (entries[i].rule->head.flags & SBX_F_OVERRIDE && !entries[i].dead)
			lift(lower, &entries[i], map_get(&names, entries[i].rule->name));
	}
	for (size_t i = 0; i < count; i++) {
		struct entry *chain = map_get(&names, entries[i].rule->name);

		if (chain == &entries[i])
			check_values(lower, chain);
		if (entries[i].dead || !gives(entries[i].rule) || !entries[i].rule->head.main_file)
			continue;
		const struct entry *seal = find_seal(entries, count, entries[i].rule->name);
		check_effect(lower, &entries[i], seal ? seal : find_deny(&entries[i], chain));
	}
	compact(policy, entries);
}
