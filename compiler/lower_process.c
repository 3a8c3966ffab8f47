/*
 * The sections process, limits and require: a fixed set of words, each with a
 * value.  A limit and the terminal are one-valued: the extending file's
 * stands.  Requirements add up, and the stronger counts.
 */
#include <stdio.h>

#include "compiler/lower.h"

/* ---- process -------------------------------------------------------------------------- */

static bool lower_allow(struct lower *lower, const struct ast_stmt *stmt)
{
	static const char *const words[] = { "user-namespaces", NULL };

	return words_choice(&lower->words, stmt->items, "what may be allowed here", words) == 0;
}

static bool lower_terminal(struct lower *lower, const struct ast_stmt *stmt,
			   struct process_rule *rule)
{
	static const char *const words[] = { "pty", "none", NULL };
	int which = words_choice(&lower->words, stmt->items, "the terminal", words);

	rule->what = which == 1 ? SBX_PROCESS_TERMINAL_NONE : SBX_PROCESS_TERMINAL;
	return which >= 0;
}

static bool lower_pass(struct lower *lower, const struct ast_stmt *stmt, struct process_rule *rule)
{
	static const char *const words[] = { "fd", NULL };
	uint64_t number;

	if (words_choice(&lower->words, stmt->items, "what may be passed", words) < 0 ||
	    !words_number(&lower->words, stmt->items->next, 1023, &number))
		return false;
	if (number < 3) {
		diag_error(lower->diags, DIAG_C0216, stmt->items->next->span,
			   "0, 1 and 2 are always passed: descriptors from 3 on are named here");
		return false;
	}
	rule->what = SBX_PROCESS_PASS_FD;
	rule->value = (uint32_t)number;
	return true;
}

/* One rule a word. */
static void lower_share(struct lower *lower, const struct ast_stmt *stmt, struct process_rule *rule)
{
	static const char *const words[] = { "processes", "signals", "terminals", "attributes",
					     NULL };

	for (const struct ast_word *word = stmt->items; word; word = word->next) {
		int which = words_choice(&lower->words, word, "what may be shared", words);

		if (which < 0)
			return;
		rule->what = (enum sbx_process)(SBX_PROCESS_SHARE_PROCESSES + which);
		rule->head.place.span = word->span;
		*VEC_PUSH(lower->arena, &lower->policy->process) = *rule;
	}
}

void lower_process(struct lower *lower, const struct ast_stmt *block)
{
	for (const struct ast_stmt *stmt = block; stmt; stmt = stmt->next) {
		struct process_rule rule = { .what = SBX_PROCESS_USERNS };
		bool good = lower_head(lower, stmt, stmt->span, &rule.head);

		if (good && str_is(stmt->verb->text, "share")) {
			lower_share(lower, stmt, &rule);
			continue;
		}
		if (str_is(stmt->verb->text, "allow"))
			good = good && lower_allow(lower, stmt);
		else if (str_is(stmt->verb->text, "terminal"))
			good = good && lower_terminal(lower, stmt, &rule);
		else
			good = good && lower_pass(lower, stmt, &rule);
		if (good)
			*VEC_PUSH(lower->arena, &lower->policy->process) = rule;
	}
}

static bool is_terminal(const struct process_rule *rule)
{
	return rule->what == SBX_PROCESS_TERMINAL || rule->what == SBX_PROCESS_TERMINAL_NONE;
}

/* The rule before @index that says the same, or the other thing of the terminal. */
static struct process_rule *find_process(struct policy *policy, size_t kept,
					 const struct process_rule *rule)
{
	for (size_t i = 0; i < kept; i++) {
		struct process_rule *other = &policy->process.items[i];

		if ((other->what == rule->what && other->value == rule->value) ||
		    (is_terminal(other) && is_terminal(rule)))
			return other;
	}
	return NULL;
}

