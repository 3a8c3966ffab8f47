/*
 * grammar/ast.h - a policy file as written.
 *
 *	verb objects [= value] modifiers [{ block }]
 *
 * One statement form for the whole language; which verbs a section has and
 * what they take is in grammar/verbs.def.  Words keep the text as written
 * (quotes, escapes, braces, variables): compiler/words.c gives it meaning.
 */
#ifndef SBX_GRAMMAR_AST_H
#define SBX_GRAMMAR_AST_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/str.h"

enum ast_word_kind {
	AST_NAME,   /* any bare word that is none of the others */
	AST_PATH,   /* starts with / ~ or $ */
	AST_GROUP,  /* starts with @ */
	AST_OPTION, /* starts with - */
	AST_STRING, /* "quoted"; @text is without the quotes, still escaped */
};

struct ast_word {
	enum ast_word_kind kind;
	struct str text;
	struct span span; /* with the quotes */
	struct ast_word *next;
};

enum ast_cond_op { /* of a `where` */
	AST_EQ, AST_NE, AST_LT, AST_LE, AST_GT, AST_GE, AST_IN,
};

struct ast_cond {
	struct ast_word *name;   /* the argument */
	struct ast_word *mask;   /* `a & MASK == V`, else NULL */
	enum ast_cond_op op;
	struct ast_word *values; /* one, or a list for AST_IN */
	struct span span;
	struct ast_cond *next;   /* joined by `and` */
};

struct ast_bind { /* `with name = value` */
	struct ast_word *name, *value;
	struct ast_bind *next;
};

enum ast_mod_kind {
#define MOD(id, word) AST_MOD_##id,
#include "grammar/mods.def"
#undef MOD
	AST_MOD__END
};

struct ast_mod {
	enum ast_mod_kind kind;
	struct ast_word *words;  /* arguments, in order; NULL when none */
	struct ast_bind *binds;  /* AST_MOD_WITH name = value ... */
	struct ast_cond *conds;  /* AST_MOD_WHERE */
	struct span span;        /* the whole modifier */
	struct ast_mod *next;
};

struct ast_stmt {
	struct ast_word *verb;
	struct ast_word *items;  /* objects */
	struct ast_word *value;  /* after `=`, else NULL */
	struct ast_mod *mods;
	struct ast_stmt *block;  /* statements of { } */
	bool has_block;
	bool poisoned;           /* part of it failed to parse: be silent on it */
	struct span span;        /* verb to the last word before any { */
	struct ast_stmt *next;
};

struct ast_file {
	const struct source *source;
	struct ast_stmt *stmts;
};

/*
 * Parses @source.  All errors are queued in @diags; the tree is complete for
 * the statements that parsed.  Never returns NULL.
 */
struct ast_file *parse_file(struct arena *arena, struct diags *diags,
			    const struct source *source);

/* The modifier of that kind, or NULL. */
const struct ast_mod *ast_mod_find(const struct ast_stmt *stmt,
				   enum ast_mod_kind kind);
/* The word that names a modifier kind in the source ("best-effort"). */
const char *ast_mod_word(enum ast_mod_kind kind);
/* A text dump for tests, one node a line. */
void ast_print(const struct ast_file *file, FILE *out);

#endif
