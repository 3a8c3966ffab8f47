/*
 * The slurm section.  `command` blocks declare the options that the clients
 * have; every other line may name only those, so a rule for an option that is
 * misspelled cannot pass as one that holds.
 *
 * In the model a rule speaks of one command and one option.  For a budget the
 * command is whose it is, the option what is counted and the value how much; show,
 * scope and jobs have their words as values.
 */
#include "compiler/lower.h"

enum { OP_NONE, OP_IN, OP_MAX };

static void add(struct lower *lower, const struct slurm_rule *rule)
{
	*VEC_PUSH(lower->arena, &lower->policy->slurm) = *rule;
}

static bool fail_option(struct lower *lower, struct span span, const char *what)
{
	diag_error(lower->diags, DIAG_C0803, span, "%s", what);
	return false;
}

/* ---- command NAME { option ... } --------------------------------------------------------- */

static bool lower_option(struct lower *lower, const struct ast_stmt *stmt, struct slurm_rule *rule)
{
	static const char *const kinds[] = { SBX_SLURM_KIND_WORDS, NULL };
	const struct ast_word *word = stmt->items;

	if (word->kind != AST_OPTION || !str_starts(word->text, "--") || word->text.len < 3)
		return fail_option(lower, word->span,
				   "an option is declared by its long name: --NAME");
	rule->option = word->text;
	word = word->next;
	if (word && word->kind == AST_OPTION) {
		if (word->text.len != 2)
			return fail_option(lower, word->span,
					   "a short name is a dash and one letter");
		rule->short_name = word->text;
		word = word->next;
	}
	if (!word)
		return fail_option(lower, stmt->span, "what does it take: flag, value, time, ...?");
	int kind = words_choice(&lower->words, word, "what an option takes", kinds);
	if (kind < 0)
		return false;
	rule->value_kind = (unsigned)kind;
	word = word->next;
	if (word && str_is(word->text, "no-script")) {
		rule->flags = SBX_SLURM_NO_SCRIPT;
		word = word->next;
	}
	if (!word)
		return true;
	if (!str_is(word->text, "env") || !word->next || word->next->next)
		return fail_option(lower, word->span,
				   "here stands nothing, `no-script` or `env NAME`");
	rule->env = word->next->text;
	return true;
}

static void lower_command(struct lower *lower, const struct ast_stmt *stmt)
{
	for (const struct ast_stmt *line = stmt->block; line; line = line->next) {
		struct slurm_rule rule = { .verb = SBX_SLURM_OPTION, .command = stmt->items->text };

		if (lower_head(lower, line, line->items->span, &rule.head) &&
		    lower_option(lower, line, &rule))
			add(lower, &rule);
	}
}

/* ---- COMMAND ... OPTION ... ---------------------------------------------------------------- */

static bool read_values(struct lower *lower, const struct ast_stmt *stmt, struct slurm_rule *rule)
{
	const struct ast_mod *in = ast_mod_find(stmt, AST_MOD_IN);
	const struct ast_mod *max = ast_mod_find(stmt, AST_MOD_MAX);
	struct tmpl_list values = { 0 };

	if (in && max)
		return fail_option(lower, max->span, "`in` and `max` do not go together");
	rule->op = in ? OP_IN : max ? OP_MAX : OP_NONE;
	for (const struct ast_word *word = in    ? in->words
					   : max ? max->words
						 : stmt->value;
	     word; word = word->next) {
		if (!words_texts(&lower->words, word, &values))
			return false;
	}
	rule->values = (struct tmpls){ values.items, values.count };
	return true;
}

static const struct ast_word *first_option(struct lower *lower, const struct ast_stmt *stmt)
{
	const struct ast_word *option = stmt->items;

	while (option && option->kind != AST_OPTION)
		option = option->next;
	for (const struct ast_word *word = option; word; word = word->next) {
		if (word->kind != AST_OPTION) {
			fail_option(
			    lower, word->span,
			    "commands come first, then options; a value stands after `in`, `max` "
			    "or `=`");
			return NULL;
		}
	}
	return option;
}