void merge_process(struct lower *lower)
{
	struct policy *policy = lower->policy;
	size_t kept = 0;

	for (size_t i = 0; i < policy->process.count; i++) {
		struct process_rule rule = policy->process.items[i];
		struct process_rule *same = find_process(policy, kept, &rule);

		if (!same) {
			policy->process.items[kept++] = rule;
		} else if (same->what == rule.what) {
			lower_merge_same(lower, &same->head, &rule.head, "this");
		} else if (lower_level(lower, &same->head) == lower_level(lower, &rule.head)) {
			diag_error(lower->diags, DIAG_C0306, rule.head.place.span,
				   "two modules say different things of the terminal");
			diag_note(lower->diags, same->head.place.span, "the other one");
		}
	}
	policy->process.count = kept;
}

/* ---- limits ---------------------------------------------------------------------------- */

enum unit_of { COUNT, BYTES, SECONDS };
static const struct {
	const char *word;
	enum sbx_limit limit;
	enum unit_of unit;
	bool zero; /* 0 makes sense */
} limits[] = {
	{ "memory", SBX_LIMIT_MEMORY, BYTES, false },
	{ "processes", SBX_LIMIT_PROCESSES, COUNT, false },
	{ "cpus", SBX_LIMIT_CPUS, COUNT, false },
	{ "cpu-time", SBX_LIMIT_CPU_TIME, SECONDS, false },
	{ "open-files", SBX_LIMIT_OPEN_FILES, COUNT, false },
	{ "file-size", SBX_LIMIT_FILE_SIZE, BYTES, true },
	{ "core-size", SBX_LIMIT_CORE_SIZE, BYTES, true },
	{ "wall-time", SBX_LIMIT_WALL_TIME, SECONDS, false },
};

static bool read_limit(struct lower *lower, const struct ast_word *word, enum unit_of unit,
		       uint64_t *value)
{
	uint32_t seconds;

	switch (unit) {
	case COUNT:
		return words_number(&lower->words, word, UINT32_MAX, value);
	case BYTES:
		return words_size(&lower->words, word, value);
	case SECONDS:
		if (!words_time(&lower->words, word, &seconds))
			return false;
		*value = seconds;
		return true;
	}
	BUG("no such unit");
}

static void lower_limit(struct lower *lower, const struct ast_stmt *stmt)
{
	struct limit_rule rule = { 0 };
	size_t i = 0;

	while (!str_is(stmt->verb->text, limits[i].word))
		i++; /* the table has every verb of the section */
	rule.limit = limits[i].limit;
	if (!lower_head(lower, stmt, stmt->span, &rule.head) ||
	    !read_limit(lower, stmt->items, limits[i].unit, &rule.value))
		return;
	if (!rule.value && !limits[i].zero) {
		diag_error(lower->diags, DIAG_C0216, stmt->items->span,
			   "with a limit of 0 nothing could run");
		return;
	}
	*VEC_PUSH(lower->arena, &lower->policy->limits) = rule;
}

void lower_limits(struct lower *lower, const struct ast_stmt *block)
{
	for (const struct ast_stmt *stmt = block; stmt; stmt = stmt->next)
		lower_limit(lower, stmt);
}

/* Units come with the main file first, so the first of each limit stands. */
void merge_limits(struct lower *lower)
{
	struct policy *policy = lower->policy;
	bool said[SBX_LIMIT_COUNT] = { false };
	size_t kept = 0;

	for (size_t i = 0; i < policy->limits.count; i++) {
		const struct limit_rule rule = policy->limits.items[i];

		if (!said[rule.limit])
			policy->limits.items[kept++] = rule;
		said[rule.limit] = true;
	}
	policy->limits.count = kept;
}

/* ---- require --------------------------------------------------------------------------- */

static bool read_kernel(struct lower *lower, const struct ast_word *word, uint32_t *out)
{
	unsigned major, minor;
	int end = 0;
	struct str text;

	if (!words_plain(&lower->words, word, &text))
		return false;
	const char *version = str_cstr(lower->arena, text);
	if (sscanf(version, "%3u.%3u%n", &major, &minor, &end) != 2 || version[end]) {
		diag_error(lower->diags, DIAG_C0213, word->span,
			   "a kernel is MAJOR.MINOR, as in 5.13");
		return false;
	}
	*out = major << 16 | minor;
	return true;
}

