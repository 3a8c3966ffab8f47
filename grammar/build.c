/*
 * The nodes.  What a modifier takes is one row of a table; the rest of a
 * statement means something only to the verb table (grammar/verbs.def), so
 * nothing else is checked here.
 */
#include "grammar/parse.h"

enum takes {
	TAKES_NOTHING,
	TAKES_TEXT,      /* "why" */
	TAKES_NAME,      /* own-code */
	TAKES_NAME_TEXT, /* L0412 "why" */
	TAKES_ONE,
	TAKES_SOME,
};

static const struct {
	enum takes takes;
	const char *needs; /* in words */
} rules[AST_MOD__END] = {
	[AST_MOD_OPTIONAL] = { TAKES_NOTHING, NULL },
	[AST_MOD_SNAPSHOT] = { TAKES_NOTHING, NULL },
	[AST_MOD_BEST_EFFORT] = { TAKES_NOTHING, NULL },
	[AST_MOD_OVERRIDE] = { TAKES_NOTHING, NULL },
	[AST_MOD_CREATE] = { TAKES_NOTHING, NULL },
	[AST_MOD_COMPAT] = { TAKES_TEXT, "a reason in quotes" },
	[AST_MOD_BECAUSE] = { TAKES_TEXT, "a reason in quotes" },
	[AST_MOD_SUMMARY] = { TAKES_TEXT, "a text in quotes" },
	[AST_MOD_WAIVE] = { TAKES_NAME_TEXT, "a finding and a reason in quotes" },
	[AST_MOD_GUARDS] = { TAKES_NAME,
			     "a line of the checklist: own-code, endpoint or host-exec" },
	[AST_MOD_WITHOUT] = { TAKES_NAME, "namespaces, network or tcp" },
	[AST_MOD_WITH] = { TAKES_NAME, "an answer such as EPERM, or `name = value` pairs" },
	[AST_MOD_PLACEHOLDER] = { TAKES_ONE, "dir, file or a text in quotes" },
	[AST_MOD_SIZE] = { TAKES_ONE, "a size such as 512M" },
	[AST_MOD_UNDER] = { TAKES_ONE, "a path" },
	[AST_MOD_FOR] = { TAKES_ONE, "a time such as 30m" },
	[AST_MOD_MAX] = { TAKES_ONE, "a value" },
	[AST_MOD_COUNT] = { TAKES_ONE, "a number" },
	[AST_MOD_IN] = { TAKES_SOME, "at least one value" },
	[AST_MOD_EXCEPT] = { TAKES_SOME, "at least one path" },
	[AST_MOD_AT] = { TAKES_SOME, "at least one address" },
	[AST_MOD_METHOD] = { TAKES_SOME, "at least one method such as GET" },
	[AST_MOD_PREFIX] = { TAKES_SOME, "at least one path" },
};

static struct span span_join(struct span a, struct span b)
{
	return (struct span){ a.source, a.start, b.end };
}

struct ast_bind *build_bind(struct parse *p, struct ast_word *name, struct ast_word *value)
{
	struct ast_bind *bind = ARENA_NEW(p->arena, struct ast_bind);

	bind->name = name;
	bind->value = value;
	return bind;
}

struct ast_cond *build_cond(struct parse *p, struct ast_word *name, struct ast_word *mask,
			    enum ast_cond_op op, struct words values)
{
	struct ast_cond *cond = ARENA_NEW(p->arena, struct ast_cond);

	cond->name = name;
	cond->mask = mask;
	cond->op = op;
	cond->values = values.first;
	cond->span = span_join(name->span, values.last->span);
	return cond;
}

/* The words of the right kinds that @takes asks for, from the first one on. */
static unsigned count_fitting(enum takes takes, const struct ast_word *word)
{
	switch (takes) {
	case TAKES_NOTHING:
		return 0;
	case TAKES_TEXT:
		return word && word->kind == AST_STRING;
	case TAKES_NAME:
		return word && word->kind == AST_NAME;
	case TAKES_NAME_TEXT:
		if (!word || word->kind != AST_NAME)
			return 0;
		return 1 + count_fitting(TAKES_TEXT, word->next);
	case TAKES_ONE:
	case TAKES_SOME:
		return word != NULL;
	}
	BUG("no such rule");
}

