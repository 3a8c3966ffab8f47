/*
 * Reading the tree: modifiers by kind, and the dump that the tests compare.
 *
 * A line of the dump is LINE:COLUMN+BYTES, the node's kind and its text; what
 * belongs to a node is indented below it.
 */
#include "grammar/ast.h"

static const char *const mod_words[] = {
#define MOD(id, word) [AST_MOD_##id] = (word),
#include "grammar/mods.def"
#undef MOD
};

static const char *const word_kinds[] = {
	[AST_NAME] = "name",     [AST_PATH] = "path",     [AST_GROUP] = "group",
	[AST_OPTION] = "option", [AST_STRING] = "string",
};

static const char *const cond_ops[] = {
	[AST_EQ] = "==", [AST_NE] = "!=", [AST_LT] = "<",  [AST_LE] = "<=",
	[AST_GT] = ">",  [AST_GE] = ">=", [AST_IN] = "in",
};

const struct ast_mod *ast_mod_find(const struct ast_stmt *stmt, enum ast_mod_kind kind)
{
	const struct ast_mod *mod = stmt->mods;

	while (mod && mod->kind != kind)
		mod = mod->next;
	return mod;
}

const char *ast_mod_word(enum ast_mod_kind kind)
{
	if (kind >= AST_MOD__END)
		BUG("no such modifier");
	return mod_words[kind];
}

struct printer {
	struct arena arena; /* of escaped texts */
	FILE *out;
};

static void print_place(struct printer *to, struct span span, int depth)
{
	struct line_column at = source_locate(span.source, span.start);

	fprintf(to->out, "%*s%u:%u+%u ", 2 * depth, "", at.line, at.column, span.end - span.start);
}

static void print_word(struct printer *to, const char *role, const struct ast_word *word, int depth)
{
	print_place(to, word->span, depth);
	fprintf(to->out, "%s%s %s\n", role, word_kinds[word->kind],
		diag_escape(&to->arena, word->text));
}

static void print_words(struct printer *to, const struct ast_word *word, int depth)
{
	for (; word; word = word->next)
		print_word(to, "", word, depth);
}

static void print_cond(struct printer *to, const struct ast_cond *cond, int depth)
{
	print_place(to, cond->span, depth);
	fprintf(to->out, "condition %s\n", cond_ops[cond->op]);
	print_word(to, "of ", cond->name, depth + 1);
	if (cond->mask)
		print_word(to, "mask ", cond->mask, depth + 1);
	print_words(to, cond->values, depth + 1);
}

static void print_mod(struct printer *to, const struct ast_mod *mod, int depth)
{
	print_place(to, mod->span, depth);
	fprintf(to->out, "modifier %s\n", ast_mod_word(mod->kind));
	print_words(to, mod->words, depth + 1);
	for (const struct ast_bind *bind = mod->binds; bind; bind = bind->next) {
		print_word(to, "bind ", bind->name, depth + 1);
		print_word(to, "to ", bind->value, depth + 2);
	}
	for (const struct ast_cond *cond = mod->conds; cond; cond = cond->next)
		print_cond(to, cond, depth + 1);
}

static void print_stmts(struct printer *to, const struct ast_stmt *stmt, int depth)
{
	for (; stmt; stmt = stmt->next) {
		print_place(to, stmt->span, depth);
		fprintf(to->out, "%s%s%s\n", diag_escape(&to->arena, stmt->verb->text),
			stmt->has_block ? " {}" : "", stmt->poisoned ? " (poisoned)" : "");
		print_words(to, stmt->items, depth + 1);
		if (stmt->value)
			print_word(to, "= ", stmt->value, depth + 1);
		for (const struct ast_mod *mod = stmt->mods; mod; mod = mod->next)
			print_mod(to, mod, depth + 1);
		print_stmts(to, stmt->block, depth + 1);
	}
}

void ast_print(const struct ast_file *file, FILE *out)
{
	struct printer to = { .out = out };

	print_stmts(&to, file->stmts, 0);
	arena_free(&to.arena);
}