static bool read_words(struct lower *lower, const struct ast_word *word, const char *what,
		       const char *const *choices, struct tmpls *out)
{
	struct tmpl_list list = { 0 };

	for (; word; word = word->next) {
		if (words_choice(&lower->words, word, what, choices) < 0 ||
		    !words_text(&lower->words, word, VEC_PUSH(lower->arena, &list)))
			return false;
	}
	*out = (struct tmpls){ list.items, list.count };
	return true;
}

static bool lower_requirement(struct lower *lower, const struct ast_stmt *stmt,
			      struct require_rule *rule)
{
	static const char *const backends[] = { "native", "bwrap", "firejail", "landlock", NULL };
	static const char *const holders[] = { "cgroup", NULL };
	uint64_t number;

	if (str_is(stmt->verb->text, "landlock")) {
		rule->what = SBX_REQUIRE_LANDLOCK;
		if (!words_number(&lower->words, stmt->items, 100, &number))
			return false;
		rule->value = (uint32_t)number;
		return true;
	}
	if (str_is(stmt->verb->text, "kernel")) {
		rule->what = SBX_REQUIRE_KERNEL;
		return read_kernel(lower, stmt->items, &rule->value);
	}
	if (str_is(stmt->verb->text, "backend")) {
		rule->what = SBX_REQUIRE_BACKEND;
		return read_words(lower, stmt->items, "a backend", backends, &rule->words);
	}
	if (str_is(stmt->verb->text, "limits")) {
		rule->what = SBX_REQUIRE_LIMITS;
		return read_words(lower, stmt->items, "what limits are held by", holders,
				  &rule->words);
	}
	if (str_is(stmt->verb->text, "proof")) {
		rule->what = SBX_REQUIRE_PROOF;
		return words_some_time(&lower->words, stmt->items, &rule->value);
	}
	rule->what = SBX_REQUIRE_SIGNED;
	return true;
}

void lower_require(struct lower *lower, const struct ast_stmt *block)
{
	for (const struct ast_stmt *stmt = block; stmt; stmt = stmt->next) {
		struct require_rule rule = { 0 };

		if (lower_head(lower, stmt, stmt->span, &rule.head) &&
		    lower_requirement(lower, stmt, &rule))
			*VEC_PUSH(lower->arena, &lower->policy->require) = rule;
	}
}

/* Only backends that both name are left. */
static void intersect(struct lower *lower, struct require_rule *rule,
		      const struct require_rule *other)
{
	struct tmpl_list both = { 0 };

	for (size_t i = 0; i < rule->words.count; i++) {
		for (size_t j = 0; j < other->words.count; j++) {
			if (str_equal(tmpl_key(lower->arena, rule->words.items[i]),
				      tmpl_key(lower->arena, other->words.items[j])))
				*VEC_PUSH(lower->arena, &both) = rule->words.items[i];
		}
	}
	if (!both.count) {
		diag_error(lower->diags, DIAG_C0306, rule->head.place.span,
			   "no backend is left that satisfies both");
		diag_note(lower->diags, other->head.place.span, "the other one");
	}
	rule->words = (struct tmpls){ both.items, both.count };
}

/* The stronger of two; its place comes first. */
static void add_requirement(struct lower *lower, struct require_rule *rule,
			    const struct require_rule *other)
{
	bool shorter = rule->what == SBX_REQUIRE_PROOF;
	bool stronger = shorter ? other->value < rule->value : other->value > rule->value;

	if (rule->what == SBX_REQUIRE_BACKEND)
		intersect(lower, rule, other);
	if (stronger)
		*rule = *other;
	else if (other->value == rule->value && !lower_same_place(&rule->head, &other->head))
		lower_add_places(lower, &rule->head, &other->head);
}

void merge_require(struct lower *lower)
{
	struct policy *policy = lower->policy;
	size_t kept = 0;

	for (size_t i = 0; i < policy->require.count; i++) {
		const struct require_rule rule = policy->require.items[i];
		size_t same = 0;

		while (same < kept && policy->require.items[same].what != rule.what)
			same++;
		if (same < kept)
			add_requirement(lower, &policy->require.items[same], &rule);
		else
			policy->require.items[kept++] = rule;
	}
	policy->require.count = kept;
}