static void check_arguments(struct parse *p, struct reserved word, const struct ast_word *words)
{
	enum takes takes = rules[word.kind].takes;
	unsigned wanted = takes == TAKES_NOTHING ? 0 : takes == TAKES_NAME_TEXT ? 2 : 1;
	unsigned fitting = count_fitting(takes, words);
	bool text = takes == TAKES_TEXT || (takes == TAKES_NAME_TEXT && fitting == 1);

	for (unsigned i = 0; i < fitting; i++)
		words = words->next;
	if (fitting < wanted)
		parse_error(p, text ? DIAG_P0204 : DIAG_P0205, words ? words->span : word.span,
			    "`%s` needs %s", ast_mod_word(word.kind), rules[word.kind].needs);
	else if (words && takes != TAKES_SOME)
		parse_error(p, DIAG_P0207, words->span,
			    "`%s` takes %s: objects stand before the modifiers",
			    ast_mod_word(word.kind),
			    wanted == 0   ? "nothing"
			    : wanted == 1 ? "one word"
					  : "two words");
}

static struct ast_mod *new_mod(struct parse *p, struct reserved word)
{
	struct ast_mod *mod = ARENA_NEW(p->arena, struct ast_mod);

	mod->kind = word.kind;
	mod->span = word.span;
	return mod;
}

struct ast_mod *build_mod(struct parse *p, struct reserved word, struct words words)
{
	struct ast_mod *mod = new_mod(p, word);

	check_arguments(p, word, words.first);
	mod->words = words.first;
	if (words.last)
		mod->span.end = words.last->span.end;
	return mod;
}

struct ast_mod *build_with(struct parse *p, struct reserved word, struct binds binds)
{
	struct ast_mod *mod = new_mod(p, word);

	mod->binds = binds.first;
	mod->span.end = binds.last->value->span.end;
	return mod;
}

struct ast_mod *build_where(struct parse *p, struct reserved word, struct conds conds)
{
	struct ast_mod *mod = new_mod(p, word);

	mod->conds = conds.first;
	mod->span.end = conds.last->span.end;
	return mod;
}

struct mods build_add_mod(struct parse *p, struct mods mods, struct ast_mod *mod)
{
	for (const struct ast_mod *other = mods.first; other; other = other->next) {
		/* Each waives another finding. */
		if (other->kind != mod->kind || mod->kind == AST_MOD_WAIVE)
			continue;
		parse_error(p, DIAG_P0206, mod->span, "`%s` twice in one statement",
			    ast_mod_word(mod->kind));
		return mods;
	}
	LIST_ADD(mods, mod);
	return mods;
}

struct ast_stmt *build_stmt(struct parse *p, struct ast_word *verb, struct words items,
			    struct ast_word *value, struct mods mods)
{
	struct ast_stmt *stmt = ARENA_NEW(p->arena, struct ast_stmt);

	stmt->verb = verb;
	stmt->items = items.first;
	stmt->value = value;
	stmt->mods = mods.first;
	stmt->poisoned = p->poisoned;
	stmt->span = verb->span;
	if (items.last)
		stmt->span.end = items.last->span.end;
	if (value)
		stmt->span.end = value->span.end;
	if (mods.last)
		stmt->span.end = mods.last->span.end;
	return stmt;
}

struct stmts build_block(struct ast_stmt *stmt, struct stmts block)
{
	stmt->has_block = true;
	stmt->block = block.first;
	return LIST_ONE(stmts, stmt);
}

struct ast_stmt *build_poisoned(struct parse *p)
{
	struct ast_stmt *stmt = ARENA_NEW(p->arena, struct ast_stmt);

	stmt->verb = p->verb;
	stmt->poisoned = true;
	stmt->span = p->verb->span;
	return stmt;
}

struct stmts build_end(struct ast_stmt *stmt, struct stmts bad)
{
	if (!bad.first)
		return LIST_ONE(stmts, stmt);
	stmt->poisoned = true;
	stmt->block = bad.first->block;
	stmt->has_block = bad.first->has_block;
	stmt->next = bad.first->next;
	bad.last = stmt->next ? bad.last : stmt;
	bad.first = stmt;
	return bad;
}

struct stmts build_join(struct stmts a, struct stmts b)
{
	if (!a.first)
		return b;
	if (!b.first)
		return a;
	a.last->next = b.first;
	a.last = b.last;
	return a;
}