static void lower_rule(struct lower *lower, const struct ast_stmt *stmt, enum sbx_slurm_verb verb)
{
	struct slurm_rule rule = { .verb = verb };
	unsigned before = diag_errors(lower->diags);
	const struct ast_word *options = first_option(lower, stmt);
	bool needs_option = verb == SBX_SLURM_FORCE || verb == SBX_SLURM_ADD;

	if (diag_errors(lower->diags) != before ||
	    !lower_head(lower, stmt, stmt->span, &rule.head) || !read_values(lower, stmt, &rule))
		return;
	if (!options && (needs_option || rule.op != OP_NONE)) {
		fail_option(lower, stmt->span, "which option?");
		return;
	}
	if (stmt->items == options) {
		fail_option(lower, stmt->span, "which command?");
		return;
	}
	for (const struct ast_word *word = stmt->items; word != options; word = word->next) {
		rule.command = word->text;
		rule.option = (struct str){ 0 };
		rule.head.place.span = word->span;
		if (!options)
			add(lower, &rule);
		for (const struct ast_word *option = options; option; option = option->next) {
			rule.option = option->text;
			rule.head.place.span = option->span;
			add(lower, &rule);
		}
	}
}

/* ---- the rest -------------------------------------------------------------------------------- */

static bool lower_budget(struct lower *lower, const struct ast_stmt *stmt, struct slurm_rule *rule)
{
	static const char *const whose[] = { "session", "project", NULL };
	static const char *const what[] = { "jobs", "jobs-at-once", "cpu-hours", "gpu-hours",
					    NULL };
	const struct ast_mod *time = ast_mod_find(stmt, AST_MOD_FOR);
	const struct ast_word *word = stmt->items;
	struct tmpl *value = ARENA_NEW(lower->arena, struct tmpl);
	uint64_t number;

	if (word->next->next) {
		if (words_choice(&lower->words, word, "whose budget it is", whose) < 0)
			return false;
		rule->command = word->text;
		word = word->next;
	}
	rule->option = word->text;
	rule->values = (struct tmpls){ value, 1 };
	return words_choice(&lower->words, word, "what a budget counts", what) >= 0 &&
	       words_number(&lower->words, word->next, UINT32_MAX, &number) &&
	       words_text(&lower->words, word->next, value) &&
	       (!time || words_some_time(&lower->words, time->words, &rule->period_s));
}

static bool lower_words(struct lower *lower, const struct ast_word *word, struct slurm_rule *rule)
{
	struct tmpl_list values = { 0 };

	for (; word; word = word->next) {
		if (!words_texts(&lower->words, word, &values))
			return false;
	}
	rule->values = (struct tmpls){ values.items, values.count };
	return true;
}

static void lower_single(struct lower *lower, const struct ast_stmt *stmt, enum sbx_slurm_verb verb)
{
	static const char *const scopes[] = { "session", "project", "user", NULL };
	struct slurm_rule rule = { .verb = verb };
	bool good = lower_head(lower, stmt, stmt->items->span, &rule.head);

	if (verb == SBX_SLURM_BUDGET) {
		good = good && lower_budget(lower, stmt, &rule);
	} else if (verb == SBX_SLURM_SHOW) {
		rule.command = stmt->items->text;
		good = good && lower_words(lower, stmt->items->next, &rule);
	} else {
		good = good && lower_words(lower, stmt->items, &rule);
		if (good && verb == SBX_SLURM_SCOPE)
			good = words_choice(&lower->words, stmt->items, "the scope", scopes) >= 0;
	}
	if (good)
		add(lower, &rule);
}

void lower_slurm(struct lower *lower, const struct ast_stmt *block)
{
	static const struct {
		const char *word;
		enum sbx_slurm_verb verb;
		void (*lower)(struct lower *, const struct ast_stmt *, enum sbx_slurm_verb);
	} verbs_of[] = {
		{ "allow", SBX_SLURM_ALLOW, lower_rule },
		{ "deny", SBX_SLURM_DENY, lower_rule },
		{ "seal", SBX_SLURM_SEAL, lower_rule },
		{ "force", SBX_SLURM_FORCE, lower_rule },
		{ "add", SBX_SLURM_ADD, lower_rule },
		{ "scope", SBX_SLURM_SCOPE, lower_single },
		{ "budget", SBX_SLURM_BUDGET, lower_single },
		{ "show", SBX_SLURM_SHOW, lower_single },
		{ "jobs", SBX_SLURM_JOBS, lower_single },
	};

	for (const struct ast_stmt *stmt = block; stmt; stmt = stmt->next) {
		if (str_is(stmt->verb->text, "command"))
			lower_command(lower, stmt);
		for (size_t i = 0; i < sizeof(verbs_of) / sizeof(verbs_of[0]); i++) {
			if (str_is(stmt->verb->text, verbs_of[i].word))
				verbs_of[i].lower(lower, stmt, verbs_of[i].verb);
		}
	}
}
